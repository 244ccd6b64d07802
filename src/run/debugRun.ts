import {
  Location,
  Position,
  SourceBreakpoint,
  Uri,
  commands,
  debug,
  extensions,
  window,
  type DebugConfiguration,
  type Disposable,
} from "vscode";
import type { CodePlace } from "../code/openPlace";
import { typed } from "./runMessages";
import type { EndedProcess, ProcessToRun } from "./terminalRun";

/** The debugger that comes with Ruby, and the type of its sessions. */
const debuggerType = "rdbg";

interface Debuggers {
  readonly contributes?: { readonly debuggers?: readonly { readonly type?: string }[] };
}

/** Whether an extension brings the Ruby debugger's sessions; where not, offers to look for one. */
export async function hasRubyDebugger(): Promise<boolean> {
  const brings = extensions.all.some(({ packageJSON }) =>
    (packageJSON as Debuggers).contributes?.debuggers?.some(({ type }) => type === debuggerType),
  );
  if (brings) return true;
  const search = "Search Extensions";
  const text =
    "Debug Now needs an extension that debugs Ruby with rdbg, such as “VSCode rdbg Ruby Debugger”, and the gem debug.";
  if ((await window.showWarningMessage(text, search)) === search) {
    await commands.executeCommand("workbench.extensions.search", "KoichiSasada.vscode-rdbg");
  }
  return false;
}

/**
 * Runs a script under the debugger, which stops at `stopAt`: where there is no breakpoint, one is set for as long as the session goes
 * on. Resolves when the session has ended; the process may live a little longer. `script` is the last of `words`.
 */
export async function runInDebugger(process: ProcessToRun, stopAt: CodePlace | null): Promise<EndedProcess> {
  const { title, words, root, environment, folder } = process;
  const command = words.slice(0, -1);
  const configuration: DebugConfiguration = {
    type: debuggerType,
    request: "launch",
    name: title,
    script: words.at(-1),
    args: [],
    // The debugger's extension types this, the script and `cd` to the directory into a shell.
    command: command.join(" "),
    useBundler: command[0] === "bundle" && command[1] === "exec",
    cwd: root,
    env: environment,
    askParameters: false,
    // In milliseconds. Bundler alone can take longer than the five seconds that the debugger's extension would wait.
    waitLaunchTime: 30_000,
  };
  const isOurs = (one: DebugConfiguration): boolean => one["env"] !== undefined && isSameRun(one, environment);
  const listening: Disposable[] = [];
  const breakpoint = breakpointAt(stopAt);
  try {
    if (breakpoint !== null) debug.addBreakpoints([breakpoint]);
    const ended = new Promise<void>((resolve) => {
      listening.push(
        debug.onDidTerminateDebugSession((session) => {
          if (isOurs(session.configuration)) resolve();
        }),
      );
    });
    if (await debug.startDebugging(folder, configuration)) await ended;
    return {
      exitCode: undefined,
      showOutput: () => void commands.executeCommand("workbench.debug.action.toggleRepl"),
    };
  } finally {
    for (const one of listening) one.dispose();
    if (breakpoint !== null) debug.removeBreakpoints([breakpoint]);
  }
}

function isSameRun(configuration: DebugConfiguration, environment: Readonly<Record<string, string>>): boolean {
  const given = configuration["env"] as Readonly<Record<string, unknown>>;
  return Object.entries(environment).every(([name, value]) => given[name] === value);
}

/** Null where none is wanted, or one is there. */
function breakpointAt(place: CodePlace | null): SourceBreakpoint | null {
  if (place === null) return null;
  const uri = Uri.file(place.file);
  const line = place.line - 1;
  const isThere = debug.breakpoints.some(
    (one) =>
      one instanceof SourceBreakpoint &&
      one.location.uri.toString() === uri.toString() &&
      one.location.range.start.line === line,
  );
  return isThere ? null : new SourceBreakpoint(new Location(uri, new Position(line, 0)));
}

/** A word that a shell would not take as it stands: the debugger's extension types them without quotes. Null where there is none. */
export function wordForNoShell(words: readonly string[]): string | null {
  const found = words.find((word) => !/^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word));
  return found === undefined ? null : typed([found]);
}
