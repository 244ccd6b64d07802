import {
  CompletionItem,
  CompletionItemKind,
  Hover,
  languages,
  MarkdownString,
  type CompletionItemProvider,
  type Disposable,
  type HoverProvider,
  type Position,
  type TextDocument,
} from "vscode";
import type { Placeholder } from "../edit/protocol";
import { editScheme } from "../ids";
import { rangeOf, type EditReader } from "./editReader";

/** Tells what the placeholders of an edited task stand for, and completes their names. */
export class PlaceholderHelp implements HoverProvider, CompletionItemProvider, Disposable {
  readonly #reader: EditReader;
  readonly #disposables: Disposable[];

  constructor(reader: EditReader) {
    this.#reader = reader;
    const documents = { scheme: editScheme };
    this.#disposables = [
      languages.registerHoverProvider(documents, this),
      languages.registerCompletionItemProvider(documents, this),
    ];
  }

  async provideHover(document: TextDocument, position: Position): Promise<Hover | null> {
    const reading = await this.#reader.read(document);
    const use = reading?.read.uses.find(({ range }) => rangeOf(range).contains(position));
    const placeholder = reading?.edit.task.placeholders.find(({ name }) => name === use?.name);
    if (use === undefined || placeholder === undefined) return null;
    return new Hover(explanation(placeholder), rangeOf(use.range));
  }

  async provideCompletionItems(document: TextDocument, position: Position): Promise<CompletionItem[]> {
    const before = document.lineAt(position.line).text.slice(0, position.character);
    if (/^\s*#/.test(before)) return [];
    const reading = await this.#reader.read(document);
    return (reading?.edit.task.placeholders ?? []).map((placeholder) => {
      const item = new CompletionItem(placeholder.name, CompletionItemKind.Constant);
      item.detail = placeholder.description;
      item.documentation = explanation(placeholder);
      return item;
    });
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

/** The description is the task's data: shown as code, in which nothing is a link. */
function explanation({ kind, description }: Placeholder): MarkdownString {
  if (kind === "secret") {
    return new MarkdownString("A secret. It is retried as it is in the store, and not shown here.");
  }
  return new MarkdownString("Stands for this value, which is retried as it is in the store:").appendCodeblock(
    description,
    "ruby",
  );
}
