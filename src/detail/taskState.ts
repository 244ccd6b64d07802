import type { ContextText, RecordDetail, TaskDetail } from "../service/protocol";
import { counted, exceptionName, formatCount, shownId } from "../text/labels";
import { absoluteTime } from "../text/times";
import type { Frame } from "../code/frames";
import type {
  BareState,
  ContextField,
  CopyableField,
  DetailState,
  Fact,
  FrameView,
  Notice,
  PaneReference,
} from "./protocol";

/** What the pane knows beside the record itself. */
export interface PaneSurroundings {
  readonly reference: PaneReference;
  readonly storeName: string | null;
  readonly present: boolean;
  /** Why the record cannot be changed although it is there; null where it can. */
  readonly unchangeable: string | null;
  readonly notice: Notice | null;
  /** How the task's code has changed since, for a user; null where it has not, or nobody knows. */
  readonly changed?: string | null;
  /** Why a retry would surely fail, for a user; null where nothing tells that. */
  readonly doubt?: string | null;
  /** What came of a run of this task in its application, for a user. */
  readonly ran?: string | null;
  readonly revealed: boolean;
}

/** A frame, the file that it opens (null where none is known), its short form, and why there is no file. */
export interface ResolvedFrame {
  readonly frame: Frame;
  readonly file: string | null;
  readonly place: string;
  readonly missing: string | null;
}

/** Every string of the pane, made of a record. */
export function detailState(
  detail: Exclude<RecordDetail, { kind: "gone" }>,
  frames: readonly ResolvedFrame[],
  surroundings: PaneSurroundings,
): DetailState {
  const { reference, storeName, present, unchangeable } = surroundings;
  const base = {
    reference,
    storeName,
    notices: noticesOf(surroundings),
    present,
    canChange: present && unchangeable === null,
  };
  if (detail.kind === "unreadable") {
    return {
      ...base,
      kind: "unreadable",
      title: "A record that cannot be read",
      reason: detail.reason,
      facts: [idFact(detail.id), { label: "Size", text: counted(detail.bytes, "byte"), seconds: null, field: null }],
    };
  }
  const { task } = detail;
  return {
    ...base,
    kind: "task",
    title: task.taskClass === "" ? "(no class)" : task.taskClass,
    failedAt: task.failedAt,
    attempts: counted(task.attempts, "attempt"),
    exceptionClass: exceptionName(task.exceptionClass),
    message: task.fullMessage,
    backtrace: frames.map(({ frame, file, place, missing }): FrameView => {
      const { text, method, origin } = frame;
      return { text, place, method, origin, canOpen: file !== null, missing };
    }),
    context: task.context === null ? null : contextFields(task.context),
    contextError: task.contextError,
    secrets: task.masked ? "hidden" : surroundings.revealed ? "shown" : "none",
    facts: taskFacts(task),
  };
}

/** A pane without content: `text` says why. */
export function bareState(reference: PaneReference, title: string, notice: Notice): BareState {
  return { kind: "bare", reference, title, storeName: null, notices: [notice], present: false, canChange: false };
}

function noticesOf({ notice, present, unchangeable, changed, doubt, ran }: PaneSurroundings): Notice[] {
  const notices = notice === null ? [] : [notice];
  if (present && typeof ran === "string") notices.push({ tone: "warning", text: ran });
  if (present && typeof doubt === "string")
    notices.push({ tone: "warning", text: `${doubt} As the code stands, a retry would fail again.` });
  if (typeof changed === "string") {
    notices.push({ tone: "info", text: changed, action: { name: "showChanges", label: "Show Changes" } });
  }
  if (present && unchangeable !== null) notices.push({ tone: "info", text: unchangeable });
  return notices;
}

function contextFields(context: ContextText): ContextField[] {
  const field = (name: CopyableField, label: string, text: string): ContextField => {
    return { field: name, label, text, empty: ["nil", "[]", "{}"].includes(text) };
  };
  return [
    field("args", "Positional", context.args),
    field("kwargs", "Keyword", context.kwargs),
    field("logTags", "Log tags", context.logTags),
    field("logContext", "Log context", context.logContext),
    field("userContext", "User context", context.userContext),
  ];
}

function taskFacts(task: TaskDetail): Fact[] {
  return [
    idFact(task.id),
    { label: "Attempts", text: formatCount(task.attempts), seconds: null, field: null },
    timeFact("Failed", task.failedAt),
    timeFact("Enqueued", task.enqueuedAt),
    ...task.extra.map(({ name, value }): Fact => ({ label: name, text: value, seconds: null, field: null })),
  ];
}

function idFact(id: string): Fact {
  return { label: "Id", text: shownId(id), seconds: null, field: "id" };
}

function timeFact(label: string, seconds: number | null): Fact {
  return { label, text: seconds === null ? "unknown" : absoluteTime(seconds), seconds, field: null };
}

/** What a copy button puts on the clipboard: what the pane shows, masked where that is masked. Null where it shows nothing. */
export function copyText(state: DetailState, field: CopyableField): string | null {
  if (field === "id") return shownId(state.reference.id);
  if (state.kind !== "task") return null;
  switch (field) {
    case "taskClass":
      return state.title;
    case "error":
      return state.message === "" ? state.exceptionClass : `${state.exceptionClass}: ${state.message}`;
    case "backtrace":
      return state.backtrace.map((frame) => frame.text).join("\n");
    case "args":
    case "kwargs":
    case "logTags":
    case "logContext":
    case "userContext":
      return state.context?.find((one) => one.field === field)?.text ?? null;
  }
}
