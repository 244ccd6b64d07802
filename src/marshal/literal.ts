import type { RubyValue } from "./values";
export function toRubyLiteral(value: RubyValue): string {
  return value.type;
}
