import { basename, dirname, resolve } from "node:path";
import { QuickPickItemKind, Uri, window, workspace, type QuickPickItem } from "vscode";
import type { SendTarget } from "../service/sendProtocol";
import type { StoreService } from "../service/storeService";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { counted, withoutLinks } from "../text/labels";
import { normalizePrefix } from "../storage/naming";

/** A store that was chosen to send to. */
export interface ChosenTarget extends SendTarget {
  /** For people: the open store's name, or the directory. */
  readonly name: string;
  /** Why nothing can be sent there; null where it can. */
  readonly obstacle: string | null;
  readonly networkFileSystem: string | null;
  /** Whether there is a file of this store. */
  readonly exists: boolean;
}

type Place = SendTarget & { readonly isNil: boolean };

interface StorePick extends QuickPickItem {
  /** Null to ask for a directory. */
  readonly place: Place | null;
}

/** Rage's own. */
const defaultPrefix = "deferred-";

/** Asks which store tasks of these are to be sent to; undefined where the user thought better of it. Rejects with ServiceErrors. */
export async function chooseTarget(
  service: StoreService,
  registry: StoreRegistry,
  sources: readonly StoreModel[],
): Promise<ChosenTarget | undefined> {
  const others = registry.stores.filter((store) => !sources.includes(store));
  const picks: StorePick[] = [
    ...others.map(storePick),
    ...(others.length === 0 ? [] : [{ label: "", kind: QuickPickItemKind.Separator, place: null }]),
    { label: "$(folder-opened) Another Storage Directory…", place: null },
  ];
  const placeHolder = "Send to which store? Nothing changes until you have confirmed it.";
  const picked = await window.showQuickPick(picks, { placeHolder, matchOnDescription: true, matchOnDetail: true });
  if (picked === undefined) return undefined;
  const place = picked.place ?? (await chooseDirectory(service, sources));
  if (place === undefined) return undefined;
  const open = registry.stores.find(({ description }) => isAt(description.target, place));
  const name = open?.name ?? shortPath(place.path);
  if (place.isNil || open?.description.target.backend === "nil") {
    const obstacle = "its application is configured with “config.deferred.backend = nil” and keeps no tasks";
    return { ...place, name, obstacle, networkFileSystem: null, exists: false };
  }
  const { readOnly, ...look } = await service.lookAtTarget({ path: place.path, prefix: place.prefix });
  return { ...place, name, obstacle: readOnly, ...look };
}

function storePick(store: StoreModel): StorePick {
  const { path, prefix, backend } = store.description.target;
  const isNil = backend === "nil";
  const state = isNil
    ? "keeps no tasks"
    : `${counted(store.taskCount, "dead task")}${store.status.readOnly === null ? "" : " · read-only"}`;
  return {
    label: `$(archive) ${store.name}`,
    description: state,
    detail: `${shortPath(path)} · ${normalizePrefix(prefix)}`,
    place: { path, prefix, isNil },
  };
}

/** The storage directory itself, or the folder of an application. */
async function chooseDirectory(service: StoreService, sources: readonly StoreModel[]): Promise<Place | undefined> {
  const [source] = sources;
  const start = source === undefined ? {} : { defaultUri: Uri.file(dirname(source.description.target.path)) };
  const chosen = await window.showOpenDialog({
    canSelectFolders: true,
    canSelectFiles: false,
    canSelectMany: false,
    openLabel: "Send Here",
    title: "Choose a Storage Directory, or the Folder of a Rage Application",
    ...start,
  });
  const path = chosen?.[0]?.fsPath;
  if (path === undefined) return undefined;
  const here = (await service.prefixesIn(path)).map((prefix) => ({ path, prefix, isNil: false }));
  const found = here.length > 0 ? here : await applicationsIn(service, path);
  if (found.length === 0) return await askForPrefix(path);
  if (found.length === 1) return found[0];
  const picks = found.map((place) => ({
    label: `$(archive) ${normalizePrefix(place.prefix)}`,
    description: place.isNil ? "keeps no tasks" : "",
    detail: shortPath(place.path),
    place,
  }));
  const placeHolder = `${basename(path)} has several stores. Send to which one?`;
  return (await window.showQuickPick(picks, { placeHolder, matchOnDetail: true }))?.place;
}

async function applicationsIn(service: StoreService, folder: string): Promise<Place[]> {
  const stores = await service.discover(folder);
  return stores.map(({ path, prefix, backend }) => ({ path, prefix, isNil: backend === "nil" }));
}

async function askForPrefix(path: string): Promise<Place | undefined> {
  const prefix = await window.showInputBox({
    title: "Send to Another Store",
    value: defaultPrefix,
    prompt: `${shortPath(path)} has no tasks yet. With which prefix are its files to be named? Rage's own is ${defaultPrefix}`,
    ignoreFocusOut: true,
    validateInput: (text) =>
      /^[^./\\\s][^/\\]*$/.test(text) ? undefined : "A prefix is the beginning of a file's name, such as deferred-",
  });
  return prefix === undefined ? undefined : { path, prefix: normalizePrefix(prefix), isNil: false };
}

function isAt(target: SendTarget, { path, prefix }: SendTarget): boolean {
  return resolve(target.path) === resolve(path) && normalizePrefix(target.prefix) === normalizePrefix(prefix);
}

export function shortPath(path: string): string {
  return withoutLinks(workspace.asRelativePath(path, true));
}
