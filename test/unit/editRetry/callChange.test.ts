import assert from "node:assert/strict";
import type { EditedCall, EditedValue } from "../../../src/edit/protocol";
import { changeSentences, shapeOfCall } from "../../../src/editRetry/callChange";

function text(content: string): EditedValue {
  return { kind: "string", bytes: Buffer.from(content).toString("latin1"), encoding: "UTF-8" };
}

function symbol(name: string): EditedValue {
  return { kind: "symbol", bytes: Buffer.from(name).toString("latin1"), encoding: "UTF-8" };
}

function call(args: readonly EditedValue[], kwargs: Readonly<Record<string, EditedValue>> = {}): EditedCall {
  return { taskClass: "Send", args, kwargs: Object.entries(kwargs).map(([name, value]) => [symbol(name), value]) };
}

describe("what an edited call changes, in words", () => {
  it("names what was changed, added and removed, and none of the values", () => {
    const before = call([text("s3cret"), text("same")], { locale: symbol("en"), force: { kind: "nil" } });
    const after = call([text("other"), text("same"), text("third")], { locale: symbol("de"), größe: text("L") });
    assert.equal(
      changeSentences(before, after),
      "Changed: argument 1 and keyword locale. Added: argument 3 and keyword größe. Removed: keyword force.",
    );
    assert.equal(changeSentences(call([text("a")]), call([])), "Removed: argument 1.");
  });

  it("sees a change within a value", () => {
    const nested = (name: string): EditedValue => ({
      kind: "hash",
      entries: [[symbol("list"), { kind: "array", elements: [{ kind: "placeholder", name }] }]],
    });
    assert.equal(changeSentences(call([nested("order_1")]), call([nested("order_2")])), "Changed: argument 1.");
  });

  it("counts those that would make a sentence long", () => {
    const many = (content: string): EditedCall => call(Array.from({ length: 9 }, () => text(content)));
    assert.equal(changeSentences(many("a"), many("b")), "Changed: argument 1, argument 2, argument 3 and 6 more.");
  });

  it("tells keywords of one look apart, and says where only their order is another", () => {
    const entry = (key: EditedValue, value: EditedValue): readonly [EditedValue, EditedValue] => [key, value];
    const withText = { ...call([]), kwargs: [entry(text("a"), text("1")), entry(symbol("a"), text("2"))] };
    const changed = { ...call([]), kwargs: [entry(text("a"), text("3")), entry(symbol("a"), text("2"))] };
    assert.equal(changeSentences(withText, changed), 'Changed: keyword "a".');
    const swapped = { ...call([]), kwargs: [...withText.kwargs].reverse() };
    assert.equal(changeSentences(withText, swapped), "The keywords are in another order.");
    const odd = { ...call([]), kwargs: [entry({ kind: "integer", digits: "1" }, text("x"))] };
    assert.equal(changeSentences(call([]), odd), "Added: a keyword that is no symbol.");
  });

  it("keeps a name that would break the line from doing so", () => {
    assert.equal(changeSentences(call([]), call([], { "a\nb": text("x") })), "Added: keyword a b.");
  });
});

describe("the shape of an edited call", () => {
  it("has what a method's parameters are held against", () => {
    const hash: EditedValue = { kind: "hash", entries: [] };
    const edited = { ...call([text("a"), hash], { locale: symbol("en") }) };
    assert.deepEqual(shapeOfCall(edited), {
      taskClass: "Send",
      positional: 2,
      keywords: ["locale"],
      otherKeys: false,
      lastIsHash: true,
    });
    const other = { ...edited, args: [], kwargs: [[text("locale"), symbol("en")]] } satisfies EditedCall;
    assert.deepEqual(shapeOfCall(other), {
      taskClass: "Send",
      positional: 0,
      keywords: [],
      otherKeys: true,
      lastIsHash: false,
    });
  });

  it("is not known where a keyword's name is not in UTF-8", () => {
    const key: EditedValue = { kind: "symbol", bytes: "caf\xe9", encoding: "ASCII-8BIT" };
    assert.equal(shapeOfCall({ ...call([]), kwargs: [[key, text("x")]] }), null);
  });
});
