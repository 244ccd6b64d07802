import assert from "node:assert/strict";
import { toRubyKeywords, toRubyLiteral } from "../../src/marshal";
import { array, cyclicArray, hash, int, object, str, struct, sym, symbolHash } from "../support/ruby";

describe("masked literals", () => {
  const isMasked = (name: string): boolean => /token|password/.test(name);
  const secret = str("s3cret");

  it("has a text in place of the value of a masked name, at any depth", () => {
    const value = symbolHash({
      user: hash([str("password"), secret]),
      locale: sym("en"),
      token: array(secret),
    });
    const literal = '{user: {"password" => "[FILTERED]"}, locale: :en, token: "[FILTERED]"}';
    assert.equal(toRubyLiteral(value, { isMasked }), literal);
    assert.equal(toRubyKeywords(value, { isMasked }), literal.slice(1, -1));
  });

  it("has it in place of all that only Marshal.load would show, where a masked name is in it", () => {
    const credentials = object("Credentials", { "@login": str("ada"), "@token": secret });
    const login = struct("Login", { password: secret });
    for (const value of [credentials, login]) {
      assert.equal(toRubyLiteral(array(value), { isMasked }), '["[FILTERED]"]');
      assert.match(toRubyLiteral(array(value)), /Marshal\.load\(.*s3cret/);
    }
    const shared = array(symbolHash({ token: secret }));
    assert.equal(toRubyLiteral(array(shared, shared), { isMasked }), '"[FILTERED]"');
    assert.match(toRubyLiteral(object("Order", { "@id": int(7) }), { isMasked }), /^Marshal\.load\(.*Order/);
  });

  it("keeps a keyword whose value refers to itself apart from the others", () => {
    const text = toRubyKeywords(hash([sym("a"), cyclicArray((itself) => [itself])], [str("b c"), int(1)]));
    assert.match(text, /^a: Marshal\.load\("(?:[^"\\]|\\.)*"\), "b c" => 1$/);
  });
});
