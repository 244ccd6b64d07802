import { join } from "node:path";
import type { FileSystem } from "../storage";
import { parseLogLine } from "../storage/frames";
import { timeOfId, type StoreNames } from "../storage/naming";
import { contextOrNull, logNames, readLog } from "../storage/pendingTasks";
import type { PendingLog, PendingSummary } from "./protocol";

/** Of each log; what is more is counted. */
const mostTasks = 500;

/**
 * The logs of a store with the tasks that wait in them, in name order; logs in which nothing waits are left out. Reads, and
 * neither locks nor changes anything: a worker that finds a log locked for a moment would pass it over.
 */
export function readPendingLogs(fileSystem: FileSystem, names: StoreNames): PendingLog[] {
  const locks = heldLocks(fileSystem);
  return logNames(fileSystem, names)
    .map((name) => readPendingLog(fileSystem, join(names.directory, name), name, locks))
    .filter((log) => log !== null);
}

/** A task that waits in any of the logs; null where it waits in none. */
export function findPendingTask(fileSystem: FileSystem, names: StoreNames, id: string): PendingSummary | null {
  let found: PendingSummary | null = null;
  for (const name of logNames(fileSystem, names)) {
    readLog(fileSystem, join(names.directory, name), (lines) => {
      for (const line of lines) {
        const frame = parseLogLine(line.bytes, line.rest?.payloadChecksum);
        if (frame?.id !== id) continue;
        const dumped = frame.operation === "rem" || line.rest !== null ? null : Buffer.from(frame.dumped);
        found = frame.operation === "rem" ? null : summaryOf(id, frame.publishAt, dumped);
      }
    });
  }
  return found;
}

/** What tells, without reading the logs, whether they changed. */
export function pendingFingerprint(fileSystem: FileSystem, names: StoreNames): string {
  const parts = logNames(fileSystem, names).map((name) => {
    try {
      const { identity, size, mtimeMs } = fileSystem.stat(join(names.directory, name));
      return `${name} ${identity} ${size} ${mtimeMs}`;
    } catch {
      // Merged by a worker since it was listed.
      return name;
    }
  });
  const inodes = heldLocks(fileSystem);
  const held = inodes === null ? "" : parts.map((part) => (inodes.has(inodeOf(part.split(" ")[1] ?? "")) ? "1" : "0"));
  return JSON.stringify([parts, held]);
}

function readPendingLog(
  fileSystem: FileSystem,
  path: string,
  name: string,
  locks: ReadonlyMap<string, number> | null,
): PendingLog | null {
  return readLog(fileSystem, path, (lines, { identity }) => {
    const waiting = new Map<string, { readonly publishAt: number | null; readonly dumped: Buffer | null }>();
    for (const line of lines) {
      const frame = parseLogLine(line.bytes, line.rest?.payloadChecksum);
      if (frame === null) continue;
      if (frame.operation === "rem") waiting.delete(frame.id);
      else {
        const isKept = line.rest === null && waiting.size < mostTasks;
        const dumped = isKept ? Buffer.from(frame.dumped) : null;
        waiting.set(frame.id, { publishAt: frame.publishAt, dumped });
      }
    }
    if (waiting.size === 0) return null;
    const shown = [...waiting].slice(0, mostTasks);
    const holder = locks?.get(inodeOf(identity));
    return {
      name,
      worker: locks === null ? "unknown" : holder === undefined ? "none" : { processId: holder },
      tasks: shown.map(([id, { publishAt, dumped }]) => summaryOf(id, publishAt, dumped)),
      count: waiting.size,
    };
  });
}

function summaryOf(id: string, publishAt: number | null, dumped: Buffer | null): PendingSummary {
  const context = dumped === null ? null : contextOrNull(dumped);
  return {
    id,
    taskClass: context?.taskClass ?? null,
    attempts: context?.attempts ?? null,
    enqueuedAt: timeOfId(id),
    publishAt,
  };
}

/**
 * Which files are held by `flock`, by inode, and by which process: from Linux's list of locks, since to try the lock would be to
 * hold it. Null where there is no such list. A worker in another container is not in it.
 */
function heldLocks(fileSystem: FileSystem): Map<string, number> | null {
  let text: string;
  try {
    text = fileSystem.readFile("/proc/locks").toString("latin1");
  } catch {
    // Another operating system, or a process that may not read it: then nobody knows.
    return null;
  }
  const held = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, processId, inode] = /^\d+: FLOCK\s+\S+\s+WRITE\s+(-?\d+)\s+\w+:\w+:(\d+) /.exec(line) ?? [];
    if (processId !== undefined && inode !== undefined) held.set(inode, Number(processId));
  }
  return held;
}

/** The inode of `FileStat.identity`. The device is not compared: some file systems give the list another one. */
function inodeOf(identity: string): string {
  return identity.slice(identity.indexOf(":") + 1);
}
