import { inspect, toRubyArguments, toRubyKeywords, type LiteralOptions, type RubyValue } from "../marshal";
import {
  StorageError,
  decodeContext,
  extraTexts,
  type DeadTask,
  type DeadTaskRecord,
  type TaskContext,
} from "../storage";
import { isClassName } from "../ruby/textFilter";
import { contextMask } from "./contextReader";
import { Mask } from "./masking";
import type { ContextText, DetailOptions, TaskDetail } from "./protocol";
import { summaryOf } from "./storeHost";

// Characters. More than this is shown cut: a pane is for reading, the raw record for the rest.
const longestText = 200_000;
// Bytes of a context. A call with more would be several times as long, and nobody types it into a console.
const largestCall = 200_000;

/** A task as the detail pane shows it: everything decoded, as text, secrets masked unless they are to be revealed. */
export function detailOf(task: DeadTaskRecord & Pick<DeadTask, "id">, options: DetailOptions): TaskDetail {
  const { context, contextError, masked } = describeContext(task, options);
  const mask = new Mask(options);
  const extra = extraTexts(task.extra, mask.asOption);
  return {
    ...summaryOf(task.id, task),
    fullMessage: task.exceptionMessage,
    backtrace: task.backtrace,
    context,
    contextError,
    masked: masked || mask.used,
    extra,
  };
}

function describeContext(
  task: DeadTaskRecord,
  options: DetailOptions,
): Pick<TaskDetail, "context" | "contextError" | "masked"> {
  let context: TaskContext;
  try {
    context = decodeContext(task.context);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return { context: null, contextError: error.message, masked: false };
  }
  const mask = contextMask(context, options);
  const text = contextText(context, task.context.length, mask);
  return { context: text, contextError: null, masked: mask.used };
}

function contextText(context: TaskContext, size: number, mask: Mask): ContextText {
  const text = (value: RubyValue): string => inspect(value, { maxLength: longestText, isMasked: mask.asOption });
  return {
    args: text(context.args),
    kwargs: text(context.kwargs),
    logTags: text(context.logTags),
    logContext: text(context.logContext),
    userContext: text(context.userContext),
    ...callTexts(context, size, { isMasked: mask.asOption }),
  };
}

/** The call that enqueues the task anew, as a developer would write it: `SendWelcomeEmail.enqueue("a@b.c", locale: :en)`. */
function callTexts(
  context: TaskContext,
  size: number,
  options: LiteralOptions,
): Pick<ContextText, "enqueueCall" | "call"> {
  if (size > largestCall) return { enqueueCall: tooLargeCall(context, size), call: null };
  const { taskClass } = context;
  const text = callArguments(context, options);
  return {
    enqueueCall: `${taskClass}.enqueue(${text})`,
    call: isClassName(taskClass) ? { taskClass, arguments: text } : null,
  };
}

function callArguments({ args, kwargs }: TaskContext, options: LiteralOptions): string {
  const parts: string[] = [];
  if (args.type === "array" && args.elements.length > 0) parts.push(toRubyArguments(args, options));
  if (kwargs.type === "hash" && kwargs.entries.length > 0) parts.push(toRubyKeywords(kwargs, options));
  return parts.join(", ");
}

/** A comment, so that pasting it does nothing. */
function tooLargeCall({ taskClass }: TaskContext, size: number): string {
  return `# ${taskClass.replaceAll("\n", " ")}.enqueue: the context of ${size} bytes is too large to be written as a call; retry the task instead.`;
}
