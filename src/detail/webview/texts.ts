import { visibleRuns } from "../../text/visible";
import { element } from "./dom";

/** A text of a task's, with what would hide itself in it set apart and named. `restoreCopy` gives a copy the original. */
export function visible(text: string): (Node | string)[] {
  return visibleRuns(text).map(({ shown, hidden }) =>
    hidden === null
      ? shown
      : element("span", { class: "hidden-character", title: hidden.name, "data-original": hidden.original }, shown),
  );
}

/** Lets what is copied from the page by hand have the characters that symbols stand for. */
export function restoreCopy(event: ClipboardEvent): void {
  const selection = document.getSelection();
  if (selection === null || selection.rangeCount === 0 || event.clipboardData === null) return;
  const range = selection.getRangeAt(0);
  const within = range.commonAncestorContainer;
  const block = (within instanceof Element ? within : within.parentElement)?.closest("pre");
  // Across blocks the browser's own text is the better one: it knows where lines end.
  if (block === null || block === undefined) return;
  const copied = range.cloneContents();
  const symbols = copied.querySelectorAll<HTMLElement>(".hidden-character");
  if (symbols.length === 0) return;
  for (const symbol of symbols) symbol.textContent = symbol.dataset["original"] ?? "";
  event.clipboardData.setData("text/plain", copied.textContent);
  event.preventDefault();
}
