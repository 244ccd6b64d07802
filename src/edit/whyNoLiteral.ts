import {
  CallNode,
  ConstantPathNode,
  ConstantReadNode,
  ImaginaryNode,
  InterpolatedXStringNode,
  LocalVariableReadNode,
  RationalNode,
  RegularExpressionNode,
  XStringNode,
  type Node,
} from "@ruby/prism/src/nodes.js";
import { oneLine } from "../text/labels";

/** Names of placeholders in a hint. */
const mostNamed = 6;

/** Why something cannot stand in an edited call, and what could: a sentence or two for a user. */
export function whyNoLiteral(node: Node, placeholders: ReadonlySet<string>): string {
  return `${whatItIs(node)} ${hint(placeholders)}`;
}

function whatItIs(node: Node): string {
  if (node instanceof LocalVariableReadNode || (node instanceof CallNode && node.isVariableCall())) {
    return `There is no value of the name ${oneLine(node.name, 60)}.`;
  }
  if (node instanceof CallNode) return "Nothing is run here, so no method can be called.";
  if (node instanceof XStringNode || node instanceof InterpolatedXStringNode) return "Nothing is run here.";
  if (node instanceof ConstantReadNode || node instanceof ConstantPathNode) return "A constant is no literal.";
  if (node instanceof RationalNode) return "A Rational cannot be written here.";
  if (node instanceof ImaginaryNode) return "A Complex cannot be written here.";
  if (node instanceof RegularExpressionNode) return "A Regexp cannot be written here.";
  return "This is no literal.";
}

function hint(placeholders: ReadonlySet<string>): string {
  const names = [...placeholders];
  if (names.length === 0) return "Write a literal.";
  const shown = names.slice(0, mostNamed).join(", ");
  return `Write a literal, or use one of ${shown}${names.length > mostNamed ? ", …" : ""}.`;
}
