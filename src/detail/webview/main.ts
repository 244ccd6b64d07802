/** The page of the detail pane: asks for the state, renders it, and sends what is pressed. It keeps no data of its own. */
import {
  isHostMessage,
  type DetailState,
  type ExcerptView,
  type HostMessage,
  type PaneMessage,
  type PaneReference,
  type SimilarView,
} from "../protocol";
import { updateTimes, type PaneControls } from "./parts";
import { Patchwork } from "./patchwork";
import { Requests } from "./requests";
import { paneParts } from "./sections";
import { restoreCopy } from "./texts";
import { Values } from "./values";

/** How often "5 min ago" is brought up to date, in milliseconds. */
const timesInterval = 30_000;
/** How long a button says that it has done its work, in milliseconds. */
const doneTime = 1_500;

// What is kept is only which record this is: the extension restores the pane from it after a reload of the window.
const host = acquireVsCodeApi<PaneReference>();
const post = (message: PaneMessage): void => {
  host.postMessage(message);
};
const requests = new Requests(post);
const pane = byId("pane");
const announcements = byId("announcements");
const patchwork = new Patchwork(pane);
const unfolded = new Set<string>();
let shown: DetailState | null = null;
let excerpt: ExcerptView | null = null;
let similar: SimilarView | null = null;
let announced = "";

const send: PaneControls["send"] = (request, pressed, done) => {
  pressed.setAttribute("aria-busy", "true");
  requests.send(request, (error) => {
    pressed.removeAttribute("aria-busy");
    if (error !== null) showError(error);
    else if (done !== undefined) showDone(pressed, done);
  });
};
const controls: PaneControls = {
  send,
  values: new Values(requests, send, showError),
  isUnfolded: (what) => unfolded.has(what),
  setUnfolded(what, open) {
    if (open) unfolded.add(what);
    else unfolded.delete(what);
  },
};

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  if (isHostMessage(event.data)) receive(event.data);
});
document.addEventListener("copy", restoreCopy);
setInterval(() => {
  updateTimes(pane);
}, timesInterval);
post({ type: "ready" });

function receive(message: HostMessage): void {
  switch (message.type) {
    case "state":
      showState(message.state);
      break;
    case "excerpt":
      if (!isShown(message.reference)) return;
      excerpt = message.excerpt;
      render();
      break;
    case "similar":
      if (!isShown(message.reference)) return;
      similar = message.similar;
      render();
      break;
    case "reply":
      requests.settle(message);
  }
}

function isShown({ storeKey, id }: PaneReference): boolean {
  return shown?.reference.storeKey === storeKey && shown.reference.id === id;
}

function showState(state: DetailState): void {
  const { reference } = state;
  const isOther = !isShown(reference);
  if (isOther) {
    unfolded.clear();
    patchwork.forget();
    excerpt = null;
    similar = null;
  }
  shown = state;
  host.setState(reference);
  render();
  if (isOther) window.scrollTo(0, 0);
  announce(state, isOther);
}

function render(): void {
  if (shown === null) return;
  const focused = document.activeElement;
  pane.classList.toggle("gone", shown.kind !== "bare" && !shown.present);
  patchwork.show(paneParts({ state: shown, excerpt, similar }, controls));
  if (focused === null || focused === document.body || focused === document.activeElement) return;
  document.getElementById(focused.id)?.focus({ preventScroll: true });
  // A button that is no longer there, or can no longer be pressed: whoever uses the keyboard goes on from the top.
  if (document.activeElement === document.body) byId("title").focus({ preventScroll: true });
}

/** A reader who cannot see the pane hears which task it shows, and what has happened to it. */
function announce(state: DetailState, isOther: boolean): void {
  const parts = [...(isOther ? [state.title] : []), ...state.notices.map((notice) => notice.text)];
  const text = parts.join(". ");
  if (text === announced && !isOther) return;
  announced = text;
  announcements.textContent = text;
}

function showError(text: string): void {
  announcements.textContent = text;
  const line = document.createElement("p");
  line.className = "notice warning";
  line.textContent = text;
  pane.querySelector("header")?.after(line);
}

function showDone(pressed: HTMLButtonElement, text: string): void {
  announcements.textContent = text;
  const symbol = pressed.querySelector(".codicon-copy");
  if (symbol === null) return;
  symbol.classList.replace("codicon-copy", "codicon-check");
  setTimeout(() => symbol.classList.replace("codicon-check", "codicon-copy"), doneTime);
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}
