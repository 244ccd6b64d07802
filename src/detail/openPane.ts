import { commands, env, Uri, workspace, type Disposable, type ExtensionContext, type WebviewPanel } from "vscode";
import { recordReference, type RecordReference } from "../actions/references";
import type { TaskActions } from "../actions/taskActions";
import type { ChangesSinceFailure, TaskChanges } from "../code/changes";
import type { CodeFiles } from "../code/codeFiles";
import { changesSentence } from "../code/fileHistory";
import type { RetryCheck } from "../code/retryCheck";
import { openPlace } from "../code/openPlace";
import type { EditRetry } from "../editRetry/editRetry";
import { Command, Setting } from "../ids";
import type { RawFiles } from "../raw/openRaw";
import { userMessage, type Reporter } from "../reporter";
import type { TaskRuns } from "../run/taskRuns";
import type { StoreService } from "../service/storeService";
import { maskedNames } from "../settings";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import type { WorkspaceStores } from "../stores/workspaceStores";
import { oneLine } from "../text/labels";
import { groupFilter, type TaskFilter } from "../tree/taskFilter";
import type { TaskView } from "../tree/taskView";
import { webviewHtml, type WebviewPage } from "../webviewPage";
import type { RecordComparison } from "./compareRecords";
import { ExcerptFollower } from "./excerptFollower";
import { excerptText, issueReport } from "./issueReport";
import { pickSimilar } from "./pickSimilar";
import { parsePaneMessage, type HostMessage, type PaneReference, type PaneRequest } from "./protocol";
import { RecordFollower, type FollowerHost } from "./recordFollower";
import { SimilarFollower } from "./similarFollower";
import { copyText } from "./taskState";
import { answerValueQuestion, type ValueAnswers, type ValueQuestion } from "./valueRequests";

export interface DetailServices {
  readonly context: ExtensionContext;
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly stores: WorkspaceStores;
  readonly actions: TaskActions;
  readonly runs: TaskRuns;
  readonly editRetry: EditRetry;
  readonly comparison: RecordComparison;
  readonly rawFiles: RawFiles;
  readonly code: CodeFiles;
  readonly changes: ChangesSinceFailure;
  readonly retryCheck: RetryCheck;
  readonly reporter: Reporter;
  readonly view: Pick<TaskView, "showOnly">;
}

const page: WebviewPage = {
  title: "Dead Task",
  styles: ["detail.css", "values.css"],
  script: "detail.js",
  body: '<main id="pane"></main>',
};

/** A panel with the followers behind it, for as long as the panel is open: sends what they know, and answers the page. */
export class OpenPane implements Disposable {
  readonly panel: WebviewPanel;
  readonly follower: RecordFollower;
  readonly excerpt = new ExcerptFollower();
  readonly similar: SimilarFollower;
  readonly #services: DetailServices;
  readonly #disposables: { dispose(): unknown }[];
  #changes: TaskChanges = [];
  /** How many checks were begun; only the last counts. */
  #checks = 0;

  constructor(services: DetailServices, panel: WebviewPanel, reference: PaneReference) {
    this.#services = services;
    this.panel = panel;
    this.follower = new RecordFollower(followerHost(services), reference);
    const { service, registry, reporter } = services;
    this.similar = new SimilarFollower({
      service,
      registry,
      failed: (error) => {
        reporter.log("warn", `The other tasks that died alike were not found: ${userMessage(error)}`);
      },
    });
    const { extensionUri } = services.context;
    const reload = (): void => void this.follower.reload();
    panel.iconPath = {
      light: Uri.joinPath(extensionUri, "media", "pane-light.svg"),
      dark: Uri.joinPath(extensionUri, "media", "pane-dark.svg"),
    };
    panel.webview.options = {
      enableScripts: true,
      localResourceRoots: [Uri.joinPath(extensionUri, "dist"), Uri.joinPath(extensionUri, "media")],
    };
    this.#disposables = [
      this.follower,
      this.excerpt,
      this.similar,
      this.follower.onDidChange(() => {
        this.#sendState();
        void this.#lookForChanges();
        void this.#lookForDoubt();
        this.excerpt.follow(this.follower.failingPlace);
        this.similar.follow(this.follower.death);
      }),
      this.excerpt.onDidChange(() => {
        this.#sendExcerpt();
      }),
      this.similar.onDidChange(() => {
        this.#sendSimilar();
      }),
      services.actions.onDidDepart((departure) => {
        this.follower.departed(departure);
      }),
      services.runs.onDidDepart((departure) => {
        this.follower.departed(departure);
      }),
      services.runs.onDidFail(({ storeKey, id, text }) => {
        this.follower.setRan({ storeKey, id }, `You ran this task, and it failed again: ${text}`);
      }),
      services.stores.onDidLook(reload),
      services.changes.onDidChange(() => this.#lookForChanges()),
      services.retryCheck.onDidChange(() => this.#lookForDoubt()),
      workspace.onDidGrantWorkspaceTrust(reload),
      workspace.onDidChangeConfiguration((event) => {
        const shown = [Setting.maskedNames, Setting.pathMappings];
        if (shown.some((name) => event.affectsConfiguration(`${Setting.section}.${name}`))) reload();
      }),
      panel.webview.onDidReceiveMessage((message: unknown) => this.#receive(message)),
    ];
    panel.webview.html = webviewHtml(panel.webview, extensionUri, page);
  }

  #sendState(): void {
    const { state } = this.follower;
    this.panel.title = oneLine(state.title, 60);
    this.#send({ type: "state", state });
  }

  #sendExcerpt(): void {
    this.#send({ type: "excerpt", reference: this.follower.state.reference, excerpt: this.excerpt.view });
  }

  #sendSimilar(): void {
    this.#send({ type: "similar", reference: this.follower.state.reference, similar: this.similar.view });
  }

  #send(message: HostMessage): void {
    void this.panel.webview.postMessage(message);
  }

  async #receive(value: unknown): Promise<void> {
    const message = parsePaneMessage(value);
    if (message === null) {
      this.#services.reporter.log(
        "warn",
        "The detail pane sent a message that is not of its protocol; it was ignored.",
      );
    } else if (message.type === "ready") {
      this.#sendState();
      this.#sendExcerpt();
      this.#sendSimilar();
    } else {
      const { sequence } = message;
      try {
        const value = await this.#answer(message.request);
        this.#send({ type: "reply", sequence, ok: true, value });
      } catch (error) {
        this.#send({ type: "reply", sequence, ok: false, error: userMessage(error) });
      }
    }
  }

  async #answer(request: PaneRequest): Promise<ValueAnswers[ValueQuestion["name"]]> {
    switch (request.name) {
      case "values":
      case "valueContent":
      case "findValues": {
        const { state, options } = this.follower;
        return await answerValueQuestion(this.#services.service, state.reference, options, request);
      }
      default:
        await this.#handle(request);
        return null;
    }
  }

  async #handle(request: Exclude<PaneRequest, ValueQuestion>): Promise<void> {
    const { state } = this.follower;
    switch (request.name) {
      case "retry":
        return this.#services.actions.retry([recordReference(this.#presentStore(), state.reference.id)]);
      case "editAndRetry":
        return this.#services.editRetry.open(recordReference(this.#presentStore(), state.reference.id));
      case "delete":
        return this.#services.actions.delete([recordReference(this.#presentStore(), state.reference.id)]);
      case "openRaw":
        return this.#services.rawFiles.openRecord(this.#presentStore(), state.reference.id);
      case "copyRuby": {
        const reveal = state.kind === "task" && state.secrets === "shown";
        return this.#services.actions.copyRuby(recordReference(this.#presentStore(), state.reference.id), reveal);
      }
      case "setSecrets":
        // What has gone can be hidden again, and is not there to be revealed.
        if (request.shown) this.#presentStore();
        return this.follower.setSecrets(request.shown);
      case "setRevealed":
        if (request.shown) this.#presentStore();
        return this.follower.setRevealed(request.path, request.shown);
      case "copyValue": {
        const { storeKey, id } = state.reference;
        return copy(await this.#services.service.valueText(storeKey, id, this.follower.options, request.path));
      }
      case "copy": {
        return copy(copyText(state, request.field));
      }
      case "copyFact":
        return copy(state.kind === "bare" ? null : (state.facts[request.index]?.text ?? null));
      case "copyExcerpt":
        return copy(this.excerpt.view === null ? null : excerptText(this.excerpt.view));
      case "copyAll":
        return copy(issueReport(state, this.excerpt.view));
      case "openExcerpt":
        return this.#openExcerpt(request.line);
      case "showSimilar":
        return this.#showSimilar(this.#similarRecord(request.id));
      case "compareSimilar":
        return this.#services.comparison.compare([this.#ownRecord(), this.#similarRecord(request.id)]);
      case "showAllSimilar": {
        const compare = (id: string): Promise<void> =>
          this.#services.comparison.compare([this.#ownRecord(), this.#similarRecord(id)]);
        const id = await pickSimilar(this.similar.tasks, compare);
        if (id !== null) await this.#showSimilar(this.#similarRecord(id));
        return;
      }
      case "retrySimilar":
        return this.#services.actions.retry(this.#group(), null, this.#groupFilter().predicate);
      case "deleteSimilar":
        return this.#services.actions.delete(this.#group(), this.#groupFilter().predicate);
      case "listSimilar":
        return this.#services.view.showOnly(this.#groupFilter());
      case "openTaskClass": {
        // The history of one that has gone still names its class.
        if (state.kind === "task")
          await commands.executeCommand(Command.openTaskClass, state.title, state.reference.storeKey);
        return;
      }
      case "openFrame":
        return this.#openFrame(request.index);
      case "showChanges":
        return this.#services.changes.show(this.#changes, this.panel.viewColumn);
    }
  }

  /** Has the shown task's notice say whether its code has changed since it died. */
  async #lookForChanges(): Promise<void> {
    const { reference } = this.follower.state;
    const store = this.#services.registry.find(reference.storeKey);
    const task = store?.task(reference.id);
    // What has gone keeps what was said of it.
    if (store === undefined || task === undefined) return;
    const changes = await this.#services.changes.of(store, task);
    const shown = this.follower.state.reference;
    if (shown.storeKey !== reference.storeKey || shown.id !== reference.id) return;
    this.#changes = changes;
    const nameOf = (file: string): string => workspace.asRelativePath(file);
    this.follower.setCodeChanged(reference, changes.length === 0 ? null : changesSentence(changes, nameOf));
  }

  /** Has the shown task's notice say why a retry would surely fail, where it would. */
  async #lookForDoubt(): Promise<void> {
    const check = ++this.#checks;
    const { reference } = this.follower.state;
    const store = this.#services.registry.find(reference.storeKey);
    const task = store?.task(reference.id);
    if (store === undefined || task === undefined) return;
    const doubt = await this.#services.retryCheck.of(store, task);
    if (check === this.#checks) this.follower.setDoubt(reference, doubt?.text ?? null);
  }

  async #openFrame(index: number): Promise<void> {
    const place = this.follower.frame(index);
    if (place === null) throw new Error("This file was not found.");
    await openPlace(place, this.panel.viewColumn);
  }

  async #openExcerpt(line: number | null): Promise<void> {
    const place = this.follower.failingPlace;
    const isShown = line === null || this.excerpt.view?.lines.some(({ number }) => number === line) === true;
    if (place === null || !isShown) throw new Error("This file was not found.");
    await openPlace({ file: place.file, line: line ?? place.line }, this.panel.viewColumn);
  }

  #ownRecord(): RecordReference {
    const { storeKey, id } = this.follower.state.reference;
    const store = this.#services.registry.find(storeKey);
    if (store === undefined) throw new Error("The store of this task is not open.");
    return { ...recordReference(store, id), name: this.follower.state.title };
  }

  /** One of those that were found, and no other: the id comes from the page. */
  #similarRecord(id: string): RecordReference {
    const { store } = this.#ownRecord();
    if (!this.similar.tasks.some((task) => task.id === id)) throw new Error("This task is no longer among the dead.");
    return recordReference(store, id);
  }

  /** The shown task and those that died like it, as they are known now. */
  #group(): RecordReference[] {
    const store = this.#presentStore();
    const ids = [this.follower.state.reference.id, ...this.similar.tasks.map(({ id }) => id)];
    return ids.map((id) => recordReference(store, id));
  }

  #groupFilter(): TaskFilter {
    const { store, id } = this.#ownRecord();
    const own = store.task(id);
    const tasks = [...(own === undefined ? [] : [own]), ...this.similar.tasks];
    const [kind] = tasks;
    if (kind === undefined) throw new Error("No task that died like this is among the dead any more.");
    return groupFilter(store.key, kind, tasks);
  }

  async #showSimilar({ store, id }: RecordReference): Promise<void> {
    await this.follower.follow({ storeKey: store.key, id });
  }

  #presentStore(): StoreModel {
    const { state } = this.follower;
    const store = this.#services.registry.find(state.reference.storeKey);
    if (store === undefined || !state.present) throw new Error("This task is no longer among the dead.");
    return store;
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

async function copy(text: string | null): Promise<void> {
  if (text === null) throw new Error("There is nothing to copy.");
  await env.clipboard.writeText(text);
}

function followerHost({ service, registry, stores, code }: DetailServices): FollowerHost {
  return {
    service,
    registry,
    looked: () => stores.looked,
    trusted: () => workspace.isTrusted,
    maskedNames,
    resolveFrames: (backtrace, store) => code.resolve(backtrace, store),
  };
}
