import { contextRoots, type ValuePath } from "../../service/valueProtocol";
import type { ContextField, TaskState } from "../protocol";
import type { PaneControls } from "./parts";
import type { Requests } from "./requests";
import { ValueFind } from "./valueFind";
import { ValueModel } from "./valueModel";
import { ValueTree, type TreeActions } from "./valueTree";

export type ValueView = "tree" | "ruby";

/** The values of the shown task: loads them as they are opened, for the trees and the box to find something in them. */
export class Values {
  readonly find: ValueFind;
  readonly #requests: Requests;
  readonly #send: PaneControls["send"];
  readonly #showError: (text: string) => void;
  readonly #model = new ValueModel();
  /** By their labels. */
  readonly #trees = new Map<string, ValueTree>();
  #fields: readonly ContextField[] = [];
  #task = "";
  #canReveal = false;
  #view: ValueView = "tree";
  #isAvailable = true;
  #round = 0;
  /** Called when `view` or `isAvailable` has changed. */
  onViewChange: () => void = () => undefined;

  constructor(requests: Requests, send: PaneControls["send"], showError: (text: string) => void) {
    this.#requests = requests;
    this.#send = send;
    this.#showError = showError;
    this.find = new ValueFind({
      find: (text) => this.#ask(() => this.#requests.ask({ name: "findValues", text })),
      show: (path) => {
        if (path === null) this.#draw();
        else void this.#goTo(path, false);
      },
      closed: (path) => {
        this.#draw();
        if (path === null) [...this.#trees.values()][0]?.focus();
        else void this.#goTo(path, true);
      },
    });
  }

  /** Whether the values can be had one by one; else there is only the text of the state. */
  get isAvailable(): boolean {
    return this.#isAvailable;
  }

  get view(): ValueView {
    return this.#isAvailable ? this.#view : "ruby";
  }

  set view(view: ValueView) {
    this.#view = view;
    this.onViewChange();
  }

  openFind(): void {
    if (!this.#isAvailable) return;
    if (this.#view !== "tree") this.view = "tree";
    this.find.open();
  }

  /** Takes up a state: what is open of the same task stays so, and is loaded anew. */
  show(state: TaskState, fields: readonly ContextField[]): void {
    const task = JSON.stringify(state.reference);
    this.#fields = fields;
    this.#canReveal = state.present;
    this.#trees.clear();
    if (task !== this.#task) {
      this.#task = task;
      this.#model.clear();
      this.find.reset();
      this.#isAvailable = true;
    }
    void this.#load();
  }

  /** The element of a tree of some fields of the state that was taken up. */
  tree(label: string, fields: readonly ContextField[]): HTMLElement {
    const roots = contextRoots.filter((root) => fields.some(({ field }) => field === root));
    const tree = new ValueTree(label, roots, this.#model, this.#actions());
    this.#trees.set(label, tree);
    tree.draw();
    return tree.element;
  }

  async #load(): Promise<void> {
    const round = ++this.#round;
    const { loaded } = this.#model;
    const isFirst = loaded.length === 0;
    const pages = await this.#ask(() =>
      this.#requests.ask({ name: "values", wanted: isFirst ? null : loaded.slice(0, 1_000) }),
    );
    if (round !== this.#round) return;
    this.#setAvailable(pages !== null);
    if (pages === null) {
      // Nothing may stay in sight that was to be hidden.
      this.#model.clear();
    } else {
      this.#model.replace(pages);
      if (isFirst) for (const { node } of pages) if (node.parts > 0) this.#model.setOpen(node.path, true);
      for (const path of this.#model.missingContents) void this.#loadContent(path, 0);
    }
    this.#draw();
    this.find.again();
  }

  #setAvailable(isAvailable: boolean): void {
    if (isAvailable === this.#isAvailable) return;
    this.#isAvailable = isAvailable;
    if (!isAvailable) this.find.reset();
    this.onViewChange();
  }

  /** Null where the extension has no answer; what has gone is told by the pane's own notice. */
  async #ask<Answer>(ask: () => Promise<Answer | null>): Promise<Answer | null> {
    const task = this.#task;
    try {
      const answer = await ask();
      return task === this.#task ? answer : null;
    } catch (error) {
      this.#showError(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  #actions(): TreeActions {
    const { find } = this;
    const canReveal = this.#canReveal;
    return {
      rootLabel: (path) => this.#fields.find(({ field }) => field === path)?.label ?? path,
      get wanted() {
        return find.wanted;
      },
      isFound: (path) => find.isFound(path),
      canReveal,
      setRevealed: (path, shown, pressed) => {
        this.#send({ name: "setRevealed", path, shown }, pressed, shown ? "Shown" : "Hidden");
      },
      copy: (path, pressed) => {
        this.#send({ name: "copyValue", path }, pressed, "Copied");
      },
      goTo: (path) => void this.#goTo(path, true),
      setOpen: (path, isOpen) => void this.#setOpen(path, isOpen),
      loadParts: (path, from) => void this.#loadParts(path, from),
      loadContent: (path) => void this.#loadContent(path, this.#model.content(path)?.end ?? 0),
    };
  }

  async #setOpen(path: ValuePath, isOpen: boolean): Promise<void> {
    this.#model.setOpen(path, isOpen);
    this.#draw();
    if (!isOpen) return;
    const node = this.#model.node(path);
    if (node !== null && node.parts > 0 && !this.#model.loaded.some((page) => page.path === path)) {
      await this.#loadParts(path, 0);
    }
    if (node?.content && this.#model.content(path) === null) await this.#loadContent(path, 0);
  }

  async #loadParts(path: ValuePath, from: number): Promise<void> {
    const round = this.#round;
    const pages = await this.#ask(() => this.#requests.ask({ name: "values", wanted: [{ path, from }] }));
    if (pages === null || round !== this.#round) return;
    this.#model.add(pages);
    this.#draw();
  }

  async #loadContent(path: ValuePath, from: number): Promise<void> {
    const round = this.#round;
    const content = await this.#ask(() => this.#requests.ask({ name: "valueContent", path, from }));
    if (content === null || round !== this.#round) return;
    this.#model.addContent(path, content);
    this.#draw();
  }

  /** Opens all that is around a value and brings it into sight. */
  async #goTo(path: ValuePath, focus: boolean): Promise<void> {
    const round = this.#round;
    const missing = this.#model.missingAround(path);
    const pages =
      missing.length === 0 ? [] : await this.#ask(() => this.#requests.ask({ name: "values", wanted: missing }));
    if (pages === null || round !== this.#round) return;
    this.#model.add(pages);
    this.#model.openAround(path);
    this.#draw();
    [...this.#trees.values()].find((tree) => tree.has(path))?.goTo(path, focus);
  }

  #draw(): void {
    for (const tree of this.#trees.values()) tree.draw();
  }
}
