/** The page of the raw view: a list of lines, the selected one below it, and what is wrong with the file above. */
import { isRawHostMessage, type RawPageMessage } from "../protocol";
import { RawPage } from "./page";
import { parseMemory, type Memory } from "./memory";
import { Requests } from "./requests";

const host = acquireVsCodeApi<Memory>();
const post = (message: RawPageMessage): void => {
  host.postMessage(message);
};
const requests = new Requests(post);
const page = new RawPage(byId("page"), byId("announcements"), requests, parseMemory(host.getState()), (memory) => {
  host.setState(memory);
});

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = event.data;
  if (!isRawHostMessage(message)) return;
  if (message.type === "state") page.setState(message.state);
  else if (message.type === "reply") requests.settle(message);
  else if (message.generation === requests.generation) void page.go(message.line);
});
post({ type: "ready" });

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}
