import type { RubyValue } from "./values";
export interface InspectOptions {
  readonly maxLength?: number;
  readonly isMasked?: (name: string) => boolean;
}
export function inspect(value: RubyValue, _options?: InspectOptions): string {
  return value.type;
}
