import { formatCount } from "../../text/labels";
import { pageSize, type ValueNode, type ValuePath } from "../../service/valueProtocol";
import { button, element, icon } from "./dom";
import { visible } from "./texts";
import type { Row } from "./valueModel";

/** What the lines of a tree can do. */
export interface RowActions {
  /** What a root is called. */
  rootLabel(path: ValuePath): string;
  /** What is looked for, in lower case; empty for nothing. */
  readonly wanted: string;
  isFound(path: ValuePath): boolean;
  /** Whether hidden values can be revealed: not when the task has gone. */
  readonly canReveal: boolean;
  setRevealed(path: ValuePath, shown: boolean, pressed: HTMLButtonElement): void;
  copy(path: ValuePath, pressed: HTMLButtonElement): void;
  goTo(path: ValuePath): void;
}

/** The element of a line, without the state of the tree around it. */
export function rowElement(row: Row, actions: RowActions): HTMLElement {
  const made = element("div", { id: row.id, role: "treeitem", class: "value-row", "aria-level": String(row.level) });
  made.style.setProperty("--level", String(row.level - 1));
  switch (row.kind) {
    case "value":
      fillValue(made, row, actions);
      break;
    case "more":
      made.classList.add("value-more");
      made.append(twistie(null), element("span", { class: "link" }, moreText(row)));
      break;
    case "content":
      fillContent(made, row);
      break;
  }
  return made;
}

function fillValue(made: HTMLElement, row: Extract<Row, { kind: "value" }>, actions: RowActions): void {
  const { node, isOpen } = row;
  made.setAttribute("aria-setsize", String(row.siblings));
  made.setAttribute("aria-posinset", String(row.position));
  if (isOpen !== null) made.setAttribute("aria-expanded", String(isOpen));
  const label = node.label === "" ? actions.rootLabel(node.path) : node.label;
  const isFound = actions.isFound(node.path);
  made.classList.toggle("found", isFound);
  const marked = (text: string): (Node | string)[] => (isFound ? markedText(text, actions.wanted) : visible(text));
  // What the line says is its name; its buttons have names of their own.
  const line = element(
    "span",
    { class: "value-line", id: `line-${node.path}` },
    element("span", { class: node.label === "" ? "value-root" : "value-name" }, ...marked(label)),
    " ",
    element("span", { class: `value-preview ${node.kind}`, title: node.preview }, ...marked(node.preview)),
  );
  made.setAttribute("aria-labelledby", line.id);
  if (node.type !== "") line.append(" ", element("span", { class: "value-type" }, ...marked(node.type)));
  const notes = [...node.notes, ...(node.isCycle ? ["within itself"] : [])].join(" · ");
  if (notes !== "") line.append(" ", element("span", { class: "value-note" }, ...visible(notes)));
  if (node.same !== null) line.append(" ", sameButton(node.path, node.same, actions));
  made.append(twistie(isOpen), line, rowTools(label, node, actions));
}

function twistie(isOpen: boolean | null): HTMLElement {
  if (isOpen === null) return element("span", { class: "twistie" });
  const made = icon(isOpen ? "chevron-down" : "chevron-right");
  made.classList.add("twistie");
  return made;
}

function sameButton(path: ValuePath, same: NonNullable<ValueNode["same"]>, actions: RowActions): HTMLButtonElement {
  const made = button({
    id: `same-${path}`,
    label: `same object as ${same.text}`,
    className: "link value-same",
    onClick: () => {
      actions.goTo(same.path);
    },
  });
  made.title = "Go to its first place";
  return made;
}

function rowTools(label: string, node: ValueNode, actions: RowActions): HTMLElement {
  const tools = element("span", { class: "value-tools" });
  if (node.secret !== "none") {
    const isHidden = node.secret === "hidden";
    tools.append(
      button({
        id: `reveal-${node.path}`,
        label: `${isHidden ? "Reveal" : "Hide"} ${label}`,
        iconName: isHidden ? "eye" : "eye-closed",
        iconOnly: true,
        className: "icon-button",
        disabled: isHidden && !actions.canReveal,
        onClick: (pressed) => {
          actions.setRevealed(node.path, isHidden, pressed);
        },
      }),
    );
  }
  tools.append(
    button({
      id: `copy-value-${node.path}`,
      label: `Copy ${label}`,
      iconName: "copy",
      iconOnly: true,
      className: "icon-button",
      onClick: (pressed) => {
        actions.copy(node.path, pressed);
      },
    }),
  );
  return tools;
}

function fillContent(made: HTMLElement, { content }: Extract<Row, { kind: "content" }>): void {
  made.classList.add("value-content");
  const { kind, text, end, size, more } = content;
  made.append(element("pre", { class: kind, tabindex: "0" }, ...(kind === "text" ? visible(text) : [text])));
  if (!more && end >= size) return;
  const unit = kind === "bytes" ? "bytes" : "characters";
  const action =
    kind === "bytes" ? `Show more of ${formatCount(size)} bytes` : `Show all ${formatCount(size)} characters`;
  const rest = `Cut after ${formatCount(end)} of ${formatCount(size)} ${unit}. The raw storage file has all of it.`;
  made.append(element("span", { class: more ? "link" : "value-note" }, more ? action : rest));
}

function moreText({ from, total }: { readonly from: number; readonly total: number }): string {
  const left = total - from;
  return `Show ${formatCount(Math.min(pageSize, left))} more of ${formatCount(total)}`;
}

/** The text with each place of what is looked for set apart. */
function markedText(text: string, wanted: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  const lower = text.toLowerCase();
  // A few characters grow when they become lower case, and places would not be theirs any more.
  if (wanted === "" || lower.length !== text.length) return visible(text);
  let end = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, end)) {
    nodes.push(...visible(text.slice(end, at)), element("mark", {}, ...visible(text.slice(at, at + wanted.length))));
    end = at + wanted.length;
  }
  return [...nodes, ...visible(text.slice(end))];
}
