import {
  env,
  languages,
  Range,
  window,
  workspace,
  WorkspaceEdit,
  type QuickPickItem,
  type TextDocument,
  type Uri,
} from "vscode";
import { offer } from "../actions/asking";
import { readTask } from "../actions/readTask";
import type { RecordReference } from "../actions/references";
import type { CodeFiles } from "../code/codeFiles";
import { failingFrame } from "../code/frameFiles";
import { columnBeside } from "../code/openPlace";
import type { TaskClasses } from "../code/taskClasses";
import type { DetailPane } from "../detail/detailPane";
import type { Reporter } from "../reporter";
import type { RubyReader } from "../ruby/reader";
import type { StoreService } from "../service/storeService";
import { oneLine, withoutLinks } from "../text/labels";
import { distinction, frameworksOf, requiresFor, testPath, type TestHabits } from "./conventions";
import { consoleSnippet, testText, type Framework, type Reproduction } from "./reproductionText";
import { freeName, habitsOf, placeOf } from "./testPlace";

export interface ReproduceServices {
  readonly service: StoreService;
  readonly code: CodeFiles;
  readonly taskClasses: TaskClasses;
  readonly ruby: RubyReader;
  readonly pane: DetailPane;
  readonly reporter: Reporter;
}

/** Copies what performs the task in the application's console; secrets are masked, and offered afterwards. */
export async function copyConsoleSnippet(
  record: RecordReference,
  services: ReproduceServices,
  reveal = false,
): Promise<void> {
  const reproduction = await readReproduction(record, services, reveal);
  if (reproduction === null) return;
  await env.clipboard.writeText(consoleSnippet(reproduction));
  if (!reproduction.task.masked) {
    window.setStatusBarMessage("Copied for the console", 3000);
    return;
  }
  const run = (): Promise<void> => copyConsoleSnippet(record, services, true);
  offer("Copied for the console, with secrets as [FILTERED].", [{ title: "Copy with Secrets", run }]);
}

/**
 * Opens a test that fails as the task did, as a document that is not saved yet: the user reads it, and saves it where it belongs or
 * not at all. Secrets are masked, and offered afterwards.
 */
export async function generateTest(record: RecordReference, services: ReproduceServices): Promise<void> {
  const reproduction = await readReproduction(record, services, false);
  if (reproduction === null) return;
  const { taskClass } = reproduction.call;
  const { taskClasses, ruby, reporter, pane } = services;
  const place = await placeOf(taskClass, record.store, taskClasses);
  const habits = place === null ? noHabits : await habitsOf(place.application, ruby, reporter);
  const framework = await chooseFramework(habits);
  if (framework === undefined) return;
  const name = place === null ? null : await freeName(framework, taskClass, place);
  const options = {
    requires: requiresFor(framework, habits, name?.path ?? testPath(framework, taskClass, null, 0)),
    distinction: distinction(name?.attempt ?? 0),
  };
  const text = testText(framework, reproduction, options);
  const document = await untitled(name?.file ?? null, text);
  await show(document, pane);
  if (!reproduction.task.masked) return;
  const fillIn = async (): Promise<void> => {
    const revealed = await readReproduction(record, services, true);
    if (revealed === null) return;
    const whole = testText(framework, revealed, options);
    if (!document.isClosed && document.getText() === text) await replaceAll(document, whole);
    else await show(await untitled(null, whole), pane);
  };
  offer("The test has [FILTERED] in place of secrets.", [{ title: "Fill In Secrets", run: fillIn }]);
}

const noHabits: TestHabits = { present: new Set(), gems: new Set(), tests: [] };

/** Null, and said why, where the task cannot be read or written as a call. */
async function readReproduction(
  record: RecordReference,
  { service, code, reporter }: ReproduceServices,
  reveal: boolean,
): Promise<Reproduction | null> {
  try {
    const read = await readTask(service, record, reveal);
    if (read === null) return null;
    const { task, context } = read;
    if (context.call === null) {
      const why = "it has too many arguments, or no class that Ruby could name";
      void window.showWarningMessage(withoutLinks(`${oneLine(record.name)} cannot be written as a call: ${why}.`));
      return null;
    }
    const failing = failingFrame(await code.resolve(task.backtrace, record.store));
    return { task, context, call: context.call, place: failing?.place ?? null };
  } catch (error) {
    reporter.failure(`read ${oneLine(record.name)}`, error);
    return null;
  }
}

/** The one that the application uses; where it uses both or none, the user says. */
async function chooseFramework(habits: TestHabits): Promise<Framework | undefined> {
  const used = frameworksOf(habits);
  const [only] = used;
  if (used.length === 1) return only;
  const items: (QuickPickItem & { framework: Framework })[] = [
    { label: "RSpec", framework: "rspec" },
    { label: "Minitest", framework: "minitest" },
  ];
  const title = used.length === 0 ? "No tests were found in the application" : "The application uses both";
  return (await window.showQuickPick(items, { title, placeHolder: "Write the test for which?" }))?.framework;
}

/** `file`: where it goes when it is saved; null for a document that asks for its name then. */
async function untitled(file: Uri | null, text: string): Promise<TextDocument> {
  if (file === null) return workspace.openTextDocument({ language: "ruby", content: text });
  const opened = await workspace.openTextDocument(file.with({ scheme: "untitled" }));
  const document = opened.languageId === "ruby" ? opened : await languages.setTextDocumentLanguage(opened, "ruby");
  await replaceAll(document, text);
  return document;
}

async function replaceAll(document: TextDocument, text: string): Promise<void> {
  const edit = new WorkspaceEdit();
  edit.replace(document.uri, new Range(0, 0, document.lineCount, 0), text);
  if (!(await workspace.applyEdit(edit))) throw new Error("the editor did not take the text");
}

async function show(document: TextDocument, { column }: DetailPane): Promise<void> {
  await window.showTextDocument(document, { viewColumn: columnBeside(column), preview: false });
}
