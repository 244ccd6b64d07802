import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  Command,
  ContextKey,
  detailViewType,
  editScheme,
  ItemKind,
  rawLanguage,
  rawViewType,
  Setting,
  View,
} from "../../src/ids";

interface MenuItem {
  readonly command: string;
  readonly when?: string;
  readonly group?: string;
}
interface Manifest {
  readonly name: string;
  readonly publisher: string;
  readonly icon: string;
  readonly engines: { readonly vscode: string };
  readonly activationEvents: readonly string[];
  readonly capabilities: {
    readonly untrustedWorkspaces: { readonly supported: string; readonly restrictedConfigurations: readonly string[] };
    readonly virtualWorkspaces: { readonly supported: boolean };
  };
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly contributes: {
    readonly viewsContainers: { readonly activitybar: readonly { readonly id: string; readonly icon: string }[] };
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
    readonly viewsWelcome: readonly { readonly view: string; readonly when: string; readonly contents: string }[];
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category: string;
      readonly enablement?: string;
    }[];
    readonly menus: Readonly<Record<string, readonly MenuItem[]>>;
    readonly keybindings: readonly (MenuItem & { readonly args?: { readonly commands: readonly string[] } })[];
    readonly customEditors: readonly unknown[];
    readonly languages: readonly { readonly id: string; readonly filenamePatterns: readonly string[] }[];
    readonly configurationDefaults: Readonly<Record<string, unknown>>;
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly default: unknown; readonly scope?: string }>>;
    };
  };
}

const root = join(import.meta.dirname, "..", "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
const { contributes } = manifest;
const menuItems = Object.values(contributes.menus).flat();
const clauses = [...menuItems, ...contributes.keybindings, ...contributes.viewsWelcome].map(({ when }) => when ?? "");

function sorted(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

describe("manifest", () => {
  it("declares exactly the commands that the code has", () => {
    assert.deepEqual(sorted(contributes.commands.map(({ command }) => command)), sorted(Object.values(Command)));
  });

  it("gives every command a title and the one category", () => {
    for (const { command, title, category } of contributes.commands) {
      assert.ok(title.length > 0, command);
      assert.equal(category, "Dead Tasks", command);
    }
  });

  it("names only declared commands in menus, keys and welcome texts", () => {
    const links = contributes.viewsWelcome.flatMap(({ contents }) =>
      [...contents.matchAll(/\(command:([\w.]+)\)/g)].map((match) => match[1]!),
    );
    const keys = contributes.keybindings.flatMap(({ command, args }) =>
      command === "runCommands" ? (args?.commands ?? []) : [command],
    );
    const used = [...menuItems.map(({ command }) => command), ...keys].filter(
      (command) => !command.startsWith("list."),
    );
    const ours = [...used, ...links].filter((command) => !command.startsWith("vscode."));
    assert.ok(links.length > 3);
    for (const command of ours) assert.ok(Object.values<string>(Command).includes(command), command);
  });

  it("declares the view and its container under the ids of the code", () => {
    assert.deepEqual(
      contributes.viewsContainers.activitybar.map(({ id }) => id),
      [View.container],
    );
    assert.deepEqual(
      contributes.views[View.container]!.map(({ id }) => id),
      [View.tasks, View.pending, View.history],
    );
    const views: readonly string[] = Object.values(View);
    for (const { view } of contributes.viewsWelcome) assert.ok(views.includes(view), view);
  });

  it("goes only by context keys that the code sets, and by each of them", () => {
    const used = clauses.flatMap((clause) => [...clause.matchAll(/deadTasks\.(\w+)/g)].map((match) => match[0]));
    const names: readonly string[] = [...Object.values(View), rawViewType];
    const keys = used.filter((name) => !names.includes(name));
    assert.deepEqual(sorted(keys), sorted(Object.values(ContextKey)));
  });

  it("has a welcome text for each situation that leaves the view empty", () => {
    const ofTasks = contributes.viewsWelcome.filter(({ view }) => view === View.tasks);
    const situations = ofTasks.map(({ when }) => /^deadTasks\.situation == (\w+)$/.exec(when)?.[1]);
    assert.deepEqual(situations, ["noFolder", "noStore", "nil", "empty"]);
  });

  it("tests items only for kinds that the tree has", () => {
    const kinds: readonly string[] = Object.values(ItemKind);
    let tested = 0;
    for (const { when = "" } of contributes.menus["view/item/context"]!) {
      const exact = /viewItem == (\w+)/.exec(when)?.[1];
      const pattern = /viewItem =~ \/(.+?)\//.exec(when)?.[1];
      assert.ok(exact !== undefined || pattern !== undefined, when);
      const matches = kinds.filter((kind) => (exact === undefined ? new RegExp(pattern!).test(kind) : kind === exact));
      assert.ok(matches.length > 0, when);
      tested++;
    }
    assert.ok(tested > 5);
  });

  it("keeps changing commands from read-only items and untrusted workspaces", () => {
    const changing: readonly string[] = [
      Command.retry,
      Command.retryLater,
      Command.editAndRetry,
      Command.retryEdited,
      Command.send,
      Command.delete,
      Command.retryAll,
      Command.deleteAll,
      Command.runNow,
      Command.debugNow,
      Command.retryMatching,
      Command.deleteMatching,
      Command.undo,
      Command.takeBack,
      Command.undoHistory,
    ];
    const readOnly: readonly string[] = [ItemKind.taskReadOnly, ItemKind.unreadableReadOnly, ItemKind.storeReadOnly];
    const offered = [...menuItems, ...contributes.keybindings].filter(({ command }) => changing.includes(command));
    assert.ok(offered.length > 5);
    for (const { command, when = "" } of offered) {
      assert.ok(when === "false" || when.includes("isWorkspaceTrusted"), `${command}: ${when}`);
      const pattern = /viewItem =~ \/(.+?)\//.exec(when)?.[1];
      const exact = /viewItem == (\w+)/.exec(when)?.[1];
      // A copy leaves the store that it is read from as it is.
      if (command === Command.send) continue;
      for (const kind of readOnly) {
        assert.notEqual(kind, exact);
        if (pattern !== undefined) assert.doesNotMatch(kind, new RegExp(pattern));
      }
    }
    for (const { command, enablement } of contributes.commands) {
      assert.equal(enablement, changing.includes(command) ? "isWorkspaceTrusted" : undefined, command);
    }
  });

  it("hides the commands of an item from the palette", () => {
    const hidden = contributes.menus["commandPalette"]!.filter(({ when }) => when === "false").map(
      ({ command }) => command,
    );
    const ofItems = contributes.menus["view/item/context"]!.map(({ command }) => command);
    const elsewhere: readonly string[] = [
      Command.openFailingLine,
      Command.openTaskClass,
      Command.retryAll,
      Command.deleteAll,
      Command.retryMatching,
      Command.deleteMatching,
    ];
    for (const command of ofItems) assert.ok(hidden.includes(command) || elsewhere.includes(command), command);
    assert.ok(hidden.includes(Command.show) && hidden.includes(Command.showMore));
  });

  it("has at most three inline actions an item", () => {
    for (const kind of Object.values(ItemKind)) {
      const inline = contributes.menus["view/item/context"]!.filter(({ group = "", when = "" }) => {
        const pattern = /viewItem =~ \/(.+?)\//.exec(when)?.[1];
        const matches = pattern === undefined ? when.includes(`viewItem == ${kind} `) : new RegExp(pattern).test(kind);
        return group.startsWith("inline") && matches;
      });
      assert.ok(inline.length <= 3, kind);
    }
  });

  it("declares the settings of the code, and takes them from the user or from trusted workspaces alone", () => {
    const { section, ...settings } = Setting;
    const names = Object.values(settings).map((name) => `${section}.${name}`);
    const { properties } = contributes.configuration;
    assert.deepEqual(sorted(Object.keys(properties)), sorted(names));
    assert.equal(manifest.capabilities.untrustedWorkspaces.supported, "limited");
    const ofWorkspaces = names.filter((name) => properties[name]?.scope !== "application");
    assert.deepEqual(sorted(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations), sorted(ofWorkspaces));
    assert.deepEqual(sorted(names.filter((name) => !ofWorkspaces.includes(name))), [
      "deadTasks.history.days",
      "deadTasks.history.megabytes",
      "deadTasks.undo.days",
      "deadTasks.undo.megabytes",
    ]);
    assert.equal(manifest.capabilities.virtualWorkspaces.supported, false);
  });

  it("offers its raw view for data files, and makes it nobody's default", () => {
    assert.deepEqual(contributes.customEditors, [
      {
        viewType: rawViewType,
        displayName: "Dead Tasks: Raw Storage",
        selector: contributes.languages[0]!.filenamePatterns.map((filenamePattern) => ({ filenamePattern })),
        priority: "option",
      },
    ]);
  });

  it("declares the language of raw storage files, and no setting of any other", () => {
    assert.deepEqual(
      contributes.languages.map(({ id }) => id),
      [rawLanguage],
    );
    assert.deepEqual(Object.keys(contributes.configurationDefaults), [`[${rawLanguage}]`]);
  });

  it("masks the usual secrets unless told otherwise", () => {
    const masked = contributes.configuration.properties["deadTasks.maskedNames"]!.default as string[];
    for (const name of ["password", "secret", "token", "authorization", "api_key", "card"])
      assert.ok(masked.includes(name), name);
  });

  it("activates for the badge, and for a pane and an edited task that are restored", () => {
    assert.deepEqual(manifest.activationEvents, [
      "onStartupFinished",
      `onFileSystem:${editScheme}`,
      `onWebviewPanel:${detailViewType}`,
    ]);
  });

  it("names files that exist", () => {
    const icons = contributes.viewsContainers.activitybar.map(({ icon }) => icon);
    for (const file of [manifest.icon, ...icons]) assert.ok(existsSync(join(root, file)), file);
  });

  it("does not use types of an editor newer than the oldest that it runs in", () => {
    const minor = (range: string): string | undefined => /1\.(\d+)/.exec(range)?.[1];
    assert.equal(minor(manifest.devDependencies["@types/vscode"]!), minor(manifest.engines.vscode));
  });

  it("opens the settings of this very extension", () => {
    const source = readFileSync(join(root, "src", "settings.ts"), "utf8");
    assert.ok(source.includes(`@ext:${manifest.publisher}.${manifest.name}`));
  });

  it("has no command or setting name written out beside the ids", () => {
    const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts"),
    );
    assert.ok(files.includes("ids.ts"));
    for (const file of files.filter((name) => name !== "ids.ts")) {
      const text = readFileSync(join(root, "src", file), "utf8");
      for (const id of Object.values(Command)) assert.ok(!text.includes(`"${id}"`), `${file} has ${id}`);
    }
  });
});
