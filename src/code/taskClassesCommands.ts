import { Range, Uri, window, workspace, type QuickPickItem, type ViewColumn } from "vscode";
import type { DetailPane } from "../detail/detailPane";
import { showInList } from "../raw/showInList";
import type { TaskSummary } from "../service/protocol";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { counted, errorLine, formatCount, oneLine, withoutLinks } from "../text/labels";
import { relativeTime } from "../text/times";
import type { TaskView } from "../tree/taskView";
import { columnBeside } from "./openPlace";
import { applicationOf, choices, type FoundClass, type TaskClasses } from "./taskClasses";

/** How many tasks a pick offers; the list in the side bar has them all. */
const picked = 500;

export interface ClassCommandServices {
  readonly registry: StoreRegistry;
  readonly taskClasses: TaskClasses;
  readonly view: TaskView;
  readonly pane: DetailPane;
}

export interface StoredTask {
  readonly store: StoreModel;
  readonly task: TaskSummary;
}

/** A task class, in the application of a store where one is known. */
export interface ClassReference {
  readonly name: string;
  readonly store: StoreModel | null;
}

/** Opens the definition of a task's class, at its `perform`; says what was looked for where there is none. Without `given` the class is asked for. */
export async function openTaskClass(given: ClassReference | undefined, services: ClassCommandServices): Promise<void> {
  const meant = given ?? (await pickClass(services.registry, "Go to which task class?"));
  if (meant === undefined) return;
  if (meant.name === "") {
    void window.showInformationMessage("This task names no class.");
    return;
  }
  const { found, absence } = await services.taskClasses.find(meant.name, meant.store);
  if (found.length === 0) {
    void window.showInformationMessage(withoutLinks(absence));
    return;
  }
  const application = meant.store === null ? null : applicationOf(meant.store);
  const chosen = await pickDefinition(choices(found, application), meant.name);
  if (chosen !== undefined) await openDefinition(chosen, services.pane.column);
}

/**
 * Shows a task of a class or of a line: the only one at once, of several the one that is picked. `given`: the arguments of the
 * command: a class with the keys of stores, or a list of tasks; for anything else the class is asked for.
 */
export async function showClassTasks(given: readonly unknown[], services: ClassCommandServices): Promise<void> {
  const { registry } = services;
  const [what, keys] = given;
  if (Array.isArray(what)) {
    await showOneOf(
      what.flatMap((one) => storedTask(one, registry)),
      "on this line",
      services,
    );
    return;
  }
  const storeKeys = Array.isArray(keys) ? (keys as readonly unknown[]) : null;
  const chosen =
    typeof what === "string"
      ? { name: what, stores: registry.stores.filter(({ key }) => storeKeys?.includes(key) ?? true) }
      : await pickClass(registry, "Show the dead tasks of which class?").then(
          (one) => one && { name: one.name, stores: one.store === null ? [] : [one.store] },
        );
  if (chosen === undefined) return;
  const { name, stores } = chosen;
  const tasks = stores.flatMap((store) => store.classes.newestFirst(name).map((task) => ({ store, task })));
  await showOneOf(tasks, `of ${oneLine(name)}`, services);
}

/** Another extension may call the command with whatever it likes. */
function storedTask(value: unknown, registry: StoreRegistry): StoredTask[] {
  if (typeof value !== "object" || value === null || !("storeKey" in value) || !("id" in value)) return [];
  const store = registry.stores.find(({ key }) => key === value.storeKey);
  const task = typeof value.id === "string" ? store?.task(value.id) : undefined;
  return store === undefined || task === undefined ? [] : [{ store, task }];
}

/** `what`: what the tasks have in common, as it goes on after "7 dead tasks". */
async function showOneOf(
  tasks: readonly StoredTask[],
  what: string,
  { registry, view, pane }: ClassCommandServices,
): Promise<void> {
  if (tasks.length === 0) {
    void window.showInformationMessage(withoutLinks(`There is no dead task ${what} any more.`));
    return;
  }
  const sorted = [...tasks].sort((one, other) => other.task.failedAt - one.task.failedAt);
  const now = Date.now() / 1000;
  const items = sorted.slice(0, picked).map((stored): QuickPickItem & StoredTask => {
    const storeName = registry.stores.length > 1 ? ` · ${stored.store.name}` : "";
    return {
      ...stored,
      // Short enough to leave room for the time.
      label: oneLine(errorLine(stored.task), 60),
      description: `${relativeTime(stored.task.failedAt, now)}${storeName}`,
    };
  });
  const [only] = items;
  const shown = items.length < tasks.length ? `, the newest ${formatCount(items.length)} of them here` : "";
  const chosen =
    items.length === 1
      ? only
      : await window.showQuickPick(items, {
          title: `${counted(tasks.length, "dead task")} ${what}${shown}`,
          placeHolder: "Show which one?",
          matchOnDescription: true,
        });
  if (chosen === undefined) return;
  // Pointed out in the list where that is in sight; a list that is not does not push away what is.
  if (view.view.visible) await showInList(view, pane, chosen.store, chosen.task.id);
  else await pane.show(chosen.store, chosen.task.id);
}

async function pickClass(registry: StoreRegistry, prompt: string): Promise<ClassReference | undefined> {
  const ready = registry.stores.filter(({ wasReady }) => wasReady);
  const items = ready.flatMap((store) =>
    [...store.classes.names()].map((name) => {
      const count = counted(store.classes.count(name), "dead task");
      const description = ready.length > 1 ? `${count} · ${store.name}` : count;
      return { label: name === "" ? "(no class)" : oneLine(name), description, name, store };
    }),
  );
  if (items.length === 0) {
    void window.showInformationMessage("There are no dead tasks.");
    return undefined;
  }
  items.sort((one, other) => (one.label < other.label ? -1 : 1));
  return window.showQuickPick(items, { placeHolder: prompt });
}

async function pickDefinition(found: readonly FoundClass[], name: string): Promise<FoundClass | undefined> {
  if (found.length <= 1) return found[0];
  const items = found.map((one) => {
    const { file, definition } = one;
    const line = (definition.perform ?? definition).nameRange.start.line + 1;
    return { label: `${workspace.asRelativePath(file)}:${line}`, one };
  });
  const title = `${name} is defined in ${counted(found.length, "place")}`;
  return (await window.showQuickPick(items, { title, placeHolder: "Open which one?" }))?.one;
}

async function openDefinition({ file, definition }: FoundClass, column: ViewColumn | undefined): Promise<void> {
  const { line, character } = (definition.perform ?? definition).nameRange.start;
  // Beside the pane where there is room already, so that error and code are seen together.
  await window.showTextDocument(Uri.file(file), {
    viewColumn: columnBeside(column),
    selection: new Range(line, character, line, character),
  });
}
