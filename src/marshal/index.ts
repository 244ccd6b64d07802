/**
 * Ruby's Marshal 4.8 and `String#dump` as data. Nothing here loads a class, evaluates or runs anything that a stream says.
 */
export type * from "./values";
export { MarshalError, type MarshalErrorCode } from "./errors";
export type { MarshalLimits } from "./limits";
export { arrayElementSpans, readMarshal } from "./reader";
export { writeMarshal } from "./writer";
export { dumpString, undumpString } from "./dump";
export { inspect, type InspectOptions } from "./inspect";
export { toRubyLiteral } from "./literal";
export { encodingOf, textOf } from "./encodings";
