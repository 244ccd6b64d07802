import { InputBoxValidationSeverity, ThemeIcon, window, type QuickInputButton } from "vscode";
import type { StoreRegistry } from "../stores/storeRegistry";
import { counted, formatCount } from "../text/labels";
import { FilteredTasks } from "./filteredTasks";
import { textFilter } from "./taskFilter";
import type { TaskView } from "./taskView";

const prompt = 'Words and "phrases" that all occur. Only in one place: class: exception: message: id:';

/** Asks for the list's filter, with the number of tasks that it lets through while it is typed; nothing is shown otherwise before Enter. */
export function askFilter(view: TaskView, registry: StoreRegistry): Promise<void> {
  const input = window.createInputBox();
  const clear: QuickInputButton = { iconPath: new ThemeIcon("clear-all"), tooltip: "Clear Filter" };
  input.title = "Filter Dead Tasks";
  input.placeholder = 'timeout class:Charge "card declined"';
  input.prompt = prompt;
  input.value = view.filtered.filter?.text ?? "";
  if (view.filtered.filter !== null) input.buttons = [clear];
  // Of its own, so that the count follows what is typed and what comes and goes, and the list does not move before it is asked to.
  const typed = new FilteredTasks(registry);
  const tell = (): void => {
    input.validationMessage = typed.filter === null ? undefined : countMessage(typed);
  };
  const follow = (): void => {
    typed.set(textFilter(input.value));
  };
  return new Promise((resolve) => {
    const subscriptions = [
      typed,
      typed.onDidChange(tell),
      registry.onDidChange(tell),
      input.onDidChangeValue(follow),
      input.onDidTriggerButton(() => {
        view.setFilter(null);
        input.hide();
      }),
      input.onDidAccept(() => {
        view.setFilter(textFilter(input.value));
        input.hide();
      }),
      input.onDidHide(() => {
        for (const subscription of subscriptions) subscription.dispose();
        input.dispose();
        resolve();
      }),
    ];
    follow();
    input.show();
  });
}

function countMessage(typed: FilteredTasks): { message: string; severity: InputBoxValidationSeverity } {
  const { shown, all } = typed.counts;
  const isNone = shown === 0 && typed.isSettled;
  return {
    message: isNone ? `None of ${counted(all, "task")} matches.` : `${formatCount(shown)} of ${counted(all, "task")}`,
    severity: isNone ? InputBoxValidationSeverity.Warning : InputBoxValidationSeverity.Info,
  };
}
