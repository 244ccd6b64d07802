import { workspace, type Disposable, type TextDocumentContentProvider, type Uri } from "vscode";
import { rawScheme } from "../ids";
import { parseRecordUri, recordUri } from "../recordUris";
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
    const reference = parseRecordUri(uri);
    if (reference === null) return "This address names no record.";
    const record = await this.#service.rawRecord(reference.storeKey, reference.id);
    return record ?? "This record is no longer in the store.";
  }

  dispose(): void {
    this.#registration.dispose();
  }
}

export function rawUri(storeKey: string, id: string): Uri {
  return recordUri(rawScheme, shownId(id), { storeKey, id });
}
