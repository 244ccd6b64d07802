import { parseArgs } from "node:util";

/** The command line asks for something that cannot be meant. `message` is one line; the exit status is 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** Options that every command takes. Null where not given. */
export interface CommonOptions {
  readonly storage: string | null;
  readonly prefix: string | null;
  readonly json: boolean;
}

/** Which tasks a bulk command is for. */
export type Selection = { readonly all: true } | { readonly all: false; readonly ids: readonly string[] };

export type Command =
  | { readonly name: "help" | "version" }
  | {
      readonly name: "list";
      readonly limit: number | null;
      readonly order: "newest" | "oldest";
      readonly taskClass: string | null;
      /** Empty for an exception of a class without a name. */
      readonly exceptionClass: string | null;
    }
  | { readonly name: "show"; readonly id: string }
  /** `at`: Unix seconds, `in`: seconds from now; neither for at once. */
  | { readonly name: "retry"; readonly selection: Selection; readonly in: number | null; readonly at: number | null }
  | { readonly name: "delete"; readonly selection: Selection }
  | { readonly name: "pending" };

const options = {
  storage: { type: "string" },
  prefix: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
  limit: { type: "string" },
  order: { type: "string" },
  class: { type: "string" },
  exception: { type: "string" },
  all: { type: "boolean" },
  in: { type: "string" },
  at: { type: "string" },
} as const;

type OptionName = keyof typeof options;

const commonOptions: readonly OptionName[] = ["storage", "prefix", "json", "help", "version"];
const optionsOf: Readonly<Record<string, readonly OptionName[]>> = {
  list: ["limit", "order", "class", "exception"],
  show: [],
  retry: ["all", "in", "at"],
  delete: ["all"],
  pending: [],
};

/** Reads the arguments after the program's name. Throws `UsageError`. */
export function readArguments(given: readonly string[]): { command: Command; common: CommonOptions } {
  const { values, positionals } = parse(given);
  const common = { storage: values.storage ?? null, prefix: values.prefix ?? null, json: values.json === true };
  if (values.help === true) return { command: { name: "help" }, common };
  if (values.version === true) return { command: { name: "version" }, common };
  if (common.storage === "") throw new UsageError("--storage needs the path of a directory");
  if (common.prefix === "" || common.prefix?.includes("/") === true) {
    throw new UsageError("--prefix needs the beginning of a file name, such as deferred-");
  }

  const [name, ...operands] = positionals;
  if (name === undefined) throw new UsageError("no command given");
  const own = Object.hasOwn(optionsOf, name) ? optionsOf[name] : undefined;
  if (own === undefined) throw new UsageError(`unknown command ${JSON.stringify(name)}`);
  for (const option of Object.keys(values)) {
    const isKnown = [...commonOptions, ...own].some((known) => known === option);
    if (!isKnown) throw new UsageError(`${name} has no option --${option}`);
  }
  return { command: readCommand(name, operands, values), common };
}

function parse(given: readonly string[]) {
  try {
    return parseArgs({ args: [...given], options, allowPositionals: true, strict: true });
  } catch (error) {
    // Node's messages go on to explain; the first sentence says what is wrong.
    if (error instanceof TypeError) throw new UsageError(error.message.split(/[.\n](?:\s|$)/)[0] ?? error.message);
    throw error;
  }
}

type Values = ReturnType<typeof parse>["values"];

function readCommand(name: string, operands: readonly string[], values: Values): Command {
  if (name === "retry") return readRetry(operands, values);
  if (name === "delete") return { name, selection: readSelection(name, operands, values) };
  if (name === "show") {
    const [id, ...more] = operands;
    if (id === undefined || id === "" || more.length > 0) throw new UsageError("show needs one task id");
    return { name, id };
  }
  if (operands.length > 0) throw new UsageError(`${name} takes no ${JSON.stringify(operands[0])}`);
  if (name === "pending") return { name };
  const order = values.order ?? "newest";
  if (order !== "newest" && order !== "oldest") throw new UsageError("--order is newest or oldest");
  return {
    name: "list",
    limit: readNumber("limit", values.limit),
    order,
    taskClass: values.class ?? null,
    exceptionClass: values.exception ?? null,
  };
}

// Beyond this, a time in seconds is one in milliseconds by mistake (the year 5138).
const latestTime = 99_999_999_999;

function readRetry(operands: readonly string[], values: Values): Command {
  const selection = readSelection("retry", operands, values);
  if (values.in !== undefined && values.at !== undefined) throw new UsageError("--in and --at exclude each other");
  const inSeconds = readNumber("in", values.in);
  const at = readNumber("at", values.at);
  if (at !== null && at > latestTime) throw new UsageError("--at is in seconds since 1970, not in milliseconds");
  if (inSeconds !== null && inSeconds > latestTime) throw new UsageError("--in is too far ahead");
  return { name: "retry", selection, in: inSeconds, at };
}

function readSelection(name: string, ids: readonly string[], values: Values): Selection {
  if (values.all === true) {
    if (ids.length > 0) throw new UsageError(`${name} takes either ids or --all`);
    return { all: true };
  }
  if (ids.length === 0 || ids.includes("")) throw new UsageError(`${name} needs task ids or --all`);
  return { all: false, ids };
}

/** A whole number from 0 on, or null where the option is not given. */
function readNumber(option: OptionName, value: string | undefined): number | null {
  if (value === undefined) return null;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
  if (Number.isNaN(number)) {
    throw new UsageError(`--${option} needs a whole number from 0 on, not ${JSON.stringify(value)}`);
  }
  return number;
}

export const helpText = `Usage: dead-tasks COMMAND [--storage DIR] [--prefix PREFIX] [--json]

The dead background tasks of a Rage application, on the files that it uses itself.

Commands
  list                     the dead tasks, newest first
      --limit N            at most N of them
      --order ORDER        newest or oldest first
      --class CLASS        of this task class alone
      --exception CLASS    that died of this exception class alone ("" for one without a name)
  show ID                  all of one task, arguments included: it may be sensitive
  retry ID… | --all        enqueue again; runs when a Rage worker next starts
      --in SECONDS         not before that many seconds have passed
      --at UNIX            not before this time, in seconds since 1970
  delete ID… | --all       remove for good
  pending                  the tasks that wait in the workers' logs

Options
  --storage DIR      the storage directory; by default the application's own, found from here upwards, else storage
  --prefix PREFIX    of the files' names; by default the application's own, else deferred-
  --json             one JSON document on standard output; times are Unix seconds
  -h, --help         this text
  --version          the version

Exit status: 0 done, 1 something was missing or failed, 2 wrong usage.
`;
