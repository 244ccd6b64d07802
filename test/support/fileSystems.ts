import { nodeFileSystem, type FileSystem } from "../../src/storage";

/** One call to the operating system. `path` is the file's, for calls on a descriptor the path it was opened by. */
export interface FileCall {
  readonly name: keyof FileSystem;
  readonly path: string;
  readonly parameters: readonly unknown[];
}

export interface Interception {
  /** May throw in place of the call, or do something else first. */
  readonly before?: (call: FileCall) => void;
  readonly after?: (call: FileCall, result: unknown) => void;
  /** Changes a path before it reaches the operating system. */
  readonly redirect?: (path: string) => string;
}

/** The real file system with a watcher in front of it. */
export function intercepted({ before, after, redirect = (path) => path }: Interception): FileSystem {
  const opened = new Map<number, string>();
  const calls = Object.entries(nodeFileSystem) as [keyof FileSystem, (...parameters: unknown[]) => unknown][];
  const wrapped = calls.map(([name, perform]) => [
    name,
    (...parameters: unknown[]) => {
      const [first] = parameters;
      const path = typeof first === "number" ? (opened.get(first) ?? "unknown") : String(first);
      const call = { name, path, parameters };
      before?.(call);
      // `rename` takes two paths; of the others only the first parameter is ever a string.
      const result = perform(...parameters.map((value) => (typeof value === "string" ? redirect(value) : value)));
      if (name === "open") opened.set(result as number, path);
      after?.(call, result);
      return result;
    },
  ]);
  // Built from the real one's own members, so it has them all.
  return Object.fromEntries(wrapped) as FileSystem;
}

/** An error as Node throws it when the operating system refuses a call. */
export function systemError(code: string, text: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: ${text}, ${syscall}`), { code, syscall });
}

/** Fails the first call that `matches`, and only that one. */
export function failingOnce(matches: (call: FileCall) => boolean, error: Error): FileSystem {
  let failed = false;
  return intercepted({
    before: (call) => {
      if (failed || !matches(call)) return;
      failed = true;
      throw error;
    },
  });
}
