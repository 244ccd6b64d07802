import type { ParametersNode } from "@ruby/prism/src/nodes.js";
import {
  BlockParametersNode,
  ForwardingParameterNode,
  ItParametersNode,
  KeywordRestParameterNode,
  NoKeywordsParameterNode,
  NumberedParametersNode,
  OptionalKeywordParameterNode,
  OptionalParameterNode,
  RequiredKeywordParameterNode,
  RequiredParameterNode,
  RestParameterNode,
  type Node,
} from "@ruby/prism/src/nodes.js";
import type { Parameter } from "./protocol";

/** A method's parameters, in the order in which Ruby's `Method#parameters` gives them. */
export function methodParameters(node: ParametersNode | null): Parameter[] {
  if (node === null) return [];
  const parameters: Parameter[] = [...node.requireds.map(required), ...node.optionals.map(optional)];
  if (node.rest instanceof RestParameterNode) parameters.push({ kind: "rest", name: node.rest.name });
  parameters.push(...node.posts.map(required));
  // Ruby gives the required keywords first.
  for (const keyword of node.keywords) {
    if (keyword instanceof RequiredKeywordParameterNode) parameters.push({ kind: "keyreq", name: keyword.name });
  }
  for (const keyword of node.keywords) {
    if (keyword instanceof OptionalKeywordParameterNode) parameters.push({ kind: "key", name: keyword.name });
  }
  if (node.keywordRest instanceof ForwardingParameterNode) {
    for (const kind of ["rest", "keyrest", "block"] as const) parameters.push({ kind, name: null });
  } else if (node.keywordRest instanceof KeywordRestParameterNode) {
    parameters.push({ kind: "keyrest", name: node.keywordRest.name });
  } else if (node.keywordRest instanceof NoKeywordsParameterNode) {
    parameters.push({ kind: "nokey", name: null });
  }
  if (node.block !== null) parameters.push({ kind: "block", name: node.block.name });
  return parameters;
}

/** The parameters of a method that is made of a block: `define_method(:perform) { |id| … }`. */
export function blockParameters(node: Node | null): Parameter[] {
  if (node instanceof BlockParametersNode) return methodParameters(node.parameters);
  const count = node instanceof NumberedParametersNode ? node.maximum : node instanceof ItParametersNode ? 1 : 0;
  return Array.from({ length: count }, () => ({ kind: "req", name: null }));
}

function required(node: Node): Parameter {
  return { kind: "req", name: node instanceof RequiredParameterNode ? node.name : null };
}

function optional(node: Node): Parameter {
  return { kind: "opt", name: node instanceof OptionalParameterNode ? node.name : null };
}
