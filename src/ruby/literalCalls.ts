import { CallNode, StringNode, type Node } from "@ruby/prism/src/nodes.js";
import type { Parse } from "./prism";
import type { LiteralCall } from "./protocol";

/** The calls of these names, in the order of the text. Of a broken source those that can be made out. */
export function literalCalls(parse: Parse, text: string, names: readonly string[]): LiteralCall[] {
  const calls: LiteralCall[] = [];
  const waiting: Node[] = [parse(text).value];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node instanceof CallNode && node.receiver === null && names.includes(node.name)) {
      const argument = firstString(node);
      if (argument !== null) calls.push({ name: node.name, argument });
    }
    waiting.push(...node.compactChildNodes().reverse());
  }
  return calls;
}

function firstString({ arguments_ }: CallNode): string | null {
  const [first] = arguments_?.arguments_ ?? [];
  return first instanceof StringNode ? first.unescaped.value : null;
}
