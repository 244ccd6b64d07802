import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import ts from "typescript";
import { StoreIndex, findStoresIn, networkFileSystem, nodeFileSystem, otherVersions } from "../../../src/storage";
import type { Clock } from "../../../src/storage/clock";
import { intercepted } from "../../support/fileSystems";
import { copyFixture, newTask, openStore, temporaryFolders } from "../../support/stores";

const storage = resolve(__dirname, "..", "..", "..", "src", "storage");
const sources = readdirSync(storage)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ts.createSourceFile(name, readFileSync(join(storage, name), "utf8"), ts.ScriptTarget.ES2022, true));

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  node.forEachChild((child) => {
    visit(child, see);
  });
}

/** What each file imports as values, `module name`; dynamic imports stand as `module *`. */
function importsOf(source: ts.SourceFile): string[] {
  const found: string[] = [];
  visit(source, (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const { importClause, moduleSpecifier } = node;
      const bindings = importClause?.namedBindings;
      if (importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return;
      if (bindings !== undefined && ts.isNamedImports(bindings) && importClause?.name === undefined) {
        for (const { isTypeOnly, name, propertyName } of bindings.elements) {
          if (!isTypeOnly) found.push(`${moduleSpecifier.text} ${(propertyName ?? name).text}`);
        }
      } else {
        found.push(`${moduleSpecifier.text} *`);
      }
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      found.push(`${node.arguments[0]?.getText().replaceAll('"', "") ?? ""} *`);
    }
    if (ts.isIdentifier(node) && node.text === "require") found.push("require *");
  });
  return found;
}

describe("what the storage takes from outside", () => {
  const folders = temporaryFolders();

  it("is from Node only what its injected parts and pure functions need", () => {
    assert.ok(sources.length > 20);
    const allowed: Readonly<Record<string, readonly string[]>> = {
      "fileSystem.ts": ["node:fs *"],
      "clock.ts": ["node:timers/promises setTimeout"],
      "flock.ts": ["koffi *"],
      "longLock.ts": ["proper-lockfile *"],
    };
    for (const source of sources) {
      const strange = importsOf(source).filter(
        (name) =>
          !/^\.\.?\//.test(name) &&
          !/^node:path \w+$/.test(name) &&
          !["node:fs constants", "node:zlib crc32", ...(allowed[source.fileName] ?? [])].includes(name),
      );
      assert.deepEqual(strange, [], source.fileName);
    }
    assert.ok(
      sources.some((source) => importsOf(source).includes("node:fs *")),
      "the search finds what it looks for",
    );
  });

  it("leaves clock, timers and chance to the environment", () => {
    const homes: Readonly<Record<string, string>> = {
      "clock.ts": "time",
      "environment.ts": "chance",
    };
    for (const source of sources) {
      visit(source, (node) => {
        const text = node.getText(source);
        const place = `${source.fileName}: ${text}`;
        if (ts.isPropertyAccessExpression(node)) {
          assert.ok(
            !/^(Date\.now|performance\.now|process\.hrtime)$/.test(text) || homes[source.fileName] === "time",
            place,
          );
          assert.ok(text !== "Math.random" || homes[source.fileName] === "chance", place);
        }
        if (ts.isNewExpression(node) && node.expression.getText(source) === "Date") {
          assert.equal(node.arguments?.length, 1, place);
        }
        if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
          const timers = ["setTimeout", "setInterval", "delay", "setImmediate", "fetch"];
          // `setImmediate` takes no time; the callbacks of proper-lockfile need it.
          const isTimer = timers.includes(node.expression.text) && node.expression.text !== "setImmediate";
          assert.ok(!isTimer || homes[source.fileName] === "time", place);
        }
      });
    }
  });

  it("is every call to the file system: all of it works in a directory that only the injected one knows", async () => {
    const real = folders.make();
    const imagined = "/dead-tasks-that-are-nowhere";
    const names = new Set<string>();
    const fileSystem = intercepted({
      before: ({ name }) => names.add(name),
      redirect: (path) => (path.startsWith(imagined) ? real + path.slice(imagined.length) : path),
    });
    const path = join(imagined, "new", "storage");
    const store = await openStore(path, { fileSystem });
    const index = new StoreIndex(store, fileSystem);
    await store.add(newTask("1-1-1"));
    await store.add(newTask("1-1-2"));
    writeFileSync(join(real, "new", "storage", ".deferred-log-1-a.staging"), "");
    assert.equal((await store.find("1-1-1"))?.kind, "task");
    const ids: string[] = [];
    for await (const { id } of (await store.list()).tasks("newest")) ids.push(id);
    assert.deepEqual(ids, ["1-1-2", "1-1-1"]);
    await index.refresh({
      task: () => undefined,
      gone: () => undefined,
      progress: () => undefined,
      newest: () => undefined,
    });
    assert.equal(index.taskCount, 2);
    assert.equal((await store.replay(["1-1-1"], null)).retried.length, 1);
    assert.equal((await store.remove(["1-1-2"])).removed.length, 1);
    assert.equal((await store.pending()).tasks.length, 1);
    assert.equal(store.readOnlyReason(), null);
    assert.deepEqual(findStoresIn(fileSystem, path), [{ prefix: "deferred-" }]);
    assert.deepEqual(otherVersions(fileSystem, store.names), []);
    assert.equal(networkFileSystem(fileSystem, path), null);

    assert.ok(!existsSync(imagined));
    const files = readdirSync(join(real, "new", "storage")).map((name) => name.replace(/-\d{8}-.*/, ""));
    assert.deepEqual(files.sort(), ["deferred-0", "deferred-dead_tasks-0", "deferred-dead_tasks.lock"]);
    for (const name of [
      "open",
      "close",
      "read",
      "write",
      "fsync",
      "fstat",
      "stat",
      "access",
      "readdir",
      "rename",
      "unlink",
      "mkdir",
      "rmdir",
      "utimes",
      "fchmod",
    ]) {
      assert.ok(names.has(name), name);
    }
  });

  it("is the time of ids and log names, and every pause", async () => {
    const path = copyFixture(folders.make(), "basic");
    const clock: Clock = { now: () => new Date(2040, 1, 3, 12).getTime(), sleep: () => Promise.resolve() };
    const fileSystem = {
      ...nodeFileSystem,
      stat: (file: string) => ({ ...nodeFileSystem.stat(file), mtimeMs: clock.now() }),
    };
    const store = await openStore(path, { clock, fileSystem, random: () => 0.5, processId: 4711 });
    const { log, retried } = await store.replay(["1767225637-4101-1"], null);
    assert.equal(log, `deferred-0-20400203-4711-${(2 ** 31).toString(36)}`);
    assert.equal(retried[0]?.newId, `${clock.now() / 1000}-4711-${2 ** 31 + 1}`);
  });

  it("is chance that may repeat itself: a log takes no name that is taken", async () => {
    const path = copyFixture(folders.make(), "basic");
    const draws = [0.1, 0.2, 0.5, 0.3, 0.4, 0.5, 0.6];
    const random = (): number => draws.shift() ?? Math.random();
    const store = await openStore(path, { random });
    const first = await store.replay(["1767225637-4101-1"], null);
    draws.splice(0, draws.length, 0.1, 0.2, 0.5, 0.6);
    const taken = readFileSync(join(path, first.log ?? ""));
    const ids = (await store.list()).ids;
    const second = await store.replay([ids[0]!], null);
    assert.notEqual(second.log, first.log);
    assert.ok(readFileSync(join(path, first.log ?? "")).equals(taken));
    assert.equal((await store.pending()).tasks.length, 2);
  });

  it("is no more than a folder's name needs: the working directory is asked only for a relative path", async () => {
    const folder = folders.make();
    mkdirSync(join(folder, "storage"));
    const before = process.cwd();
    try {
      process.chdir(folder);
      const store = await openStore("storage");
      assert.equal(basename(store.names.directory), "storage");
      process.chdir("/");
      await store.add(newTask("1-1-1"));
    } finally {
      process.chdir(before);
    }
    assert.ok(existsSync(join(folder, "storage", "deferred-dead_tasks-0")));
  });
});
