import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join, relative } from "node:path";

/** What a directory holds: paths below it, with the content of files and null for directories. */
export type DiskImage = ReadonlyMap<string, Buffer | null>;

/** A file or directory, whatever its names. */
export interface DiskNode {
  readonly isDirectory: boolean;
  /** What a power loss leaves of it for certain. */
  durable: Buffer;
  /** What it held when its last name went; null as long as it has one. */
  last: Buffer | null;
}

/** A change to a directory's entries that was not made durable yet. A rename happens as one. */
interface EntryChange {
  readonly directory: string;
  readonly removed: string | null;
  readonly added: string | null;
  readonly node: DiskNode;
}

/**
 * A real directory, with a record of what a loss of power would leave of it: a file's content as of its last fsync, a
 * directory's entries as of the directory's last fsync, and, of everything since, whatever the disk happens to have written.
 */
export class FaultyDisk {
  readonly root: string;
  #current = new Map<string, DiskNode>();
  #durable = new Map<string, DiskNode>();
  #pending: EntryChange[] = [];

  /** All that `root` holds counts as durable. */
  constructor(root: string) {
    this.root = root;
    this.#current.set(".", { isDirectory: true, durable: Buffer.alloc(0), last: null });
    for (const [path, content] of readImage(root)) {
      const node = { isDirectory: content === null, durable: content ?? Buffer.alloc(0), last: null };
      this.#current.set(path, node);
      this.#durable.set(path, node);
    }
  }

  /** The same in another directory, with the same things not yet durable. */
  cloneTo(root: string): FaultyDisk {
    const clone = new FaultyDisk(root);
    cpSync(this.root, root, { recursive: true, preserveTimestamps: true });
    const copies = new Map<DiskNode, DiskNode>();
    const copyOf = (node: DiskNode): DiskNode => {
      const copy = copies.get(node) ?? { ...node };
      copies.set(node, copy);
      return copy;
    };
    clone.#current = new Map([...this.#current].map(([path, node]) => [path, copyOf(node)]));
    clone.#durable = new Map([...this.#durable].map(([path, node]) => [path, copyOf(node)]));
    clone.#pending = this.#pending.map((change) => ({ ...change, node: copyOf(change.node) }));
    return clone;
  }

  node(path: string): DiskNode | undefined {
    return this.#current.get(this.#name(path));
  }

  created(path: string, isDirectory: boolean): DiskNode {
    const node = { isDirectory, durable: Buffer.alloc(0), last: null };
    const name = this.#name(path);
    this.#current.set(name, node);
    this.#change({ directory: dirname(name), removed: null, added: name, node });
    return node;
  }

  /** Before it happens, while the content can still be read. */
  removing(path: string): void {
    const name = this.#name(path);
    const node = this.#forget(name);
    if (node !== undefined) this.#change({ directory: dirname(name), removed: name, added: null, node });
  }

  /** Before it happens. */
  renaming(from: string, to: string): void {
    const [source, target] = [this.#name(from), this.#name(to)];
    this.#forget(target);
    const node = this.#current.get(source);
    if (node === undefined) throw new Error(`${from} is not known to the disk`);
    this.#current.delete(source);
    this.#current.set(target, node);
    this.#change({ directory: dirname(target), removed: source, added: target, node });
  }

  /** A file's content, or a directory's entries, have become durable. */
  synced(node: DiskNode, path: string): void {
    if (!node.isDirectory) {
      node.durable = node.last ?? readFileSync(path);
      return;
    }
    const name = this.#name(path);
    const [done, left] = [true, false].map((isDone) =>
      this.#pending.filter(({ directory }) => (directory === name) === isDone),
    ) as [EntryChange[], EntryChange[]];
    this.#durable = applied(this.#durable, done);
    this.#pending = left;
  }

  /** The directory as a process finds it when power was not lost. */
  image(): DiskImage {
    return readImage(this.root);
  }

  /**
   * Everything that a loss of power can leave: each combination of the entry changes that were not made durable, with what
   * was written and not synced kept, lost, cut in the middle, or zeroes in its place.
   */
  afterPowerLoss(): DiskImage[] {
    const images = new Map<string, DiskImage>();
    const contents = new Map<DiskNode, Buffer>();
    for (const [path, node] of this.#current) {
      if (!node.isDirectory) contents.set(node, readFileSync(join(this.root, path)));
    }
    const count = 2 ** this.#pending.length;
    for (let choice = 0; choice < count; choice++) {
      const entries = applied(
        this.#durable,
        this.#pending.filter((_, index) => (choice & (1 << index)) !== 0),
      );
      for (const fate of ["kept", "lost", "cut", "zeroed"] as const) {
        const image = new Map<string, Buffer | null>();
        for (const [path, node] of [...entries].sort(([left], [right]) => (left < right ? -1 : 1))) {
          // What stands in a directory that is not there is not there either.
          if (dirname(path) !== "." && !image.has(dirname(path))) continue;
          image.set(path, node.isDirectory ? null : afterLoss(node.durable, contents.get(node) ?? node.last!, fate));
        }
        images.set(imageKey(image), image);
      }
    }
    return [...images.values()];
  }

  /** Equal for disks that hold the same and can lose the same. */
  fingerprint(): string {
    const hash = createHash("sha1").update(imageKey(this.image()));
    for (const [path, node] of [...this.#current, ...this.#durable]) hash.update(`\0${path}\0`).update(node.durable);
    for (const { removed, added, node } of this.#pending) {
      hash.update(`\0${removed ?? ""}\0${added ?? ""}\0`).update(node.durable);
    }
    return hash.digest("hex");
  }

  #change(change: EntryChange): void {
    // The lock among our own processes is worth nothing after a crash, there or not.
    if (!(change.added ?? change.removed ?? "").endsWith(".busy")) this.#pending.push(change);
  }

  #forget(name: string): DiskNode | undefined {
    const node = this.#current.get(name);
    if (node !== undefined && !node.isDirectory) node.last = readFileSync(join(this.root, name));
    this.#current.delete(name);
    return node;
  }

  #name(path: string): string {
    return relative(this.root, path) || ".";
  }
}

function applied(entries: ReadonlyMap<string, DiskNode>, changes: readonly EntryChange[]): Map<string, DiskNode> {
  const result = new Map(entries);
  for (const { removed, added, node } of changes) {
    if (removed !== null) result.delete(removed);
    if (added !== null) result.set(added, node);
  }
  return result;
}

function afterLoss(durable: Buffer, current: Buffer, fate: "kept" | "lost" | "cut" | "zeroed"): Buffer {
  if (fate === "kept") return current;
  if (fate === "lost") return durable;
  let same = 0;
  while (same < durable.length && same < current.length && durable[same] === current[same]) same += 1;
  const rest = current.length - same;
  if (fate === "cut") return current.subarray(0, same + Math.floor(rest / 2));
  return Buffer.concat([current.subarray(0, same), Buffer.alloc(rest)]);
}

export function readImage(root: string): DiskImage {
  const image = new Map<string, Buffer | null>();
  if (!existsSync(root)) return image;
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).sort()) {
    image.set(name, statSync(join(root, name)).isDirectory() ? null : readFileSync(join(root, name)));
  }
  return image;
}

export function imageKey(image: DiskImage): string {
  const hash = createHash("sha1");
  for (const [path, content] of image) {
    // As old as any other: locks are taken over.
    if (path.endsWith(".busy")) continue;
    hash.update(`${path}\0${content === null ? "directory" : content.length}\0`).update(content ?? "");
  }
  return hash.digest("hex");
}

/** Puts an image in the place of whatever `root` holds, as a machine finds it when it starts. */
export function writeImage(root: string, image: DiskImage): void {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  for (const [path, content] of image) {
    if (content === null) {
      mkdirSync(join(root, path));
    } else {
      writeFileSync(join(root, path), content);
      chmodSync(join(root, path), 0o644);
    }
  }
  letLocksGrowStale(root);
}

/** As the passing of ten seconds does for the lock that a dead process of ours has left. */
export function letLocksGrowStale(root: string): void {
  const longAgo = Date.now() / 1000 - 60;
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".busy")) utimesSync(join(root, name), longAgo, longAgo);
  }
}
