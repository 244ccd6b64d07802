import assert from "node:assert/strict";
import { changeSince, changesSentence } from "../../../src/code/fileHistory";

describe("the history of a file", () => {
  const commit = (hash: string, seconds: number) => ({ hash, commitDate: new Date(seconds * 1000) });
  const history = [commit("c", 300), commit("b", 200), commit("a", 100)];

  it("counts the commits since, and names the last one before", () => {
    const change = (moment: number, uncommitted = false) => changeSince("/a.rb", history, uncommitted, moment);
    assert.deepEqual(change(150), { file: "/a.rb", before: "a", commits: 2, uncommitted: false });
    assert.deepEqual(change(200), { file: "/a.rb", before: "b", commits: 1, uncommitted: false });
    assert.deepEqual(change(300, true), { file: "/a.rb", before: "c", commits: 0, uncommitted: true });
    assert.equal(change(300), null);
    assert.equal(change(1e12), null);
  });

  it("claims nothing where git knows no earlier state", () => {
    assert.equal(changeSince("/a.rb", history, true, 99), null);
    assert.equal(changeSince("/a.rb", [], true, 99), null);
    assert.equal(changeSince("/a.rb", [{ hash: "no date" }], true, 99), null);
  });

  it("is told in a sentence", () => {
    const name = (file: string) => file.slice(1);
    const one = { file: "/a.rb", before: "x", commits: 1, uncommitted: false };
    assert.equal(changesSentence([one], name), "a.rb (1 commit) has changed since this task died.");
    const other = { file: "/b.rb", before: "x", commits: 3, uncommitted: true };
    assert.equal(
      changesSentence([one, other], name),
      "a.rb (1 commit) and b.rb (3 commits, changes not committed) have changed since this task died.",
    );
    const open = { ...other, commits: 0 };
    assert.equal(changesSentence([open], name), "b.rb (changes not committed) has changed since this task died.");
  });
});
