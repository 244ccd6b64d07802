import { window, type QuickPickItem } from "vscode";
import { absoluteTime } from "../text/times";
import { nextMorning, parseWhen } from "../text/when";

interface Choice extends QuickPickItem {
  /** Unix seconds; null to ask for it. */
  readonly at: number | null;
}

/** Asks for the time at which a retry is to run: Unix seconds, or undefined where the user thought better of it. */
export async function askWhen(count: number): Promise<number | undefined> {
  const now = Math.floor(Date.now() / 1000);
  const choice = (label: string, at: number): Choice => ({ label, description: absoluteTime(at), at });
  const choices: Choice[] = [
    choice("In 10 minutes", now + 600),
    choice("In an hour", now + 3_600),
    choice("Tomorrow morning", nextMorning(now, 9)),
    { label: "At another time…", at: null },
  ];
  const what = count === 1 ? "the task" : `the ${count} tasks`;
  const placeHolder = `When is ${what} to run? A Rage worker must have started after the retry for it to run at all.`;
  const chosen = await window.showQuickPick(choices, { placeHolder });
  return chosen === undefined ? undefined : (chosen.at ?? (await askForText()));
}

async function askForText(): Promise<number | undefined> {
  const prompt = "30m, 2h or 1d from now; 14:30; or 2026-12-01 09:00, in local time";
  const text = await window.showInputBox({
    title: "Retry Later",
    prompt,
    validateInput: (value) =>
      value === "" || parseWhen(value, Date.now() / 1000) !== null
        ? undefined
        : `This is no time to come. Write ${prompt}.`,
  });
  return text === undefined ? undefined : (parseWhen(text, Date.now() / 1000) ?? undefined);
}
