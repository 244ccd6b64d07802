/** What a fuzzing process is asked to do: so many inputs of a target, from a number on. */
export interface Assignment {
  readonly target: string;
  readonly seed: string;
  readonly from: number;
  readonly count: number;
  /** Where the number of the input that is being checked stands, as a double: it is read after the process died. */
  readonly progressFile: string;
}

/** What it prints, as one line of JSON, when it is through. */
export interface Outcome {
  readonly inputs: number;
  /** How many were taken for what they claim to be: mutation that leaves nothing readable tests little. */
  readonly accepted: number;
  /** Processor time of the slowest input, and its number. */
  readonly slowest: { readonly index: number; readonly milliseconds: number };
  /** Resident memory at its highest, less what the process had before the first input. */
  readonly peakBytes: number;
  readonly failure: Failure | null;
}

export interface Failure {
  readonly index: number;
  readonly message: string;
  /** Base64; of a long input the front, of a named case nothing. */
  readonly input: string;
}

/** Processor time for one operation on one input. */
export const mostMilliseconds = 1_000;
/** Memory for any input, buffers included, beyond that of the process. */
export const mostBytes = 256 << 20;
