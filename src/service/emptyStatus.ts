import type { StoreStatus } from "./protocol";

/** The status of a store of which nothing is known yet. */
export const emptyStatus: StoreStatus = {
  phase: "indexing",
  exists: false,
  bytesRead: 0,
  bytesTotal: 0,
  taskCount: 0,
  unreadable: [],
  damage: { lines: 0, bytes: 0, tornTailBytes: 0 },
  readOnly: null,
  otherVersions: [],
  networkFileSystem: null,
  problem: null,
};
