import { ViewColumn, window, type Disposable, type WebviewPanel, type WebviewPanelSerializer } from "vscode";
import { detailViewType } from "../ids";
import type { StoreModel } from "../stores/storeModel";
import { OpenPane, type DetailServices } from "./openPane";
import {
  parsePaneReference,
  type DetailState,
  type ExcerptView,
  type PaneReference,
  type SimilarView,
} from "./protocol";

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

  /** The lines around the failing one, as far as they are known. */
  get excerpt(): ExcerptView | null {
    return this.#open?.excerpt.view ?? null;
  }

  /** The other tasks that died alike, as far as they are known. */
  get similar(): SimilarView | null {
    return this.#open?.similar.view ?? null;
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
