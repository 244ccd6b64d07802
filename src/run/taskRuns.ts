import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Uri, window, workspace, type ExtensionContext, type ViewColumn } from "vscode";
import { confirmed, mayChange } from "../actions/asking";
import { recordReference, type RecordReference } from "../actions/references";
import type { Departure } from "../actions/taskActions";
import type { UndoList } from "../actions/undoList";
import type { CodeFiles } from "../code/codeFiles";
import { failingFrame, isFile } from "../code/frameFiles";
import { insideOf, originOf, parseFrame } from "../code/frames";
import { openPlace, type CodePlace } from "../code/openPlace";
import type { RetryCheck } from "../code/retryCheck";
import { applicationOf } from "../code/taskClasses";
import { Setting } from "../ids";
import type { NotificationAction, Reporter } from "../reporter";
import type { RunEnd } from "../service/runProtocol";
import type { StoreService } from "../service/storeService";
import { openSettings } from "../settings";
import { normalizePrefix } from "../storage/naming";
import { Emitter, type Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { oneLine, withoutLinks } from "../text/labels";
import { relativeTime } from "../text/times";
import { hasRubyDebugger, runInDebugger, wordForNoShell } from "./debugRun";
import { applicationRoot, commandWords, isFound } from "./runCommand";
import { failureLine, runNews, runQuestion, typed, type RunWay } from "./runMessages";
import { TerminalRuns, type EndedProcess } from "./terminalRun";

/** Between two looks whether a process lives, in milliseconds. */
const lookInterval = 1_000;
/** For how long the check of the code may keep a question waiting, in milliseconds. */
const longestLook = 1_000;

export interface RunServices {
  readonly context: Pick<ExtensionContext, "extensionUri" | "globalStorageUri">;
  readonly service: Pick<StoreService, "beginRun" | "endRun" | "runsUnderWay" | "leftRuns" | "backtraces">;
  readonly registry: StoreRegistry;
  readonly code: CodeFiles;
  readonly retryCheck: RetryCheck;
  readonly undoList: UndoList;
  readonly reporter: Reporter;
  /** Where the detail pane is, so that code opens beside it. */
  readonly column: () => ViewColumn | undefined;
}

/** A run of ours that failed. */
export interface FailedRun {
  readonly storeKey: string;
  readonly id: string;
  /** What was raised, for a user. */
  readonly text: string;
}

/** Runs single dead tasks in their application: in a terminal, or under the debugger. Failures are reported, never thrown. */
export class TaskRuns implements Disposable {
  readonly #services: RunServices;
  readonly #runs: string;
  readonly #script: string;
  readonly #terminals = new TerminalRuns();
  readonly #departed = new Emitter<Departure>();
  readonly #failed = new Emitter<FailedRun>();
  /** Roots of applications in which this window runs tasks without asking. */
  readonly #unasked = new Set<string>();
  readonly #settling = new Set<string>();
  #disposed = false;

  /** A task was run, and has left the dead tasks. */
  readonly onDidDepart = this.#departed.event;
  readonly onDidFail = this.#failed.event;

  constructor(services: RunServices) {
    this.#services = services;
    this.#runs = Uri.joinPath(services.context.globalStorageUri, "runs").fsPath;
    this.#script = Uri.joinPath(services.context.extensionUri, "dist", "runDeadTask.rb").fsPath;
  }

  async run(record: RecordReference, way: RunWay): Promise<void> {
    const { reporter, service } = this.#services;
    try {
      if (!record.readable) {
        void window.showInformationMessage("A record that cannot be read cannot be run.");
        return;
      }
      if (!(await mayChange([record], "run")) || (way === "debug" && !(await hasRubyDebugger()))) return;
      const root = await this.#root(record.store);
      const words = root === null ? null : await this.#words(record.store, root, way);
      if (root === null || words === null || !(await this.#confirmed(record, way, words, root))) return;
      await this.settleLeft();
      const start = await service.beginRun(this.#runs, record.store.key, record.id);
      const name = oneLine(record.name);
      if (start.kind === "gone") {
        void window.showInformationMessage(withoutLinks(`${name} is no longer among the dead tasks.`));
      } else if (start.kind === "running") {
        void window.showWarningMessage(
          withoutLinks(`${name} is being run already; it was started ${ago(start.since)}.`),
        );
      } else {
        await this.#carryOut(record, way, words, root, start);
      }
    } catch (error) {
      reporter.failure(`run ${oneLine(record.name)}`, error);
    }
  }

  /** Whether these may be replayed: of one that is being run now, the user is asked. */
  async mayReplay(records: readonly RecordReference[]): Promise<boolean> {
    await this.settleLeft();
    const runs = await this.#services.service.runsUnderWay(this.#runs);
    const run = runs.find(({ id, directory, prefix }) =>
      records.some((record) => {
        const { target } = record.store.description;
        return record.id === id && target.path === directory && prefix === normalizePrefix(target.prefix);
      }),
    );
    if (run === undefined) return true;
    return confirmed({
      message: `${oneLine(run.taskClass)} is being run now. Retry it all the same?`,
      detail: `It was started ${ago(run.since)}. If it succeeds there, a retry does it a second time.`,
      button: "Retry Anyway",
    });
  }

  /** Settles the runs of which the window is gone, and follows those whose process lives. */
  async settleLeft(): Promise<void> {
    if (!workspace.isTrusted) return;
    const { registry, service, reporter } = this.#services;
    for (const store of registry.stores.filter(({ description }) => description.target.backend === "disk")) {
      try {
        for (const { name, id, taskClass } of await service.leftRuns(this.#runs, store.key)) {
          if (this.#settling.has(name)) continue;
          const record = { ...recordReference(store, id), name: taskClass };
          const end = await this.#end(record, name);
          if (end.kind === "running") void this.#follow(record, name);
          else await this.#tell(record, end, null, null);
        }
      } catch (error) {
        reporter.failureOnce(`settle what was run in ${store.name}`, error);
      }
    }
  }

  async #carryOut(
    record: RecordReference,
    way: RunWay,
    words: readonly string[],
    root: string,
    { name, directory }: { readonly name: string; readonly directory: string },
  ): Promise<void> {
    const { reporter } = this.#services;
    const environment = { DEAD_TASKS_APPLICATION: root, DEAD_TASKS_RUN: directory };
    const folder = record.store.description.folder;
    const process = {
      title: `${way === "run" ? "Run" : "Debug"} ${oneLine(record.name, 40)}`,
      words: [...words, this.#script],
      root,
      environment,
      folder: folder === null ? undefined : workspace.getWorkspaceFolder(Uri.file(folder)),
    };
    reporter.log("info", `${record.store.name}: ${way}: ${record.id} is run in ${root}`);
    this.#settling.add(name);
    try {
      let ended: EndedProcess | null = null;
      try {
        ended =
          way === "run"
            ? await this.#terminals.run(process)
            : await runInDebugger(process, await this.#failingPlace(record));
      } catch (error) {
        reporter.failure(`start ${typed(process.words)}`, error);
      }
      await this.#tell(record, await this.#endOf(record, name), ended, typed(words), root);
    } finally {
      this.#settling.delete(name);
    }
  }

  /** Waits for the end of a run of another window's. */
  async #follow(record: RecordReference, name: string): Promise<void> {
    this.#settling.add(name);
    try {
      await this.#tell(record, await this.#endOf(record, name), null, null);
    } catch (error) {
      this.#services.reporter.failure(`settle the run of ${oneLine(record.name)}`, error);
    } finally {
      this.#settling.delete(name);
    }
  }

  async #endOf(record: RecordReference, name: string): Promise<Exclude<RunEnd, { kind: "running" }>> {
    for (;;) {
      const end = await this.#end(record, name);
      if (end.kind !== "running") return end;
      await delay(lookInterval, undefined, { ref: false });
      // Whoever opens this store next settles it.
      if (this.#disposed) return { kind: "settled" };
    }
  }

  async #end(record: RecordReference, name: string): Promise<RunEnd> {
    const { service, undoList } = this.#services;
    return service.endRun(this.#runs, name, undoList.request([record], record.store) ?? null);
  }

  async #tell(
    record: RecordReference,
    end: Exclude<RunEnd, { kind: "running" }>,
    ended: EndedProcess | null,
    command: string | null,
    root: string | null = null,
  ): Promise<void> {
    const { store, id } = record;
    const news = runNews(record.name, command, end, ended?.exitCode);
    if (news === null) return;
    this.#services.reporter.log("info", `${store.name}: ${id}: ${end.kind}`);
    const actions: NotificationAction[] = [];
    if (end.kind === "succeeded") {
      if (end.removed) this.#departed.fire({ storeKey: store.key, ids: [id], by: "run", publishAt: null });
      const { undo } = end;
      if (undo !== undefined) {
        actions.push({ title: "Bring Back", run: () => this.#services.undoList.undo([undo]) });
      }
    }
    if (end.kind === "failed") this.#failed.fire({ storeKey: store.key, id, text: failureLine(end.failure) });
    if (end.kind === "failed" || (end.kind === "notRun" && end.reason === "boot")) {
      const backtrace = end.failure?.backtrace ?? [];
      const place = (root === null ? null : await ownPlace(backtrace, root)) ?? (await this.#place(store, backtrace));
      const { column } = this.#services;
      if (place !== null) actions.push({ title: "Open Failing Line", run: () => openPlace(place, column()) });
    }
    if (ended !== null && end.kind !== "succeeded") actions.push({ title: "Show Output", run: ended.showOutput });
    if (end.kind === "notBegun" || (end.kind === "notRun" && end.reason === "boot")) actions.push(commandSetting);
    const show = {
      information: window.showInformationMessage,
      warning: window.showWarningMessage,
      error: window.showErrorMessage,
    }[news.severity];
    // Not awaited: a notification may stay for hours.
    void show(withoutLinks(news.text), ...actions.map(({ title }) => title)).then((choice) =>
      actions.find(({ title }) => title === choice)?.run(),
    );
  }

  /** Null where there is none, which is told. */
  async #root(store: StoreModel): Promise<string | null> {
    const { folder } = store.description;
    const near = applicationOf(store);
    const folders = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const root = await applicationRoot([near, path.dirname(near), ...(folder === null ? [] : [folder]), ...folders]);
    if (root === null) {
      const text = `No application was found for ${store.name}: there is no config/application.rb in ${near}.`;
      void window.showWarningMessage(withoutLinks(text));
    }
    return root;
  }

  /** Null where they cannot be used, which is told. */
  async #words(store: StoreModel, root: string, way: RunWay): Promise<readonly string[] | null> {
    const { folder } = store.description;
    const scope = folder === null ? null : Uri.file(folder);
    const setting: unknown = workspace.getConfiguration(Setting.section, scope).get(Setting.runCommand);
    const words = await commandWords(setting, root);
    const torn = words !== null && way === "debug" ? wordForNoShell([...words, this.#script, root]) : null;
    let problem: string | null = null;
    if (words === null) {
      problem = 'The setting “deadTasks.runCommand” must be a list of words, such as ["bundle", "exec", "ruby"].';
    } else if (torn !== null) {
      problem = `The debugger cannot be started with a space or another special character in its command or its directory: ${torn}.`;
    } else if (!(await isFound(words[0] ?? "", root))) {
      problem = `The command ${typed(words.slice(0, 1))} was not found, so no task can be run. Where Ruby is elsewhere, the setting “deadTasks.runCommand” says how it is run.`;
    }
    if (problem === null) return words;
    void window
      .showErrorMessage(withoutLinks(problem), commandSetting.title)
      .then((choice) => (choice === undefined ? undefined : commandSetting.run()));
    return null;
  }

  async #confirmed(record: RecordReference, way: RunWay, words: readonly string[], root: string): Promise<boolean> {
    const task = record.store.task(record.id);
    const looked = task === undefined ? new Map() : new Map([[record.store, [task]]]);
    const doubts = await this.#services.retryCheck.within(longestLook, looked);
    const doubt = task === undefined ? undefined : doubts.get(task);
    if (doubt === undefined && this.#unasked.has(root)) return true;
    const { message, detail, button } = runQuestion(record, way, typed(words), root, doubt?.text ?? null);
    const always = `${button}, and Don't Ask Again in This Window`;
    const options = { modal: true, detail: withoutLinks(detail) };
    const choice = await window.showWarningMessage(withoutLinks(message), options, button, always);
    if (choice === always) this.#unasked.add(root);
    return choice === button || choice === always;
  }

  async #failingPlace({ store, id }: RecordReference): Promise<CodePlace | null> {
    const [found] = await this.#services.service.backtraces(store.key, [id]);
    return this.#place(store, found?.backtrace ?? []);
  }

  /** The first line of these that is the application's own and is here. */
  async #place(store: StoreModel, backtrace: readonly string[]): Promise<CodePlace | null> {
    const failing = failingFrame(await this.#services.code.resolve(backtrace, store));
    const file = failing?.file ?? null;
    return failing === null || file === null ? null : { file, line: failing.frame.line };
  }

  dispose(): void {
    this.#disposed = true;
    this.#terminals.dispose();
    this.#departed.dispose();
    this.#failed.dispose();
  }
}

const commandSetting: NotificationAction = { title: "Open Settings", run: () => openSettings(Setting.runCommand) };

/** The first line of these that is the application's own, of a backtrace that was made here. */
async function ownPlace(backtrace: readonly string[], root: string): Promise<CodePlace | null> {
  for (const text of backtrace) {
    const { file, line } = parseFrame(text);
    const inside = file === null ? null : insideOf(root, file, path);
    if (file !== null && inside !== null && originOf(inside) === "application" && (await isFile(file))) {
      return { file, line };
    }
  }
  return null;
}

function ago(since: number): string {
  return relativeTime(since, Date.now() / 1000);
}
