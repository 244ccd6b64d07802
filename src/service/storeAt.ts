import { resolve } from "node:path";
import { DeadTaskStore, normalizePrefix, type StorageEnvironment } from "../storage";
import type { SendTarget } from "./sendProtocol";

/** The store that a target names: the open one, where it is open. */
export function storeAt(
  environment: StorageEnvironment,
  { path, prefix }: SendTarget,
  open: readonly DeadTaskStore[],
): DeadTaskStore {
  const [directory, wanted] = [resolve(path), normalizePrefix(prefix)];
  const found = open.find(({ names }) => names.directory === directory && names.prefix === wanted);
  return found ?? new DeadTaskStore({ path: directory, prefix: wanted }, environment);
}
