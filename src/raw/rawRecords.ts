import { Uri, workspace, type Disposable, type TextDocumentContentProvider } from "vscode";
import { rawScheme } from "../ids";
import type { StoreService } from "../service/storeService";
import { shownId } from "../text/labels";

/** Records of files that are too big for an editor, as read-only documents: the line exactly as it stands in the file. */
export class RawRecords implements TextDocumentContentProvider, Disposable {
  readonly #service: StoreService;
  readonly #registration: Disposable;

  constructor(service: StoreService) {
    this.#service = service;
    this.#registration = workspace.registerTextDocumentContentProvider(rawScheme, this);
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const reference = parseReference(uri);
    if (reference === null) return "This address names no record.";
    const record = await this.#service.rawRecord(reference.storeKey, reference.id);
    return record ?? "This record is no longer in the store.";
  }

  dispose(): void {
    this.#registration.dispose();
  }
}

export function rawUri(storeKey: string, id: string): Uri {
  // Escaped by JSON, since an id may hold bytes that are not UTF-8 as lone surrogates, which no URI can carry.
  return Uri.from({
    scheme: rawScheme,
    path: `/${shownId(id).replaceAll("/", "_")}`,
    query: JSON.stringify([storeKey, id]),
  });
}

function parseReference(uri: Uri): { storeKey: string; id: string } | null {
  try {
    const value: unknown = JSON.parse(uri.query);
    if (!Array.isArray(value)) return null;
    const [storeKey, id] = value as unknown[];
    return typeof storeKey === "string" && typeof id === "string" ? { storeKey, id } : null;
  } catch {
    return null; // not JSON: someone else's address
  }
}
