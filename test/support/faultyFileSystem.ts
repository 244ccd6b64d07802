import { constants } from "node:fs";
import { nodeFileSystem, type FileSystem } from "../../src/storage";
import type { DiskNode, FaultyDisk } from "./faultyDisk";
import { systemError, type FileCall } from "./fileSystems";

/** What goes wrong at a call, counted from 0. */
export type Fault =
  /** The operating system refuses this one. */
  | { readonly kind: "refused"; readonly at: number; readonly code: "EIO" | "EACCES" | "ENOSPC" }
  /** The disk takes this part of a write, from 0 to 1, and from then on nothing more. */
  | { readonly kind: "full"; readonly at: number; readonly part: number }
  /** A read or write does this part of what it was asked for. No error. */
  | { readonly kind: "short"; readonly at: number; readonly part: number }
  /** The process ends before this call, or, of a write, after this part of it. */
  | { readonly kind: "crash"; readonly at: number; readonly part: number };

/** What every call of a process throws once it has ended. */
export class ProcessEnded extends Error {
  constructor() {
    super("the process has ended");
  }
}

const real = new Map(Object.entries(nodeFileSystem) as [string, (...parameters: readonly unknown[]) => unknown][]);

/** The parameters of a read or write with another length. */
function withLength(parameters: readonly unknown[], length: number): unknown[] {
  return parameters.map((value, index) => (index === 3 ? length : value));
}

const texts = { EIO: "i/o error", EACCES: "permission denied", ENOSPC: "no space left on device" };

/** One process's view of a disk: counts its calls, and lets one go wrong. */
export class FaultyFileSystem {
  readonly calls: FileCall[] = [];
  readonly fileSystem: FileSystem;
  readonly #disk: FaultyDisk;
  readonly #fault: Fault | null;
  readonly #home: string;
  readonly #opened = new Map<number, { readonly node: DiskNode | undefined; readonly path: string }>();
  /** Called after each call that went well. */
  onCall: (call: FileCall) => void = () => undefined;
  #ended = false;
  #full = false;

  /** `home`: where the disk was when paths to it were written down; they lead to where it is. */
  constructor(disk: FaultyDisk, fault: Fault | null = null, home = disk.root) {
    this.#disk = disk;
    this.#fault = fault;
    this.#home = home;
    const names = Object.keys(nodeFileSystem) as (keyof FileSystem)[];
    // Built from the real one's own members, so it has them all.
    this.fileSystem = Object.fromEntries(
      names.map((name) => [name, (...parameters: unknown[]) => this.#call(name, parameters)]),
    ) as unknown as FileSystem;
  }

  /** Descriptors that were opened and not closed. */
  get open(): number {
    return this.#opened.size;
  }

  /** Whether the fault was met. */
  get met(): boolean {
    return this.#fault !== null && this.calls.length > this.#fault.at;
  }

  /** As at a process's end: its descriptors are closed, and with them its flocks are gone. */
  end(): void {
    this.#ended = true;
    for (const descriptor of this.#opened.keys()) nodeFileSystem.close(descriptor);
    this.#opened.clear();
  }

  #call(name: keyof FileSystem, given: readonly unknown[]): unknown {
    if (this.#ended) throw new ProcessEnded();
    const parameters = given.map((value) => (typeof value === "string" ? this.#placed(value) : value));
    const [first] = parameters;
    const path = typeof first === "number" ? (this.#opened.get(first)?.path ?? "unknown") : String(first);
    const call: FileCall = { name, path, parameters };
    const fault = this.#fault?.at === this.calls.length ? this.#fault : null;
    this.calls.push(call);
    const done = fault === null ? this.#perform(call) : this.#meet(fault, call);
    this.onCall(call);
    return done;
  }

  #placed(path: string): string {
    return path.startsWith(`${this.#home}/`) ? this.#disk.root + path.slice(this.#home.length) : path;
  }

  #meet(fault: Fault, call: FileCall): unknown {
    const { name, parameters } = call;
    if (fault.kind === "refused") {
      // Linux gives a descriptor up even where close fails.
      if (name === "close") this.#perform(call);
      throw systemError(fault.code, texts[fault.code], name);
    }
    // A read is cut to a part of what there is.
    const asked = name === "read" && fault.kind === "short" ? Number(this.#perform(call)) : Number(parameters[3] ?? 0);
    const part = Math.floor(fault.part * asked);
    // Of the buffer's `offset` and `length`, the length.
    const partly = { ...call, parameters: withLength(parameters, part) };
    if (fault.kind === "short")
      return asked === 0 ? 0 : this.#perform({ ...call, parameters: withLength(parameters, Math.max(1, part)) });
    if (fault.kind === "full") {
      this.#full = true;
      if (part === 0) throw systemError("ENOSPC", texts.ENOSPC, name);
      return this.#perform(partly);
    }
    if (part > 0) this.#perform(partly);
    this.#ended = true;
    throw new ProcessEnded();
  }

  #perform({ name, path, parameters }: FileCall): unknown {
    const perform = real.get(name)!;
    if (this.#full && name === "write") throw systemError("ENOSPC", texts.ENOSPC, name);
    switch (name) {
      case "open": {
        const known = this.#disk.node(path);
        const creates = (Number(parameters[1]) & constants.O_CREAT) !== 0;
        if (this.#full && creates && known === undefined) throw systemError("ENOSPC", texts.ENOSPC, name);
        const descriptor = perform(...parameters) as number;
        const node = known ?? (creates ? this.#disk.created(path, false) : undefined);
        this.#opened.set(descriptor, { node, path });
        return descriptor;
      }
      case "close":
        perform(...parameters);
        this.#opened.delete(Number(parameters[0]));
        return undefined;
      case "fsync": {
        perform(...parameters);
        const node = this.#opened.get(Number(parameters[0]))?.node;
        if (node !== undefined) this.#disk.synced(node, path);
        return undefined;
      }
      case "mkdir":
        perform(...parameters);
        this.#disk.created(path, true);
        return undefined;
      case "rename":
        nodeFileSystem.stat(path);
        this.#disk.renaming(path, String(parameters[1]));
        return perform(...parameters);
      case "unlink":
      case "rmdir":
        // It may not be there.
        nodeFileSystem.stat(path);
        this.#disk.removing(path);
        return perform(...parameters);
      default:
        return perform(...parameters);
    }
  }
}
