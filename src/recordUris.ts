import { Uri } from "vscode";

/** A record by its store's key and its id. */
interface RecordAddress {
  readonly storeKey: string;
  readonly id: string;
}

/** The address of a document about a record. `label`: what the editor calls it. */
export function recordUri(scheme: string, label: string, { storeKey, id }: RecordAddress): Uri {
  // Escaped by JSON, since an id may hold bytes that are not UTF-8 as lone surrogates, which no URI can carry.
  return Uri.from({ scheme, path: `/${label.replaceAll("/", "_")}`, query: JSON.stringify([storeKey, id]) });
}

/** The record of such an address; null for any other. */
export function parseRecordUri(uri: Uri): RecordAddress | null {
  try {
    const value: unknown = JSON.parse(uri.query);
    if (!Array.isArray(value)) return null;
    const [storeKey, id] = value as unknown[];
    return typeof storeKey === "string" && typeof id === "string" ? { storeKey, id } : null;
  } catch {
    return null; // not JSON: someone else's address
  }
}
