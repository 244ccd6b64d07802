import {
  ProcessExecution,
  Task,
  TaskPanelKind,
  TaskRevealKind,
  TaskScope,
  tasks,
  window,
  type Disposable,
  type Terminal,
  type WorkspaceFolder,
} from "vscode";

/** What is started. */
export interface ProcessToRun {
  /** What the terminal is called. */
  readonly title: string;
  readonly words: readonly string[];
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: WorkspaceFolder | undefined;
}

export interface EndedProcess {
  /** Undefined where there is none: it could not be started, or its terminal was closed. */
  readonly exitCode: number | undefined;
  readonly showOutput: () => void;
}

/**
 * Runs processes in terminals, as a task of VS Code's: what it prints stays in sight after its end, and one can type into it, for a
 * `binding.irb`, say. No shell stands between, so nothing needs quoting.
 */
export class TerminalRuns implements Disposable {
  /** Terminals of runs that have ended. The next run closes them. */
  readonly #ended = new Set<Terminal>();

  /** Resolves when the process has ended. */
  async run({ title, words, root, environment, folder }: ProcessToRun): Promise<EndedProcess> {
    for (const terminal of this.#ended) terminal.dispose();
    this.#ended.clear();
    const [command = "", ...args] = words;
    const execution = new ProcessExecution(command, args, { cwd: root, env: { ...environment } });
    const task = new Task({ type: "deadTasks" }, folder ?? TaskScope.Workspace, title, "Dead Tasks", execution, []);
    task.presentationOptions = {
      reveal: TaskRevealKind.Always,
      panel: TaskPanelKind.Dedicated,
      focus: false,
      showReuseMessage: false,
      clear: true,
    };
    // A terminal has its name only a moment after it was opened.
    const opened: Terminal[] = [];
    const ours = (): Terminal[] => opened.filter(({ name }) => name === title);
    const listening: Disposable[] = [
      window.onDidOpenTerminal((terminal) => {
        opened.push(terminal);
      }),
    ];
    try {
      const exitCode = await new Promise<number | undefined>((resolve, reject) => {
        const codes = new Map<object, number | undefined>();
        let started: object | null = null;
        listening.push(
          tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
            codes.set(execution, exitCode);
          }),
          // Comes last, and also where there was no process.
          tasks.onDidEndTask(({ execution }) => {
            if (!codes.has(execution)) codes.set(execution, undefined);
            if (execution === started) resolve(codes.get(execution));
          }),
        );
        tasks.executeTask(task).then((execution) => {
          started = execution;
          if (codes.has(execution)) resolve(codes.get(execution));
        }, reject);
      });
      return { exitCode, showOutput: () => ours()[0]?.show() };
    } finally {
      for (const one of listening) one.dispose();
      for (const terminal of ours()) this.#ended.add(terminal);
    }
  }

  dispose(): void {
    this.#ended.clear();
  }
}
