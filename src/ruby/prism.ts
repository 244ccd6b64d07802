import { readFile } from "node:fs/promises";
import type { ParseResult } from "@ruby/prism/src/deserialize.js";
import { parsePrism as untypedParsePrism } from "@ruby/prism/src/parsePrism.js";

export type Parse = (source: string) => ParseResult;

interface Exports {
  _initialize(): void;
}

// The package types the module by a browser's WebAssembly, which is unknown here.
const parsePrism = untypedParsePrism as (exports: Exports, source: string, options: { encoding: false }) => ParseResult;

/** Node has it, and its types leave it to those of a browser. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    compile(bytes: Uint8Array): Promise<object>;
    readonly Instance: new (module: object, imports: object) => { readonly exports: Exports };
    readonly Module: { imports(module: object): readonly { readonly module: string; readonly name: string }[] };
  };
};

/** What WASI calls "bad file descriptor". */
const badFileDescriptor = 8;

/**
 * Loads Ruby's parser from its WebAssembly module. `loadPrism` of the package would hand it Node's experimental WASI, with a
 * warning on the console; a parser of texts needs nothing of the system, so it gets nothing: each call is refused.
 */
export async function loadParser(wasmFile: string): Promise<Parse> {
  const module = await WebAssembly.compile(await readFile(wasmFile));
  const imports: Record<string, Record<string, () => number>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = name === "proc_exit" ? giveUp : () => badFileDescriptor;
  }
  const start = (): Exports => {
    const { exports } = new WebAssembly.Instance(module, imports);
    exports._initialize();
    return exports;
  };
  let exports = start();
  return (source) => {
    try {
      // `false`: the text is UTF-8 by now, whatever encoding a comment at its top names.
      return parsePrism(exports, source, { encoding: false });
    } catch {
      // A source that is nested without end runs out of the parser's stack, or of ours, and leaves its memory in disorder.
      exports = start();
      throw new Error("Ruby's parser cannot read this source; perhaps it is nested too deeply.");
    }
  };
}

function giveUp(): never {
  throw new Error("Ruby's parser gave up.");
}
