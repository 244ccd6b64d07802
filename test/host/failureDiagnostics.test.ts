import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import {
  commands,
  ConfigurationTarget,
  DiagnosticSeverity,
  languages,
  Uri,
  workspace,
  type CodeAction,
  type Diagnostic,
} from "vscode";
import { dataFile } from "../support/fixtures";
import { secondProcesses, taskMessage } from "../support/processes";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { commandLine, deadTasks, eventually, folder, openStores, setStores, storeNamed } from "./window";

/** What "at once" means to a user, in milliseconds. */
const atOnce = 1_000;

describe("problems on failing lines", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();

  before(async () => {
    await setStores(undefined);
    await storeNamed("bookshop");
  });

  afterEach(async () => {
    await set(undefined);
    await setStores(undefined);
    await commands.executeCommand("workbench.action.closeAllEditors");
    await eventually(() => {
      assert.deepEqual(all(), []);
    });
  });

  async function set(value: string | undefined): Promise<void> {
    await workspace.getConfiguration("deadTasks").update("diagnostics", value, ConfigurationTarget.Workspace);
  }

  function all(): [Uri, Diagnostic][] {
    return languages
      .getDiagnostics()
      .flatMap(([uri, list]) =>
        list.filter(({ source }) => source === "Dead Tasks").map((one): [Uri, Diagnostic] => [uri, one]),
      );
  }

  function at(name: string, line: number): Diagnostic | undefined {
    return all().find(([uri, { range }]) => uri.fsPath === join(folder(), name) && range.start.line === line - 1)?.[1];
  }

  it("are there only when asked for, with the severity that was asked for", async () => {
    assert.deepEqual(all(), []);
    await set("warning");
    await eventually(() => {
      const found = at("app/tasks/resize_image.rb", 8);
      assert.match(found!.message, /^\d+ tasks? died here, [^:]+: Errno::ENOENT: /);
      assert.equal(found!.severity, DiagnosticSeverity.Warning);
    });
    await set("error");
    await eventually(() => {
      assert.equal(at("app/tasks/resize_image.rb", 8)!.severity, DiagnosticSeverity.Error);
    });
    for (const value of ["off", "loud"]) {
      await set("information");
      await eventually(() => {
        assert.equal(at("app/tasks/resize_image.rb", 8)!.severity, DiagnosticSeverity.Information);
      });
      await set(value);
      await eventually(() => {
        assert.deepEqual(all(), []);
      });
    }
  });

  it("follow a worker and the command line within a second, grouped by line", async () => {
    await set("warning");
    const storage = copyFixture(folders.make(), "empty");
    await openStores({ path: storage, name: "copied" });
    const worker = processes.ruby(storage);
    await worker.request({ do: "ping" });
    const failedAt = Math.floor(Date.now() / 1000);
    const backtrace = ["/srv/app/config.ru:2:in `call'"];
    const exceptionMessage = `one\u202e\u0007\ntwo ${"x".repeat(500)}`;
    const first = newTask("1767226000-1-1", { failedAt, backtrace, exceptionMessage });
    await worker.request({ do: "add", task: taskMessage(first) });
    await eventually(() => {
      const { message } = at("config.ru", 2)!;
      assert.ok(message.startsWith("1 task died here, just now: RuntimeError: one"), message);
      assert.doesNotMatch(message, /[\u202e\u0007\n]/);
      assert.match(message, /^.{300,400}…$/);
    }, atOnce);
    await worker.request({ do: "add", task: taskMessage(newTask("1767226000-1-2", { failedAt, backtrace })) });
    await eventually(() => {
      assert.match(at("config.ru", 2)!.message, /^2 tasks died here, last just now: RuntimeError: /);
    }, atOnce);

    await workspace.openTextDocument(join(folder(), "config.ru"));
    const uri = Uri.file(join(folder(), "config.ru"));
    const actions = await commands.executeCommand<CodeAction[]>(
      "vscode.executeCodeActionProvider",
      uri,
      at("config.ru", 2)!.range,
    );
    const ours = actions.find(({ command }) => command?.command === "deadTasks.showClassTasks");
    assert.equal(ours!.title, "Show 2 Dead Tasks…");

    await commandLine("delete", "1767226000-1-1", "--storage", storage);
    await eventually(() => {
      assert.equal(at("config.ru", 2)!.message, "1 task died here, just now: RuntimeError: message of 1767226000-1-2");
    }, atOnce);
    const [only] = await commands.executeCommand<CodeAction[]>(
      "vscode.executeCodeActionProvider",
      uri,
      at("config.ru", 2)!.range,
    );
    assert.equal(only!.title, "Show Dead Task");
    await commands.executeCommand(only!.command!.command, ...(only!.command!.arguments as unknown[]));
    const { pane } = await deadTasks();
    assert.equal(pane.state!.reference.id, "1767226000-1-2");
    await commandLine("delete", "--all", "--storage", storage);
    await eventually(() => {
      assert.equal(at("config.ru", 2), undefined);
    }, atOnce);
  });

  it("look at the newest two hundred of a store", async () => {
    const storage = copyFixture(folders.make(), "empty");
    const line = (number: number, file: string): Buffer =>
      taskLine(newTask(`1767226000-1-${number}`, { backtrace: [`${folder()}/${file}:1:in 'x'`] }));
    appendFileSync(dataFile(storage), line(0, "Rakefile"));
    for (let number = 1; number <= 200; number++) appendFileSync(dataFile(storage), line(number, "config.ru"));
    await openStores({ path: storage, name: "copied" });
    await set("warning");
    await eventually(() => {
      assert.match(at("config.ru", 1)!.message, /^200 tasks died here/);
    });
    assert.equal(at("Rakefile", 1), undefined);
  });
});
