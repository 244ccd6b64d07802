/** The page of the detail pane: asks for the state, renders it, and sends what is pressed. It keeps no data of its own. */
import { isHostMessage, type DetailState, type PaneMessage, type PaneReference, type PaneRequest } from "../protocol";
import type { PaneControls } from "./parts";
import { Requests } from "./requests";
import { renderPane, updateTimes } from "./sections";

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
const unfolded = new Set<string>();
let shown: PaneReference | null = null;
let announced = "";

const controls: PaneControls = {
  send(request: PaneRequest, pressed: HTMLButtonElement, done?: string): void {
    pressed.setAttribute("aria-busy", "true");
    requests.send(request, (error) => {
      pressed.removeAttribute("aria-busy");
      if (error !== null) showError(error);
      else if (done !== undefined) showDone(pressed, done);
    });
  },
  isUnfolded: (what) => unfolded.has(what),
  setUnfolded(what, open) {
    if (open) unfolded.add(what);
    else unfolded.delete(what);
  },
};

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = event.data;
  if (!isHostMessage(message)) return;
  if (message.type === "state") show(message.state);
  else requests.settle(message);
});
setInterval(() => {
  updateTimes(pane);
}, timesInterval);
post({ type: "ready" });

function show(state: DetailState): void {
  const { reference } = state;
  const isOther = shown?.storeKey !== reference.storeKey || shown.id !== reference.id;
  if (isOther) unfolded.clear();
  shown = reference;
  host.setState(reference);
  const focused = document.activeElement?.id ?? "";
  const { scrollX, scrollY } = window;
  pane.replaceChildren(renderPane(state, controls));
  if (isOther) window.scrollTo(0, 0);
  else window.scrollTo(scrollX, scrollY);
  if (focused !== "") document.getElementById(focused)?.focus({ preventScroll: true });
  announce(state, isOther);
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
