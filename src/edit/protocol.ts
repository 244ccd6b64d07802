import type { SourceRange } from "../ruby/protocol";
import type { RetryOutcome, UndoRequest } from "../service/protocol";

/**
 * A dead task as Ruby text to be edited, and the way back. The storage worker writes the text (`editableTask`), the thread that
 * reads Ruby reads it back (`readEditedTask`), and the storage worker compares and replays what was read (`checkEdit`,
 * `retryEdited`). Ruby never runs.
 */

/** A text as Ruby holds it: one character for each byte, of these encodings. */
export interface EditedBytes {
  readonly bytes: string;
  readonly encoding: "UTF-8" | "US-ASCII" | "ASCII-8BIT";
}

/** A value that has a literal, or the name of a placeholder. Plain data, which JSON can carry. */
export type EditedValue =
  | { readonly kind: "nil" }
  | { readonly kind: "boolean"; readonly value: boolean }
  /** In decimal, whatever its size. */
  | { readonly kind: "integer"; readonly digits: string }
  /** As JavaScript's `String` writes it, `-0` for negative zero, `NaN`, `Infinity` and `-Infinity` for those. */
  | { readonly kind: "float"; readonly digits: string }
  | ({ readonly kind: "string" } & EditedBytes)
  | ({ readonly kind: "symbol" } & EditedBytes)
  | { readonly kind: "array"; readonly elements: readonly EditedValue[] }
  | { readonly kind: "hash"; readonly entries: readonly EditedEntry[] }
  | {
      readonly kind: "range";
      readonly begin: EditedValue;
      readonly end: EditedValue;
      readonly excludesEnd: boolean;
    }
  | { readonly kind: "placeholder"; readonly name: string };

export type EditedEntry = readonly [key: EditedValue, value: EditedValue];

/** `TaskClass.enqueue(args…, kwargs…)`. */
export interface EditedCall {
  readonly taskClass: string;
  readonly args: readonly EditedValue[];
  readonly kwargs: readonly EditedEntry[];
}

/** A name in the text that stands for a value as it is in the store. It can be moved, removed, and used more than once. */
export interface Placeholder {
  /** A local variable's in Ruby: `order_1`. */
  readonly name: string;
  /** The value on one line, masked and cut to be short. Characters that would hide themselves are visible. */
  readonly description: string;
  /** `secret`: it stood under a masked name. `value`: it has no literal, is too long to edit, or is there more than once. */
  readonly kind: "value" | "secret";
}

export interface EditableTask {
  readonly kind: "task";
  readonly id: string;
  /** Identifies the line that was read, wherever it stands in the file, and the masked names it was read with. */
  readonly version: string;
  /** The class whose `enqueue` the text calls. */
  readonly taskClass: string;
  /** Ruby: comments, then one call. Lines end in `\n`. */
  readonly text: string;
  /** In the order in which the text uses them. */
  readonly placeholders: readonly Placeholder[];
}

export type EditableReply =
  | EditableTask
  | { readonly kind: "gone" }
  /** `reason`: a sentence for a user, why this task cannot be edited. */
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Two calls as text to be compared, and kept: one argument a line, then a comment for each placeholder that is used. Masked: a
 * literal under a masked name stands as `[FILTERED, changed]`.
 */
export interface EditTexts {
  readonly before: string;
  readonly after: string;
}

export type EditCheck =
  | ({ readonly kind: "changed" } & EditTexts)
  | { readonly kind: "unchanged" }
  | { readonly kind: "gone" }
  /** The task has died anew since it was opened, or other names are masked now: it has to be opened again. */
  | { readonly kind: "changedMeanwhile" }
  /** `reason`: a sentence for a user, what of the edit cannot be kept. */
  | { readonly kind: "refused"; readonly reason: string };

/** What an edited retry did. */
export interface EditedRetryOutcome extends RetryOutcome {
  /** Null where nothing was enqueued. */
  readonly texts: EditTexts | null;
}

/** What a task was made into. */
export interface TaskEdit {
  /** Of the task that was opened. */
  readonly version: string;
  /** As `readEditedTask` gave it. */
  readonly call: EditedCall;
  /** As they were when it was opened; where they are not, the version tells. */
  readonly maskedNames: readonly string[];
}

/** What the storage worker answers. */
export interface EditRequests {
  editableTask(key: string, id: string, maskedNames: readonly string[]): EditableReply;
  /** Writes nothing. */
  checkEdit(key: string, id: string, edit: TaskEdit): EditCheck;
  /**
   * Replays a task with other arguments, as `retry` does it, and undoable in the same way: the dead task that comes back then is
   * the one before the edit. A task that has changed meanwhile, or an edit that cannot be kept, is among `failed`, and nothing
   * is written. Without a change it is a plain retry. `publishAt`: Unix seconds, null for at once.
   */
  retryEdited(
    key: string,
    id: string,
    edit: TaskEdit,
    publishAt: number | null,
    undo?: UndoRequest,
  ): EditedRetryOutcome;
}

/** What keeps a text from being saved, at its place. */
export interface EditProblem {
  /** A sentence for a user. */
  readonly message: string;
  readonly range: SourceRange;
}

/** Where the text uses a placeholder. */
export interface PlaceholderUse {
  readonly name: string;
  readonly range: SourceRange;
}

export interface ReadEdit {
  /** Null where there are problems. */
  readonly call: EditedCall | null;
  /** In the order of the text. Empty where the call is to be used. */
  readonly problems: readonly EditProblem[];
  /** As far as the text could be read. */
  readonly uses: readonly PlaceholderUse[];
}

/** What the thread that reads Ruby answers. */
export interface EditReadingRequests {
  /** Reads an edited text back. `taskClass` and the names of the placeholders: as `editableTask` gave them. */
  readEditedTask(text: string, taskClass: string, placeholders: readonly string[]): ReadEdit;
}
