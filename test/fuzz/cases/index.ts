import { applicationCases } from "./applicationCases";
import { marshalCases } from "./marshalCases";
import { recordCases } from "./recordCases";

/** Input that once broke a promise, or that was made to. Each is checked by its target as any other input is. */
export interface HostileCase {
  readonly name: string;
  readonly target: string;
  readonly input: () => Buffer;
}

export const hostileCases: readonly HostileCase[] = [...marshalCases, ...recordCases, ...applicationCases];
