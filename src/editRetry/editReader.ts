import { Position, Range, type TextDocument } from "vscode";
import type { EditCheck, EditedCall, ReadEdit } from "../edit/protocol";
import type { RubyReader } from "../ruby/reader";
import type { SourceRange } from "../ruby/protocol";
import type { StoreService } from "../service/storeService";
import { maskedNames } from "../settings";
import type { Edit, Edits } from "./edits";
import { taskOfUri } from "./editUris";

/** A document's text as read. */
export interface DocumentReading {
  readonly edit: Edit;
  readonly read: ReadEdit;
}

/** Reads the documents in which tasks are edited. All of it rejects with what is to be told to the user. */
export class EditReader {
  readonly #edits: Edits;
  readonly #ruby: Pick<RubyReader, "readEditedTask">;
  readonly #service: Pick<StoreService, "checkEdit">;
  /** What was read last of each document. */
  readonly #readings = new WeakMap<
    TextDocument,
    { readonly version: number; readonly task: Edit["task"]; readonly read: Promise<ReadEdit> }
  >();

  constructor(edits: Edits, ruby: Pick<RubyReader, "readEditedTask">, service: Pick<StoreService, "checkEdit">) {
    this.#edits = edits;
    this.#ruby = ruby;
    this.#service = service;
  }

  /** Null for a document in which no task is edited. */
  async read(document: TextDocument): Promise<DocumentReading | null> {
    const address = taskOfUri(document.uri);
    if (address === null) return null;
    const edit = await this.#edits.of(address);
    const { task } = edit;
    const { version } = document;
    const known = this.#readings.get(document);
    if (known?.version === version && known.task === task) return { edit, read: await known.read };
    const read = this.readText(task, document.getText());
    this.#readings.set(document, { version, task, read });
    return { edit, read: await read };
  }

  readText({ taskClass, placeholders }: Edit["task"], text: string): Promise<ReadEdit> {
    const names = placeholders.map(({ name }) => name);
    return this.#ruby.readEditedTask(text, taskClass, names);
  }

  check({ storeKey, id, task }: Edit, call: EditedCall): Promise<EditCheck> {
    return this.#service.checkEdit(storeKey, id, { version: task.version, call, maskedNames: maskedNames() });
  }
}

export function rangeOf({ start, end }: SourceRange): Range {
  return new Range(start.line, start.character, end.line, end.character);
}

/** The first line that is no comment and not empty. */
export function callLine(document: TextDocument): number {
  for (let line = 0; line < document.lineCount; line++) {
    if (!/^\s*(#|$)/.test(document.lineAt(line).text)) return line;
  }
  return 0;
}

/** Where the first argument of a call begins that stands on lines of its own; else the end of the call's first line. */
export function firstArgument(document: TextDocument): Position {
  const call = document.lineAt(callLine(document));
  if (!call.text.endsWith("(") || call.lineNumber + 1 === document.lineCount) return call.range.end;
  return new Position(call.lineNumber + 1, document.lineAt(call.lineNumber + 1).firstNonWhitespaceCharacterIndex);
}
