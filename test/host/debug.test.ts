import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ConfigurationTarget,
  Location,
  Position,
  SourceBreakpoint,
  Uri,
  commands,
  debug,
  workspace,
  type DebugConfiguration,
  type DebugSession,
} from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile } from "../support/fixtures";
import { applicationContext, makeApplication, standIn } from "../support/runApplication";
import { newTask, taskLine } from "../support/stores";
import { deadTasks, eventually, folder, openStores, recordNodes, setStores, useDialogs } from "./window";

describe("Debug Now", function () {
  this.timeout(90_000);
  const dialogs = useDialogs();
  const id = "1767225637-1-1";
  let application: string;
  let store: StoreModel;
  let configurations: DebugConfiguration[];

  beforeEach(async () => {
    application = join(folder(), "shop");
    makeApplication(application);
    configurations = [];
    await workspace
      .getConfiguration("deadTasks")
      .update("runCommand", ["ruby", "-I", standIn], ConfigurationTarget.Global);
  });

  afterEach(async () => {
    debug.removeBreakpoints(debug.breakpoints);
    await workspace.getConfiguration("deadTasks").update("runCommand", undefined, ConfigurationTarget.Global);
  });
  after(() => setStores(undefined));

  async function open(how: string, line: number): Promise<void> {
    const storage = join(application, "storage");
    const task = newTask(id, {
      taskClass: "Misbehave",
      context: applicationContext(application, `[Misbehave, [:${how}], nil, 21]`),
      backtrace: [`${application}/app/tasks/misbehave.rb:${line}:in \`${how}'`],
    });
    writeFileSync(dataFile(storage), taskLine(task));
    store = (await openStores({ path: storage, name: "shop" }))[0]!;
    await eventually(() => {
      assert.ok(store.task(id));
    });
  }

  type Then = (session: DebugSession, threadId: number) => Thenable<unknown>;
  const goOn: Then = (session, threadId) => session.customRequest("continue", { threadId });
  const end: Then = (session) => debug.stopDebugging(session);

  /** Debugs the task; does `then` wherever the debugger stops, and returns the lines at which it did. */
  async function debugNow(then = goOn): Promise<string[]> {
    const stops: string[] = [];
    const watching = [
      debug.onDidStartDebugSession(({ configuration }) => configurations.push(configuration)),
      debug.onDidChangeActiveStackItem(async (item) => {
        const session = debug.activeDebugSession;
        if (item === undefined || session === undefined || !("frameId" in item)) return;
        const { stackFrames } = (await session.customRequest("stackTrace", { threadId: item.threadId })) as {
          stackFrames: { line: number; source?: { path?: string } }[];
        };
        const [top] = stackFrames;
        // In a browser's window the editor has made an address of the path.
        stops.push(`${(top?.source?.path ?? "").replace(/^vscode-remote:\/\/[^/]+/, "")}:${top?.line ?? 0}`);
        await then(session, item.threadId);
      }),
    ];
    dialogs.answer = ({ buttons }) => buttons.find((button) => button === "Debug" || button === "Bring Back");
    const [node] = await recordNodes(store, [id]);
    await commands.executeCommand("deadTasks.debugNow", node);
    for (const one of watching) one.dispose();
    return stops;
  }

  it("stops where the task failed, and leaves it dead when it fails again", async () => {
    await open("anonymous", 32);
    const before = readFileSync(dataFile(store.description.target.path));
    const stops = await debugNow();
    assert.deepEqual(stops, [`${application}/app/tasks/misbehave.rb:32`], JSON.stringify(dialogs.shown));
    assert.equal(dialogs.shown[0]!.text, "Debug Misbehave now in shop?");
    assert.match(dialogs.shown.at(-1)!.text, /^Misbehave failed again: no name/);
    assert.deepEqual(readFileSync(dataFile(store.description.target.path)), before);
    assert.deepEqual(debug.breakpoints, [], "its own breakpoint has gone with the session");
    const [configuration] = configurations;
    assert.equal(configuration?.type, "rdbg");
    assert.equal(configuration["cwd"], application);
    assert.equal(configuration["command"], `ruby -I ${standIn}`);
    assert.equal(configuration["askParameters"], false);
  });

  it("takes a task that succeeds out of the dead tasks, and leaves the user's breakpoints", async () => {
    await open("environment", 61);
    const mine = new SourceBreakpoint(
      new Location(Uri.file(join(application, "app", "tasks", "misbehave.rb")), new Position(60, 0)),
      false,
    );
    debug.addBreakpoints([mine]);
    const before = readFileSync(dataFile(store.description.target.path));
    assert.deepEqual(await debugNow(), []);
    assert.ok(existsSync(join(application, "noted")), JSON.stringify(dialogs.shown));
    const { text, buttons } = dialogs.shown.at(-1)!;
    assert.equal(text, "Misbehave ran and succeeded. It is no longer among the dead tasks.");
    assert.deepEqual(buttons, ["Bring Back"]);
    await eventually(() => {
      assert.deepEqual(readFileSync(dataFile(store.description.target.path)), before);
      assert.ok(store.task(id), "brought back");
    });
    assert.equal(debug.breakpoints.length, 1);
    const { registry } = await deadTasks();
    assert.ok(registry.stores.includes(store));
  });

  it("does not know how far a task came whose session was ended at a stop", async () => {
    await open("refuse", 14);
    const before = readFileSync(dataFile(store.description.target.path));
    assert.deepEqual(await debugNow(end), [`${application}/app/tasks/misbehave.rb:14`]);
    isUnknown(before);
  });

  it("does not know how far a task came whose session was ended while it ran", async () => {
    await open("wait", 30);
    const before = readFileSync(dataFile(store.description.target.path));
    const stops = await debugNow(async (session, threadId) => {
      await goOn(session, threadId);
      setTimeout(() => void debug.stopDebugging(session), 500);
    });
    assert.deepEqual(stops, [`${application}/app/tasks/misbehave.rb:30`]);
    isUnknown(before);
  });

  function isUnknown(before: Buffer): void {
    const { severity, text } = dialogs.shown.at(-1)!;
    assert.equal(severity, "warning");
    assert.match(text, /^It is not known whether Misbehave ran to its end: .* It is still among the dead tasks\.$/);
    assert.ok(store.task(id));
    assert.deepEqual(readFileSync(dataFile(store.description.target.path)), before);
    assert.deepEqual(debug.breakpoints, []);
  }

  it("says that the debugger cannot be started with what a shell would not take as it stands", async () => {
    await open("environment", 61);
    await workspace
      .getConfiguration("deadTasks")
      .update("runCommand", ["sh", "-c", "exec ruby"], ConfigurationTarget.Global);
    assert.deepEqual(await debugNow(), []);
    assert.match(dialogs.only().text, /^The debugger cannot be started with a space .*: 'exec ruby'\.$/);

    await workspace.getConfiguration("deadTasks").update("runCommand", ["ruby"], ConfigurationTarget.Global);
    application = join(folder(), "shop;exit");
    makeApplication(application);
    await open("environment", 61);
    assert.deepEqual(await debugNow(), []);
    assert.match(dialogs.only().text, /^The debugger cannot be started with .* or its directory: '.*shop;exit'\.$/);
    assert.deepEqual(configurations, []);
  });
});
