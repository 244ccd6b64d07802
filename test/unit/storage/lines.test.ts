import assert from "node:assert/strict";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFileSystem } from "../../../src/storage";
import { endOfLastLine, readFully, readLines, readRange } from "../../../src/storage/lines";
import { intercepted } from "../../support/fileSystems";
import { temporaryFolders } from "../../support/stores";

describe("lines", () => {
  const folders = temporaryFolders();

  function withFile<Result>(content: Buffer, use: (descriptor: number) => Result): Result {
    const path = join(folders.make(), "lines");
    writeFileSync(path, content);
    const descriptor = openSync(path, "r");
    try {
      return use(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  function linesOf(content: Buffer, start = 0, end = content.length): { offset: number; text: string }[] {
    return withFile(content, (descriptor) =>
      Array.from(readLines(nodeFileSystem, descriptor, start, end), ({ offset, bytes }) => ({
        offset,
        text: bytes.toString("latin1"),
      })),
    );
  }

  it("yields complete lines with their offsets, empty ones too, and leaves an unfinished one out", () => {
    assert.deepEqual(linesOf(Buffer.from("one\n\n\ntwo\nunfinished")), [
      { offset: 0, text: "one" },
      { offset: 4, text: "" },
      { offset: 5, text: "" },
      { offset: 6, text: "two" },
    ]);
    assert.deepEqual(linesOf(Buffer.from("")), []);
    assert.deepEqual(linesOf(Buffer.from("no newline")), []);
    assert.deepEqual(linesOf(Buffer.from("\n")), [{ offset: 0, text: "" }]);
  });

  it("keeps to the asked range", () => {
    assert.deepEqual(linesOf(Buffer.from("one\ntwo\nthree\n"), 4, 8), [{ offset: 4, text: "two" }]);
    assert.deepEqual(linesOf(Buffer.from("one\ntwo\nthree\n"), 4, 10), [{ offset: 4, text: "two" }]);
  });

  it("reads lines that are longer than a chunk, that span chunks and that end at a chunk's border", () => {
    const chunk = 1 << 20;
    const lengths = [chunk - 1, 5, chunk, 0, chunk + 1, 3 * chunk + 17, 700_000, 700_000, 700_000, 1];
    const expected = lengths.map((length, index) => String.fromCharCode(97 + index).repeat(length));
    const read = linesOf(Buffer.from(`${expected.join("\n")}\n`));
    assert.equal(read.length, expected.length);
    let offset = 0;
    for (const [index, text] of expected.entries()) {
      assert.equal(read[index]?.offset, offset);
      assert.ok(read[index].text === text, `line ${index} of ${text.length} bytes`);
      offset += text.length + 1;
    }
  });

  it("goes on after short reads", () => {
    const content = Buffer.from("alpha\nbeta\ngamma\n");
    withFile(content, (descriptor) => {
      const trickling = {
        ...nodeFileSystem,
        read: (file: number, buffer: Uint8Array, offset: number, length: number, position: number) =>
          nodeFileSystem.read(file, buffer, offset, Math.min(length, 3), position),
      };
      const texts = Array.from(readLines(trickling, descriptor, 0, content.length), ({ bytes }) => bytes.toString());
      assert.deepEqual(texts, ["alpha", "beta", "gamma"]);
      assert.equal(readRange(trickling, descriptor, 6, 4).toString(), "beta");
      assert.equal(readFully(trickling, descriptor, Buffer.alloc(100), 100, 10), content.length - 10);
    });
  });

  it("stops where a file ends earlier than its size promised", () => {
    withFile(Buffer.from("one\ntwo\n"), (descriptor) => {
      assert.equal(Array.from(readLines(nodeFileSystem, descriptor, 0, 1000)).length, 2);
    });
  });

  it("finds the end of the last line by reading backwards in bounded chunks", () => {
    const end = (content: Buffer): number =>
      withFile(content, (descriptor) => endOfLastLine(nodeFileSystem, descriptor, content.length));
    assert.equal(end(Buffer.from("")), 0);
    assert.equal(end(Buffer.from("torn")), 0);
    assert.equal(end(Buffer.from("one\n")), 4);
    assert.equal(end(Buffer.from("one\ntorn")), 4);
    assert.equal(end(Buffer.concat([Buffer.from("one\n"), Buffer.alloc(300_000, "x")])), 4);
    assert.equal(end(Buffer.alloc(300_000, "x")), 0);
    for (const tail of [65_535, 65_536, 65_537, 131_072]) {
      assert.equal(end(Buffer.concat([Buffer.from("a\n"), Buffer.alloc(tail, "x")])), 2, `a tail of ${tail} bytes`);
    }
  });

  it("reads only the last bytes of a large file whose last line is complete", () => {
    const content = Buffer.concat([Buffer.alloc(5 << 20, "x"), Buffer.from("\n")]);
    let asked = 0;
    const counting = intercepted({
      before: ({ name, parameters }) => {
        if (name === "read") asked += Number(parameters[3]);
      },
    });
    assert.equal(
      withFile(content, (descriptor) => endOfLastLine(counting, descriptor, content.length)),
      content.length,
    );
    assert.ok(asked <= 1 << 16, `${asked} bytes`);
  });
});
