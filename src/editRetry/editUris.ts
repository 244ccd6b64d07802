import type { Uri } from "vscode";
import { editDiffScheme, editScheme } from "../ids";
import { parseRecordUri, recordUri } from "../recordUris";
import { oneLine, shownId } from "../text/labels";

/** A task by its store's key and its id. */
export interface TaskAddress {
  readonly storeKey: string;
  readonly id: string;
}

/** The document in which a task is edited: its name is the class's, the folder before it tells tasks of one class apart. */
export function editUri(address: TaskAddress, taskClass: string): Uri {
  const uri = recordUri(editScheme, `${oneLine(taskClass, 80)}.rb`, address);
  return uri.with({ path: `/${shownId(address.id).replaceAll("/", "_")}${uri.path}` });
}

/** What the task was, or is to be, as a document to compare. */
export function sideUri(edited: Uri, side: "before" | "after"): Uri {
  return edited.with({ scheme: editDiffScheme, fragment: side });
}

/** The document in which that is edited of which this is a side; any other address as it is. */
export function editedUri(uri: Uri): Uri {
  return uri.scheme === editDiffScheme ? uri.with({ scheme: editScheme, fragment: "" }) : uri;
}

/** The task that is edited in such a document or compared in its sides; null for any other address. */
export function taskOfUri(uri: Uri): TaskAddress | null {
  return uri.scheme === editScheme || uri.scheme === editDiffScheme ? parseRecordUri(uri) : null;
}
