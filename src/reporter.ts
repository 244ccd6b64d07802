import { window, type Disposable, type LogOutputChannel } from "vscode";
import { ServiceError } from "./service/storeService";
import { withoutLinks } from "./text/labels";

/** A button of a notification. */
export interface NotificationAction {
  readonly title: string;
  readonly run: () => void | Promise<void>;
}

/** The log, and the one way in which a failure reaches the user. Nothing of a task's arguments may ever be passed here. */
export class Reporter implements Disposable {
  readonly #channel: LogOutputChannel = window.createOutputChannel("Dead Tasks", { log: true });
  readonly #shown = new Set<string>();

  log(level: "info" | "warn" | "error", text: string): void {
    this.#channel[level](text);
  }

  showLog(): void {
    this.#channel.show(true);
  }

  /** One notification with a way to the log. `doing` completes "Could not …". */
  failure(doing: string, error: unknown): void {
    this.#logFailure(doing, error);
    this.notify("error", `Could not ${doing}: ${userMessage(error)}`);
  }

  /** The same for what nobody asked for and may fail again and again: each text is shown once. */
  failureOnce(doing: string, error: unknown): void {
    const text = `Could not ${doing}: ${userMessage(error)}`;
    this.#logFailure(doing, error);
    if (this.#shown.has(text)) return;
    this.#shown.add(text);
    this.notify("error", text);
  }

  /** Does not wait for the answer: a notification may stay for hours, and work must not stand still behind it. */
  notify(severity: "error" | "warning", text: string, actions: readonly NotificationAction[] = []): void {
    const showLog: NotificationAction = {
      title: "Show Log",
      run: () => {
        this.showLog();
      },
    };
    const all = [...actions, showLog];
    const show = severity === "error" ? window.showErrorMessage : window.showWarningMessage;
    void show(withoutLinks(text), ...all.map(({ title }) => title)).then((choice) =>
      all.find(({ title }) => title === choice)?.run(),
    );
  }

  #logFailure(doing: string, error: unknown): void {
    // A ServiceError was foreseen and says all there is; anything else is a defect, and its stack is what helps.
    const detail =
      error instanceof ServiceError
        ? `${error.message} (${error.code})`
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error);
    this.#channel.error(`Could not ${doing}: ${detail}`);
  }

  dispose(): void {
    this.#channel.dispose();
  }
}

export function userMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
