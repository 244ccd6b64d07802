import type { RubyRegexp, RubyString, RubySymbol, RubyValue } from "./values";

export type * from "./values";
export { MarshalError, type MarshalErrorCode } from "./errors";

export interface MarshalLimits {
  readonly maxDepth: number;
  readonly maxValues: number;
}
export interface InspectOptions {
  readonly maxLength?: number;
  readonly isMasked?: (name: string) => boolean;
}
function pending(): never {
  throw new Error("not built yet");
}
export const readMarshal: (bytes: Uint8Array, limits?: Partial<MarshalLimits>) => RubyValue = pending;
export const writeMarshal: (value: RubyValue) => Uint8Array = pending;
export const arrayElementSpans: (bytes: Uint8Array) => { start: number; end: number }[] | null = pending;
export const dumpString: (bytes: Uint8Array) => Uint8Array = pending;
export const undumpString: (ascii: Uint8Array) => Uint8Array = pending;
export const inspect: (value: RubyValue, options?: InspectOptions) => string = pending;
export const toRubyLiteral: (value: RubyValue) => string = pending;
export const textOf: (bytes: Uint8Array) => string = pending;
export const encodingOf: (value: RubyString | RubySymbol | RubyRegexp) => string = pending;
