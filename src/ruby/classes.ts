import {
  AliasMethodNode,
  BlockNode,
  CallNode,
  ClassNode,
  ConstantOrWriteNode,
  ConstantPathNode,
  ConstantPathOrWriteNode,
  ConstantPathWriteNode,
  ConstantReadNode,
  ConstantWriteNode,
  DefNode,
  ModuleNode,
  SelfNode,
  SingletonClassNode,
  StringNode,
  SymbolNode,
  type Node,
} from "@ruby/prism/src/nodes.js";
import { blockParameters, methodParameters } from "./parameters";
import { Positions } from "./positions";
import type { Parse } from "./prism";
import type { ClassDefinition, MethodDefinition, SourceClasses } from "./protocol";

/** The classes that a source defines. A broken source gives what there is; one that the parser cannot bear, an Error fit for a user. */
export function classesInSource(parse: Parse, text: string): SourceClasses {
  // The editor does not count a byte order mark, and the parser's offsets would be ahead of its own by it.
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  const result = parse(source);
  const positions = new Positions(source);
  const collector = new Collector(positions);
  collector.visit(result.value, { nesting: [], owner: null });
  const [error] = result.errors;
  return {
    classes: collector.classes,
    problem:
      error === undefined ? null : { message: error.message, position: positions.position(error.location.startOffset) },
  };
}

type Location = ClassNode["location"];
type Mutable = { -readonly [Name in keyof ClassDefinition]: ClassDefinition[Name] };

/** Where the walk is: what constants are defined in, and whose instance methods `def` defines. */
interface Scope {
  /** Full names of the enclosing modules and classes, outermost first. Null where one of them has no name in the text. */
  readonly nesting: readonly string[] | null;
  readonly owner: Mutable | null;
}

/** Names that a constant path may mean, the likeliest first; none where part of it is not a constant. */
function namesOf(path: readonly string[] | null, isAbsolute: boolean, nesting: readonly string[] | null): string[] {
  if (path === null || (nesting === null && !isAbsolute)) return [];
  const name = path.join("::");
  if (isAbsolute || nesting === null) return [name];
  const innermost = nesting.at(-1);
  if (innermost === undefined) return [name];
  // A plain name always belongs to the innermost module. Of a path, the first part is looked up in each, outwards.
  if (path.length === 1) return [`${innermost}::${name}`];
  return [...[...nesting].reverse().map((outer) => `${outer}::${name}`), name];
}

class Collector {
  readonly classes: ClassDefinition[] = [];
  readonly #positions: Positions;

  constructor(positions: Positions) {
    this.#positions = positions;
  }

  visit(node: Node, scope: Scope): void {
    if (node instanceof ClassNode) {
      const owner = this.#define(node, node.constantPath, scope, node.superclass);
      this.#visitBody(node.body, this.#inside(owner, scope));
    } else if (node instanceof ModuleNode) {
      const [name] = this.#names(node.constantPath, scope);
      const nesting = name === undefined || scope.nesting === null ? null : [...scope.nesting, name];
      this.#visitBody(node.body, { nesting, owner: null });
    } else if (node instanceof SingletonClassNode) {
      this.#visitBody(node.body, { nesting: scope.nesting, owner: null });
    } else if (node instanceof ConstantWriteNode || node instanceof ConstantOrWriteNode) {
      this.#visitAssignment(node, node, scope);
    } else if (node instanceof ConstantPathWriteNode || node instanceof ConstantPathOrWriteNode) {
      this.#visitAssignment(node, node.target, scope);
    } else if (node instanceof DefNode) {
      // Not into its body: what a method defines when it runs is another matter.
      if (node.receiver === null && node.name === "perform") {
        this.#perform(scope, node.location, node.nameLoc, methodParameters(node.parameters));
      }
    } else if (node instanceof AliasMethodNode) {
      if (isPerform(node.newName)) this.#perform(scope, node.location, node.newName.location, null);
    } else if (node instanceof CallNode) {
      this.#visitCall(node, scope);
    } else {
      this.#visitChildren(node, scope);
    }
  }

  #visitChildren(node: Node, scope: Scope): void {
    for (const child of node.compactChildNodes()) this.visit(child, scope);
  }

  #visitBody(body: Node | null, scope: Scope): void {
    if (body !== null) this.visit(body, scope);
  }

  /** `Name = Class.new(Base) do … end`, and the same with `Struct.new` and `Data.define`. */
  #visitAssignment(
    node: { readonly location: Location; readonly value: Node },
    target: ConstantWriteNode | ConstantOrWriteNode | ConstantPathNode,
    scope: Scope,
  ): void {
    const { value } = node;
    const made = value instanceof CallNode ? madeClass(value) : null;
    if (made === null) {
      this.visit(value, scope);
      return;
    }
    const owner = this.#define(node, target, scope, made.superclass);
    // A block does not nest constants, so what is defined in it belongs to where the block stands.
    if (made.body !== null) this.#visitBody(made.body, { nesting: scope.nesting, owner });
  }

  #visitCall(node: CallNode, scope: Scope): void {
    const { owner } = scope;
    const given = node.arguments_?.arguments_ ?? [];
    if (owner !== null && (node.receiver === null || node.receiver instanceof SelfNode)) {
      if (node.name === "include" && given.some((one) => this.#isTaskModule(one))) owner.includesTask = true;
      const [name] = given;
      if (name !== undefined && isPerform(name)) {
        if (node.name === "define_method") {
          const parameters = node.block instanceof BlockNode ? blockParameters(node.block.parameters) : null;
          this.#perform(scope, node.location, name.location, parameters);
          return;
        }
        if (node.name === "alias_method") this.#perform(scope, node.location, name.location, null);
      }
    }
    if (node.block instanceof BlockNode && node.receiver !== null) {
      // `Other.class_eval do … end`, `Class.new do … end`: what such a block defines is not this class's.
      for (const child of node.compactChildNodes()) {
        this.visit(child, child === node.block ? { nesting: scope.nesting, owner: null } : scope);
      }
    } else {
      this.#visitChildren(node, scope);
    }
  }

  #isTaskModule(node: Node): boolean {
    if (!(node instanceof ConstantPathNode)) return false;
    return this.#positions.slice(node.location).replace(/\s|^::/g, "") === "Rage::Deferred::Task";
  }

  #define(node: { readonly location: Location }, target: Node, scope: Scope, superclass: Node | null): Mutable | null {
    const [name, ...otherNames] = this.#names(target, scope);
    if (name === undefined) return null;
    const nameLocation =
      target instanceof ConstantWriteNode || target instanceof ConstantOrWriteNode ? target.nameLoc : target.location;
    const made: Mutable = {
      name,
      otherNames,
      range: this.#positions.range(node.location),
      nameRange: this.#positions.range(nameLocation),
      superclass: superclass === null ? null : this.#positions.slice(superclass.location),
      includesTask: false,
      perform: null,
    };
    this.classes.push(made);
    return made;
  }

  #inside(owner: Mutable | null, { nesting }: Scope): Scope {
    return { nesting: owner === null || nesting === null ? null : [...nesting, owner.name], owner };
  }

  #names(target: Node, { nesting }: Scope): string[] {
    const path: string[] = [];
    let node: Node | null = target;
    while (node instanceof ConstantPathNode) {
      if (node.name === null) return [];
      path.unshift(node.name);
      node = node.parent;
      if (node === null) return namesOf(path, true, nesting);
    }
    if (node instanceof ConstantReadNode || node instanceof ConstantWriteNode || node instanceof ConstantOrWriteNode) {
      return namesOf([node.name, ...path], false, nesting);
    }
    // `self::Name` in the body of a class is a plain name.
    if (node instanceof SelfNode && path.length === 1) return namesOf(path, false, nesting);
    return [];
  }

  #perform(
    { owner }: Scope,
    location: Location,
    nameLocation: Location,
    parameters: MethodDefinition["parameters"],
  ): void {
    if (owner === null) return;
    const range = this.#positions.range(location);
    owner.perform = { range, nameRange: this.#positions.range(nameLocation), parameters };
  }
}

function isPerform(node: Node): boolean {
  return (node instanceof SymbolNode || node instanceof StringNode) && node.unescaped.value === "perform";
}

/** A call that makes a class, with the block that is its body; null for any other call. */
function madeClass(call: CallNode): { readonly superclass: Node | null; readonly body: Node | null } | null {
  const { receiver, name } = call;
  const maker =
    receiver instanceof ConstantReadNode
      ? receiver.name
      : receiver instanceof ConstantPathNode && receiver.parent === null
        ? receiver.name
        : null;
  const makes = name === "new" ? maker === "Class" || maker === "Struct" : name === "define" && maker === "Data";
  if (!makes) return null;
  const [first] = call.arguments_?.arguments_ ?? [];
  return {
    superclass: maker === "Class" ? (first ?? null) : receiver,
    body: call.block instanceof BlockNode ? call.block.body : null,
  };
}
