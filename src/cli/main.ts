import { version } from "../../package.json";
import {
  DeadTaskStore,
  StorageError,
  findStoresIn,
  networkFileSystem,
  nilBackend,
  nodeFileSystem,
  normalizePrefix,
  otherVersions,
  storageEnvironment,
  storeNames,
  type DeadTaskBackend,
} from "../storage";
import { UsageError, helpText, readArguments, type Command, type CommonOptions } from "./arguments";
import { pending, remove, retry, show, type CommandContext, type Success } from "./commands";
import { printList } from "./listing";
import { locateStore, type Location } from "./location";
import { Output } from "./output";

async function run(command: Command, common: CommonOptions, output: Output): Promise<Success> {
  if (command.name === "help") {
    await output.write(helpText);
    return true;
  }
  if (command.name === "version") {
    await output.writeLine(version);
    return true;
  }
  const location = locateStore(nodeFileSystem, common, process.cwd());
  if (location.problem !== null) output.note(location.problem);
  const backend = await openBackend(location);
  const interruption = new AbortController();
  const context: CommandContext = {
    backend,
    json: common.json,
    output,
    signal: interruption.signal,
    now: () => Date.now(),
  };
  switch (command.name) {
    case "list":
      await list(command, context, location);
      return true;
    case "show":
      return await show(command.id, context);
    case "pending":
      return await pending(context);
    case "retry":
    case "delete":
      warnOfNetwork(location, output);
      // The first interruption stops before the next step that changes anything; a second one ends the process.
      process.once("SIGINT", () => {
        interruption.abort();
      });
      return command.name === "retry" ? await retry(command, context) : await remove(command.selection, context);
  }
}

async function openBackend({ path, prefix, nilSource }: Location): Promise<DeadTaskBackend> {
  if (nilSource !== null) return nilBackend;
  return new DeadTaskStore({ path, prefix }, await storageEnvironment());
}

async function list(
  command: Extract<Command, { name: "list" }>,
  { backend, json, output }: CommandContext,
  location: Location,
): Promise<void> {
  const { ids, unreadable, damage } = await printList(backend, command, json, output);
  if (json || output.isClosed) return;
  if (unreadable.length > 0) {
    const shown = unreadable.slice(0, 5).map(({ id }) => id);
    const more = unreadable.length > shown.length ? " … (all: --json)" : "";
    output.note(`${count(unreadable.length, "record")} cannot be read, only deleted: ${shown.join(" ")}${more}`);
  }
  if (damage.lines > 0) output.note(`${count(damage.lines, "corrupt line")} skipped (${count(damage.bytes, "byte")})`);
  if (damage.tornTailBytes > 0) {
    output.note(`the last line is unfinished (${count(damage.tornTailBytes, "byte")}); the next write mends it`);
  }
  if (ids.length === 0) output.note(whyEmpty(location));
  if (location.nilSource !== null) return;
  for (const name of otherVersions(nodeFileSystem, storeNames(location.path, location.prefix))) {
    output.note(`${name} is of a storage version that this program does not understand; it is left alone`);
  }
}

/** An empty list is no error, but it is often the wrong directory. */
function whyEmpty({ path, prefix, nilSource }: Location): string {
  if (nilSource !== null) return `the application keeps no deferred tasks (${nilSource} sets the backend to nil)`;
  const prefixes = findStoresIn(nodeFileSystem, path).map((store) => store.prefix);
  if (prefixes.length === 0)
    return `no dead tasks: there is no store in ${path}; name another directory with --storage`;
  const own = normalizePrefix(prefix);
  if (prefixes.includes(own)) return `no dead tasks in ${path}`;
  return `no dead tasks of prefix ${own} in ${path}, which has stores of prefix ${prefixes.join(", ")}; choose one with --prefix`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function warnOfNetwork({ path, nilSource }: Location, output: Output): void {
  const network = nilSource === null ? networkFileSystem(nodeFileSystem, path) : null;
  if (network === null) return;
  output.note(`${path} is on a network file system (${network}), where locks and renames may not hold across machines`);
}

async function main(): Promise<void> {
  const output = new Output(process.stdout, process.stderr);
  try {
    const { command, common } = readArguments(process.argv.slice(2));
    const success = await run(command, common, output);
    if (!success) process.exitCode = 1;
  } catch (error) {
    if (error instanceof UsageError) {
      output.note(`${error.message}; see: dead-tasks --help`);
      process.exitCode = 2;
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    output.note(error instanceof StorageError ? message : `unexpected error, please report it: ${message}`);
    process.exitCode = 1;
  }
}

void main();
