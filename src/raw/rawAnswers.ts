import { formatBytes, shownId } from "../text/labels";
import type { StoreService } from "../service/storeService";
import { maskedNames } from "../settings";
import type { StoreModel } from "../stores/storeModel";
import type { RawPageRequest } from "./protocol";
import type { RawDocument } from "./rawDocument";

/** Bytes of a line that is copied: more is for a file, not for the clipboard. */
const longestCopy = 1 << 20;

/** What answering the page takes. */
export interface AnswerServices {
  readonly service: StoreService;
  readonly document: RawDocument;
  readonly showTask: (store: StoreModel, id: string) => Promise<void>;
  readonly copy: (text: string) => PromiseLike<void>;
  readonly openText: (line: number | null) => Promise<void>;
  readonly openHex: () => Promise<void>;
}

/** Answers one request of the page, with what `RawPageRequests` says. Throws what the user is to read. */
export async function answerPage(
  request: RawPageRequest,
  generation: number,
  services: AnswerServices,
): Promise<unknown> {
  const { service, document } = services;
  const { key } = document;
  if (key === null) throw new Error("The store of this file is not open yet; try again.");
  switch (request.name) {
    case "rows":
      return service.rawRows(key, generation, ...request.parameters);
    case "find":
      return service.findRawLine(key, generation, ...request.parameters);
    case "line": {
      const [line, reveal] = request.parameters;
      return service.rawLine(key, generation, line, { reveal, maskedNames: maskedNames() });
    }
    case "bytes": {
      const bytes = await service.rawBytes(key, generation, ...request.parameters);
      return bytes === null ? null : Buffer.from(bytes).toString("latin1");
    }
    case "copy":
      await services.copy(await textToCopy(request.parameters, generation, key, services));
      return null;
    case "showTask": {
      const id = await idOf(request.parameters[0], generation, key, service);
      const { store } = document;
      if (store === undefined) throw new Error(notOpen);
      const isKnown = store.task(id) !== undefined || store.isUnreadable(id);
      if (!isKnown) throw new Error("The list does not have this task yet; try again in a moment.");
      await services.showTask(store, id);
      return null;
    }
    case "openText":
      await services.openText(request.parameters[0]);
      return null;
    case "openHex":
      await services.openHex();
      return null;
    case "setStopped":
      document.setStopped(request.parameters[0]);
      return null;
  }
}

const changed = "The file has just changed; try again.";
const notOpen =
  "The store of this file is not among those of this window. Open its folder, or name it in the setting deadTasks.stores.";

async function textToCopy(
  [what, line]: Extract<RawPageRequest, { name: "copy" }>["parameters"],
  generation: number,
  key: string,
  { service }: AnswerServices,
): Promise<string> {
  if (what === "id") return shownId(await idOf(line, generation, key, service));
  // Masked in full: of its record nothing is copied.
  const found = await service.rawLine(key, generation, line, { reveal: false, maskedNames: [] });
  if (found === null) throw new Error(changed);
  const { offset, length } = found.row;
  if (what === "offset") return String(offset);
  if (length > longestCopy) {
    throw new Error(`The line has ${formatBytes(length)}, too much for the clipboard.`);
  }
  const bytes = await service.rawBytes(key, generation, line, 0, length);
  if (bytes === null) throw new Error(changed);
  // The escaped form is ASCII; stray bytes of a damaged line stand as Latin-1, as in the view.
  return Buffer.from(bytes).toString("latin1").replace(/\n$/, "");
}

async function idOf(line: number, generation: number, key: string, service: StoreService): Promise<string> {
  const found = await service.rawLine(key, generation, line, { reveal: false, maskedNames: [] });
  if (found === null) throw new Error(changed);
  if (found.id === null) throw new Error("This line has no id.");
  return found.id;
}
