import {
  env,
  Uri,
  ViewColumn,
  window,
  workspace,
  type Disposable,
  type ExtensionContext,
  type WebviewPanel,
  type WebviewPanelSerializer,
} from "vscode";
import { recordReference } from "../actions/references";
import type { TaskActions } from "../actions/taskActions";
import { detailViewType, Setting } from "../ids";
import type { RawFiles } from "../raw/openRaw";
import { userMessage, type Reporter } from "../reporter";
import type { StoreService } from "../service/storeService";
import { maskedNames } from "../settings";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import type { WorkspaceStores } from "../stores/workspaceStores";
import { oneLine } from "../text/labels";
import type { CodeFiles } from "../code/codeFiles";
import { openPlace } from "../code/openPlace";
import { paneHtml } from "./html";
import {
  parsePaneMessage,
  parsePaneReference,
  type DetailState,
  type HostMessage,
  type PaneReference,
  type PaneRequest,
} from "./protocol";
import { RecordFollower, type FollowerHost } from "./recordFollower";
import { copyText } from "./taskState";

export interface DetailServices {
  readonly context: ExtensionContext;
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly stores: WorkspaceStores;
  readonly actions: TaskActions;
  readonly rawFiles: RawFiles;
  readonly code: CodeFiles;
  readonly reporter: Reporter;
}

/** The one pane that shows a record. Selecting another record reuses it. */
export class DetailPane implements Disposable, WebviewPanelSerializer {
  readonly #services: DetailServices;
  readonly #serializer: Disposable;
  #open: OpenPane | null = null;

  constructor(services: DetailServices) {
    this.#services = services;
    this.#serializer = window.registerWebviewPanelSerializer(detailViewType, this);
  }

  /** What the pane shows; null where it is not open. */
  get state(): DetailState | null {
    return this.#open?.follower.state ?? null;
  }

  /** Where the pane is; undefined where it is not open. */
  get column(): ViewColumn | undefined {
    return this.#open?.panel.viewColumn;
  }

  /** The list keeps the keyboard's focus, so that arrow keys go on through it. */
  async show(store: StoreModel, id: string): Promise<void> {
    const reference = { storeKey: store.key, id };
    if (this.#open === null) {
      const column = { viewColumn: ViewColumn.Active, preserveFocus: true };
      this.#adopt(window.createWebviewPanel(detailViewType, "Dead Task", column), reference);
    } else {
      this.#open.panel.reveal(undefined, true);
    }
    await this.#open?.follower.follow(reference);
  }

  /** After a reload of the window: `memory` is what the page put down with `setState`. */
  async deserializeWebviewPanel(panel: WebviewPanel, memory: unknown): Promise<void> {
    const reference = parsePaneReference(memory);
    if (reference === null || this.#open !== null) {
      panel.dispose();
      return;
    }
    await this.#adopt(panel, reference).follower.reload();
  }

  #adopt(panel: WebviewPanel, reference: PaneReference): OpenPane {
    const open = new OpenPane(this.#services, panel, reference);
    this.#open = open;
    panel.onDidDispose(() => {
      open.dispose();
      if (this.#open === open) this.#open = null;
    });
    return open;
  }

  dispose(): void {
    this.#serializer.dispose();
    this.#open?.panel.dispose();
  }
}

/** A panel with the follower behind it, for as long as the panel is open. */
class OpenPane implements Disposable {
  readonly panel: WebviewPanel;
  readonly follower: RecordFollower;
  readonly #services: DetailServices;
  readonly #disposables: { dispose(): unknown }[];

  constructor(services: DetailServices, panel: WebviewPanel, reference: PaneReference) {
    this.#services = services;
    this.panel = panel;
    this.follower = new RecordFollower(followerHost(services), reference);
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
      this.follower.onDidChange(() => {
        this.#sendState();
      }),
      services.actions.onDidDepart((departure) => {
        this.follower.departed(departure);
      }),
      services.stores.onDidLook(reload),
      workspace.onDidGrantWorkspaceTrust(reload),
      workspace.onDidChangeConfiguration((event) => {
        const shown = [Setting.maskedNames, Setting.pathMappings];
        if (shown.some((name) => event.affectsConfiguration(`${Setting.section}.${name}`))) reload();
      }),
      panel.webview.onDidReceiveMessage((message: unknown) => this.#receive(message)),
    ];
    panel.webview.html = paneHtml(panel.webview, extensionUri);
  }

  #sendState(): void {
    const { state } = this.follower;
    this.panel.title = oneLine(state.title, 60);
    this.#send({ type: "state", state });
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
    } else {
      const { sequence } = message;
      try {
        await this.#handle(message.request);
        this.#send({ type: "reply", sequence, ok: true });
      } catch (error) {
        this.#send({ type: "reply", sequence, ok: false, error: userMessage(error) });
      }
    }
  }

  async #handle(request: PaneRequest): Promise<void> {
    const { state } = this.follower;
    switch (request.name) {
      case "retry":
        return this.#services.actions.retry([recordReference(this.#presentStore(), state.reference.id)]);
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
      case "copy": {
        const text = copyText(state, request.field);
        if (text === null) throw new Error("There is nothing to copy.");
        await env.clipboard.writeText(text);
        return;
      }
      case "openFrame":
        return this.#openFrame(request.index);
    }
  }

  async #openFrame(index: number): Promise<void> {
    const place = this.follower.frame(index);
    if (place === null) throw new Error("This file was not found.");
    await openPlace(place, this.panel.viewColumn);
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
