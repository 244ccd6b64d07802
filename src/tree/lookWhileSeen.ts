import { Disposable, type TreeView } from "vscode";
import type { Event } from "../stores/emitter";

/**
 * Looks when the view comes into sight, every `interval` milliseconds while it is seen, and when something happens then. Nothing is
 * read as long as nobody looks at it. `look` must not reject.
 */
export function lookWhileSeen(
  view: TreeView<unknown>,
  interval: number,
  look: () => Promise<void>,
  happenings: readonly Event<undefined>[],
): Disposable {
  const lookIfSeen = (): void => {
    if (view.visible) void look();
  };
  const timer = setInterval(lookIfSeen, interval);
  return Disposable.from(
    view.onDidChangeVisibility(lookIfSeen),
    ...happenings.map((happening) => happening(lookIfSeen)),
    new Disposable(() => {
      clearInterval(timer);
    }),
  );
}
