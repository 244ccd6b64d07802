import {
  CallNode,
  ConstantPathNode,
  ConstantReadNode,
  KeywordHashNode,
  SplatNode,
  type Node,
} from "@ruby/prism/src/nodes.js";
import { Positions } from "../ruby/positions";
import type { Parse } from "../ruby/prism";
import { largestSource } from "../ruby/protocol";
import { oneLine } from "../text/labels";
import type { EditedCall, EditedEntry, EditedValue, EditProblem, ReadEdit } from "./protocol";
import { ValueReader } from "./readValues";

type Location = Node["location"];

const mostProblems = 100;

/** Reads an edited text back: one call of `enqueue` on the task's class, with literals and placeholders. Nothing is run. */
export function readEdit(parse: Parse, text: string, taskClass: string, placeholders: readonly string[]): ReadEdit {
  // The editor counts neither a byte order mark nor the first half of a line's end.
  const source = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const positions = new Positions(source);
  const reader = new EditReader(parse, source, positions, taskClass, new Set(placeholders));
  const call = reader.read();
  const problems = reader.problems
    .toSorted((left, right) => left.location.startOffset - right.location.startOffset)
    .slice(0, mostProblems)
    .map(({ location, message }): EditProblem => ({ message, range: positions.range(location) }));
  return { call: problems.length === 0 ? call : null, problems, uses: reader.uses };
}

class EditReader {
  readonly problems: { readonly location: Location; readonly message: string }[] = [];
  readonly #parse: Parse;
  readonly #source: string;
  readonly #positions: Positions;
  readonly #taskClass: string;
  readonly #values: ValueReader;

  constructor(
    parse: Parse,
    source: string,
    positions: Positions,
    taskClass: string,
    placeholders: ReadonlySet<string>,
  ) {
    this.#parse = parse;
    this.#source = source;
    this.#positions = positions;
    this.#taskClass = taskClass;
    this.#values = new ValueReader(positions, parse, placeholders, ({ location }, message) => {
      this.#refuse(location, message);
    });
  }

  get uses(): ReadEdit["uses"] {
    return this.#values.uses;
  }

  /** Null where the text does not have the form of a call at all. */
  read(): EditedCall | null {
    const size = Buffer.byteLength(this.#source);
    if (size > largestSource) {
      return this.#refuse({ startOffset: 0, length: 0 }, `The text is longer than ${largestSource / 1024 / 1024} MiB.`);
    }
    const odd = oddCharacter(this.#source);
    if (odd !== null) return this.#refuse(odd.location, odd.message);
    let result: ReturnType<Parse>;
    try {
      result = this.#parse(this.#source);
    } catch (error) {
      return this.#refuse({ startOffset: 0, length: size }, error instanceof Error ? error.message : String(error));
    }
    for (const { location, message } of result.errors) this.#refuse(location, `Ruby cannot read this: ${message}.`);
    const dataLocation = result.dataLoc as Location | null;
    if (dataLocation !== null) this.#refuse(dataLocation, "Ruby does not read what stands from here on.");
    // What the parser makes of a broken text is a guess, and problems of a guess would mislead.
    return result.errors.length > 0 ? null : this.#call(result.value.statements.body);
  }

  #call([statement, ...more]: readonly Node[]): EditedCall | null {
    const name = oneLine(this.#taskClass, 100);
    for (const { location } of more) {
      this.#refuse(location, `One call of ${name}.enqueue is all that can stand here.`);
    }
    if (statement === undefined) {
      const startOffset = Buffer.byteLength(this.#source.trimEnd());
      return this.#refuse({ startOffset, length: 0 }, `Here must stand a call of ${name}.enqueue.`);
    }
    const isCall = statement instanceof CallNode && statement.receiver !== null && !statement.isSafeNavigation();
    if (!isCall) return this.#refuse(statement.location, `Here must stand a call of ${name}.enqueue.`);
    this.#checkCallee(statement);
    const parameters = statement.arguments_?.arguments_ ?? [];
    const keywords = parameters.flatMap((node) => (node instanceof KeywordHashNode ? node.elements : []));
    const args = parameters
      .filter((node) => !(node instanceof KeywordHashNode))
      .map((node) => this.#argument(node))
      .filter((value): value is EditedValue => value !== null);
    const kwargs: readonly EditedEntry[] = this.#values.entries(keywords) ?? [];
    return { taskClass: this.#taskClass, args, kwargs };
  }

  #checkCallee({ receiver, messageLoc, block, location }: CallNode): void {
    const name = messageLoc === null ? "" : this.#positions.slice(messageLoc);
    const isConstant = receiver instanceof ConstantReadNode || receiver instanceof ConstantPathNode;
    const written = receiver === null ? "" : this.#positions.slice(receiver.location).replace(/[ \n]|^::/g, "");
    if (receiver !== null && (!isConstant || written !== this.#taskClass)) {
      this.#refuse(receiver.location, `The task is one of ${oneLine(this.#taskClass, 100)}, which cannot be changed.`);
    }
    if (name !== "enqueue") this.#refuse(messageLoc ?? location, "The method cannot be changed: it is enqueue.");
    if (block !== null) this.#refuse(block.location, "A task takes no block.");
  }

  #argument(node: Node): EditedValue | null {
    if (node instanceof SplatNode) return this.#refuse(node.location, "Write the arguments themselves instead of `*`.");
    return this.#values.value(node);
  }

  #refuse(location: Location, message: string): null {
    this.problems.push({ location, message });
    return null;
  }
}

/** What would end the text for Ruby, or come to the parser as another character. */
function oddCharacter(source: string): { readonly location: Location; readonly message: string } | null {
  const found = /[\0\x04\x1a\p{Surrogate}]/u.exec(source);
  if (found === null) return null;
  const location = { startOffset: Buffer.byteLength(source.slice(0, found.index)), length: 1 };
  const [character] = found;
  if (character > "\x1a") return { location: { ...location, length: 3 }, message: "This is half of a character." };
  const escape = `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  return { location, message: `Ruby stops reading at this character: write it as ${escape}.` };
}
