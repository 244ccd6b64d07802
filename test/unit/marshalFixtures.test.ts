import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect, readMarshal, writeMarshal } from "../../src/marshal";
import type { RubyArray, RubyObject, RubySymbol, RubyValue } from "../../src/marshal";

const FIXTURES = join(__dirname, "../fixtures");

/** Text of a fixture; bytes that are not UTF-8 stand as Base64 there. */
type FixtureText = string | { base64: string };
const textOfFixture = (text: FixtureText): string =>
  typeof text === "string" ? text : Buffer.from(text.base64, "base64").toString();

interface ExpectedTask {
  readonly id: string;
  readonly context_base64: string;
  readonly args_inspect?: FixtureText;
  readonly kwargs_inspect?: FixtureText;
  readonly log_tags?: FixtureText;
  readonly log_context?: FixtureText;
  readonly user_context?: FixtureText;
}

function expectedTasks(): { name: string; task: ExpectedTask }[] {
  const root = join(FIXTURES, "dead-tasks");
  return readdirSync(root).flatMap((store) =>
    readdirSync(join(root, store))
      .filter((file) => file.startsWith("expected."))
      .flatMap((file) => {
        const tasks = JSON.parse(readFileSync(join(root, store, file), "utf8")) as ExpectedTask[];
        return tasks.map((task) => ({ name: `${store} ${task.id}`, task }));
      }),
  );
}

function randomValues(): { base64: string; inspect: string }[] {
  return JSON.parse(readFileSync(join(FIXTURES, "marshal.json"), "utf8")) as { base64: string; inspect: string }[];
}

const symbol = (name: string): RubySymbol => ({ type: "symbol", bytes: Buffer.from(name), instanceVariables: [] });
const parts = { instanceVariables: [], extendedBy: [], userClass: null };

/**
 * The fixtures were printed by a Ruby that had the classes. Four of them have a `marshal_dump` or `_dump`, and print
 * the variable that their `marshal_load` or `_load` sets; that cannot be known from the bytes. This makes of each the
 * object that its class makes, so that all the rest can be compared. What we print of them ourselves is a test of its
 * own.
 */
function withFixtureClasses(root: RubyValue): RubyValue {
  const made = new Map<object, unknown>();
  const copy = (node: unknown): unknown => {
    if (node === null || typeof node !== "object" || node instanceof Uint8Array) return node;
    if (made.has(node)) return made.get(node);
    if (Array.isArray(node)) {
      const list: unknown[] = [];
      made.set(node, list);
      for (const element of node) list.push(copy(element));
      return list;
    }
    const copied: Record<string, unknown> = {};
    made.set(node, copied);
    Object.assign(copied, loaded(node as RubyValue) ?? node);
    for (const [key, value] of Object.entries(copied)) copied[key] = copy(value);
    return copied;
  };
  return copy(root) as RubyValue;
}

function loaded(node: RubyValue): RubyObject | null {
  let variable: { name: RubySymbol; value: RubyValue } | null = null;
  if (node.type === "user-marshal") {
    const { value } = node;
    const className = Buffer.from(node.className.bytes).toString();
    if (className === "Um" && value.type === "array") variable = { name: symbol("@v"), value: value.elements[0]! };
    if (className === "Token" && value.type === "hash") variable = { name: symbol("@v"), value: value.entries[0]![1] };
  } else if (node.type === "user-defined" && ["Ud", "Blob"].includes(Buffer.from(node.className.bytes).toString())) {
    const { bytes, instanceVariables } = node;
    variable = { name: symbol("@s"), value: { ...parts, type: "string", bytes, instanceVariables } };
  }
  if (!variable || (node.type !== "user-marshal" && node.type !== "user-defined")) return null;
  const { className } = node;
  return { ...parts, type: "object", className, wrapperVariables: null, instanceVariables: [variable] };
}

const emptyArray: RubyArray = { ...parts, type: "array", elements: [] };
const emptyHash: RubyValue = { ...parts, type: "hash", entries: [], defaultValue: null, comparesByIdentity: false };

describe("Marshal on the fixtures", () => {
  it("writes every value back byte for byte", () => {
    const values = [
      ...randomValues().map(({ base64 }) => base64),
      ...expectedTasks().map(({ task }) => task.context_base64),
    ];
    assert.ok(values.length > 400);
    for (const base64 of values) {
      const bytes = Buffer.from(base64, "base64");
      assert.equal(Buffer.from(writeMarshal(readMarshal(bytes))).toString("base64"), base64);
    }
  });

  it("prints 200 random values as Ruby does", () => {
    const values = randomValues();
    assert.equal(values.length, 200);
    for (const { base64, inspect: expected } of values) {
      const value = withFixtureClasses(readMarshal(Buffer.from(base64, "base64")));
      assert.equal(inspect(value), expected.replaceAll(":0xX", ""));
    }
  });

  it("prints arguments and contexts of every task as Ruby does", () => {
    let compared = 0;
    for (const { name, task } of expectedTasks()) {
      if (task.args_inspect === undefined || task.kwargs_inspect === undefined) continue;
      const context = readMarshal(Buffer.from(task.context_base64, "base64"));
      assert.equal(context.type, "array", name);
      const [, args, kwargs, , logTags, logContext, userContext] = context.elements;
      const pairs: [RubyValue | undefined, FixtureText | undefined][] = [
        [args?.type === "nil" ? emptyArray : args, task.args_inspect],
        [kwargs?.type === "nil" ? emptyHash : kwargs, task.kwargs_inspect],
        [logTags, task.log_tags],
        [logContext, task.log_context],
        [userContext, task.user_context],
      ];
      for (const [value, expected] of pairs) {
        if (expected === undefined) continue;
        assert.ok(value, name);
        assert.equal(inspect(withFixtureClasses(value)), textOfFixture(expected).replaceAll(":0xX", ""), name);
        compared++;
      }
    }
    assert.ok(compared > 750, `${compared} texts`);
  });

  it("prints objects that dump themselves by what they dumped", () => {
    const shown = new Map<string, string>();
    for (const { task } of expectedTasks()) {
      const text = inspect(readMarshal(Buffer.from(task.context_base64, "base64")));
      for (const [found, className] of text.matchAll(/#<(Token|Blob) (?:\{[^{}]*\}|"[^"]*")>/g))
        shown.set(className!, found);
    }
    for (const { base64 } of randomValues()) {
      const text = inspect(readMarshal(Buffer.from(base64, "base64")));
      for (const [found, className] of text.matchAll(/^#<(Um|Ud) .*>$/g)) shown.set(className!, found);
      if (shown.has("Um") && shown.has("Ud")) break;
    }
    // Ruby prints #<Token @v="t"> and #<Blob @s="raw\u0000">: the names of the variables are known to the class alone.
    assert.equal(shown.get("Token"), '#<Token {v: "t"}>');
    assert.equal(shown.get("Blob"), '#<Blob "raw\\u0000">');
    assert.match(shown.get("Um") ?? "", /^#<Um \[.*\]>$/);
    assert.match(shown.get("Ud") ?? "", /^#<Ud ".*">$/);
  });
});
