import { isDeepStrictEqual } from "node:util";
import { crc32 } from "node:zlib";
import type { RubyArray, RubyValue } from "../marshal";
import { Mask } from "../service/masking";
import {
  StorageError,
  contextOf,
  contextWithArguments,
  readContext,
  type DeadTask,
  type EditedContext,
  type UnreadableTask,
} from "../storage";
import { counted, oneLine, shownId } from "../text/labels";
import { visibleText } from "../text/visible";
import { EditError, ValueBuilder } from "./build";
import { callOf, referencesWithin, type CallToEdit } from "./callOf";
import { limits } from "./limits";
import { isPlainContainer } from "./literals";
import type { IsMasked } from "./placeholders";
import { comparableText, editableText } from "./print";
import type { EditCheck, EditTexts, EditableReply, EditedCall, TaskEdit } from "./protocol";

/** What a store has for an id. */
type Found = DeadTask | UnreadableTask | null;

/** An edit that can be enqueued. */
export interface ReadyEdit {
  readonly kind: "ready";
  readonly edited: EditedContext;
  readonly texts: EditTexts;
  /** False where the call is the one that was opened: then the context is, too. */
  readonly isChange: boolean;
}

export type PreparedEdit = ReadyEdit | { readonly kind: "gone" } | { readonly kind: "failed"; readonly error: string };

const changedMeanwhile =
  "It has died anew since it was opened for editing, or other names are masked now. Nothing was written; open it again to edit what it is now.";

export function editableTask(found: Found, maskedNames: readonly string[]): EditableReply {
  if (found === null) return { kind: "gone" };
  return orRefused((): EditableReply => {
    const { call, placeholders } = opened(found, maskMatching(maskedNames)).original;
    return {
      kind: "task",
      id: found.id,
      version: versionOf(found, maskedNames),
      taskClass: call.taskClass,
      text: editableText(call, `The arguments of ${call.taskClass}, dead task ${idLine(found.id)}.`, placeholders),
      placeholders,
    };
  });
}

export function checkEdit(found: Found, { version, call, maskedNames }: TaskEdit): EditCheck {
  if (found === null) return { kind: "gone" };
  if (versionOf(found, maskedNames) !== version) return { kind: "changedMeanwhile" };
  return orRefused((): EditCheck => {
    const isMasked = maskMatching(maskedNames);
    const task = opened(found, isMasked);
    if (isDeepStrictEqual(task.original.call, call)) return { kind: "unchanged" };
    contextOfEdit(task, call);
    return { kind: "changed", ...textsOf(task.original, call, isMasked) };
  });
}

/** Makes what `retryEdited` enqueues. */
export function prepareEdit(found: Found, { version, call, maskedNames }: TaskEdit): PreparedEdit {
  if (found === null) return { kind: "gone" };
  if (found.kind === "unreadable" || versionOf(found, maskedNames) !== version) {
    return { kind: "failed", error: changedMeanwhile };
  }
  const prepared = orRefused((): PreparedEdit => {
    const isMasked = maskMatching(maskedNames);
    const task = opened(found, isMasked);
    const isChange = !isDeepStrictEqual(task.original.call, call);
    const context = isChange ? contextOfEdit(task, call) : found.context;
    const { checksum } = found;
    return { kind: "ready", edited: { checksum, context }, texts: textsOf(task.original, call, isMasked), isChange };
  });
  return prepared.kind === "refused" ? { kind: "failed", error: prepared.reason } : prepared;
}

/** A task's context as a call. */
interface OpenedTask {
  readonly root: RubyArray;
  readonly args: RubyValue;
  readonly kwargs: RubyValue;
  readonly original: CallToEdit;
}

function opened(found: DeadTask | UnreadableTask, isMasked: IsMasked): OpenedTask {
  if (found.kind === "unreadable") refuse(`Its record cannot be read (${found.reason}), so it can only be deleted.`);
  const root = readContext(found.context);
  const { taskClass, args, kwargs } = contextOf(root);
  if (!isConstantName(taskClass)) {
    refuse(`Its class, ${oneLine(taskClass, 100)}, has no name that Ruby source could call it by.`);
  }
  const references = referencesWithin(root);
  const isOwn = (value: RubyValue): boolean => isPlainContainer(value) && references.get(value) === 1;
  const isList = args.type === "nil" || isOwn(args);
  if (references.get(root) !== 1 || !isList || !(kwargs.type === "nil" || isOwn(kwargs))) {
    refuse("Its arguments refer to themselves, or are more than an array and a hash, which a call cannot say.");
  }
  const [list, keywords] = [args.type === "array" ? args : null, kwargs.type === "hash" ? kwargs : null];
  const count = (list?.elements.length ?? 0) + (keywords?.entries.length ?? 0);
  if (count > limits.entries) {
    refuse(`It has ${counted(count, "argument")}, and no more than ${limits.entries} can be edited.`);
  }
  return { root, args, kwargs, original: callOf(taskClass, list, keywords, references, isMasked) };
}

/** What was not changed stays the very value that it was. Nil stays nil where nothing was put in its place. */
function contextOfEdit({ root, args, kwargs, original }: OpenedTask, call: EditedCall): Uint8Array {
  if (call.taskClass !== original.call.taskClass) refuse("The class of a task cannot be changed.");
  const builder = new ValueBuilder(original.values);
  const isSameArgs = isDeepStrictEqual(call.args, original.call.args);
  const isSameKwargs = isDeepStrictEqual(call.kwargs, original.call.kwargs);
  return contextWithArguments(
    root,
    isSameArgs ? args : builder.array(call.args),
    isSameKwargs ? kwargs : builder.hash(call.kwargs),
  );
}

function textsOf(original: CallToEdit, call: EditedCall, isMasked: IsMasked): EditTexts {
  return {
    before: comparableText(original.call, original.placeholders, isMasked),
    after: comparableText(call, original.placeholders, isMasked),
  };
}

/** An id in a comment: nothing of it may begin another line. */
function idLine(id: string): string {
  return visibleText(oneLine(shownId(id), 100));
}

/** Names that Ruby source can write: `Billing::SyncInvoice`. */
function isConstantName(name: string): boolean {
  return /^\p{Lu}[\p{L}\p{M}\p{N}_]*(?:::\p{Lu}[\p{L}\p{M}\p{N}_]*)*$/u.test(name);
}

function versionOf(found: DeadTask | UnreadableTask, maskedNames: readonly string[]): string {
  const line = found.kind === "task" ? found.checksum : "unreadable";
  return `${line}-${crc32(JSON.stringify(maskedNames))}`;
}

function maskMatching(maskedNames: readonly string[]): IsMasked {
  const mask = new Mask({ reveal: false, maskedNames });
  return (name) => mask.isSecret(name);
}

function refuse(reason: string): never {
  throw new EditError(reason);
}

/** The answer, or why there is none. */
function orRefused<Answer>(answer: () => Answer): Answer | { readonly kind: "refused"; readonly reason: string } {
  try {
    return answer();
  } catch (error) {
    const isReason = error instanceof EditError || (error instanceof StorageError && error.code === "not-retryable");
    if (isReason) return { kind: "refused", reason: error.message };
    throw error;
  }
}
