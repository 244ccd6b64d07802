/**
 * Ruby's Marshal 4.8 and `String#dump` as data. Nothing here loads a class, evaluates or runs anything that a stream
 * says, and no stream, however made, costs more stack, memory or time than its limits allow: what is wrong with it
 * comes as a `MarshalError`, with the offset where it was noticed.
 *
 * `readMarshal` makes a tree (`values.ts`) that loses nothing, and `writeMarshal` gives back the very bytes.
 * `inspect` and `toRubyLiteral` turn a tree into text for people and for a Ruby console.
 */
export type * from "./values";
export { MarshalError, type MarshalErrorCode } from "./errors";
export type { MarshalLimits } from "./limits";
export { arrayElementSpans, readMarshal } from "./reader";
export { writeMarshal } from "./writer";
export { dumpString, undumpString } from "./dump";
export { inspect, type InspectOptions } from "./inspect";
export { inspectLines } from "./pretty";
export { toRubyArguments, toRubyKeywords, toRubyLiteral, type LiteralOptions } from "./literal";
export { encodingOf, isAscii, isEncodingVariable, latin1Of, textOf } from "./encodings";
export { exceptionMessage, rangeOf, setOf } from "./known";
export { inspectComplex, inspectRational } from "./numbers";
export { inspectMemberName, inspectSymbolKey, quote } from "./strings";
export { dateOf, timeOf, variableOf } from "./times";
