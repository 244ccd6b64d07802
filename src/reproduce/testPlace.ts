import path from "node:path";
import { FileType, RelativePattern, Uri, workspace } from "vscode";
import { rootsOf } from "../code/codeFiles";
import { insideOf } from "../code/frames";
import { applicationOf, choices, type TaskClasses } from "../code/taskClasses";
import { userMessage, type Reporter } from "../reporter";
import { largestSource, type LiteralCall } from "../ruby/protocol";
import type { RubyReader } from "../ruby/reader";
import type { StoreModel } from "../stores/storeModel";
import { helpers, testPath, type TestHabits } from "./conventions";
import type { Framework } from "./reproductionText";

/** Of so many of an application's own tests it is read what they require. */
const lookedInto = 30;

/** The application that a task belongs to, and the file of its class in it. */
export interface TaskPlace {
  /** Absolute. */
  readonly application: string;
  /** Relative to the application, with slashes; null where the class was not found there. */
  readonly file: string | null;
}

/** Null where no folder is open. */
export async function placeOf(taskClass: string, store: StoreModel, classes: TaskClasses): Promise<TaskPlace | null> {
  const roots = rootsOf(store);
  const [first] = roots;
  if (first === undefined) return null;
  const { found } = await classes.find(taskClass, store);
  const [best] = choices(found, applicationOf(store));
  for (const application of best === undefined ? [] : roots) {
    const inside = insideOf(application, best?.file ?? "", path);
    if (inside !== null) return { application, file: inside.replaceAll("\\", "/") };
  }
  return { application: first, file: null };
}

/** What the application's files tell of how it tests. Files that cannot be read tell nothing. */
export async function habitsOf(application: string, ruby: RubyReader, reporter: Reporter): Promise<TestHabits> {
  const calls = async (file: Uri, names: readonly string[]): Promise<readonly LiteralCall[]> => {
    try {
      const bytes = await workspace.fs.readFile(file);
      if (bytes.length > largestSource) return [];
      return await ruby.literalCalls(Buffer.from(bytes).toString("utf8"), names);
    } catch (error) {
      reporter.log("info", `${file.fsPath} was not looked into: ${userMessage(error)}`);
      return [];
    }
  };
  const names = [".rspec", "spec", "test", ...Object.values(helpers).flat()];
  const there = await Promise.all(names.map((name) => exists(Uri.file(path.join(application, name)))));
  const gemfile = Uri.file(path.join(application, "Gemfile"));
  const gems = (await exists(gemfile)) ? await calls(gemfile, ["gem"]) : [];
  const pattern = new RelativePattern(Uri.file(application), "{spec,test}/**/*_{spec,test}.rb");
  const files = await workspace.findFiles(pattern, null, lookedInto);
  const tests = await Promise.all(
    files.map(async (file) => ({
      path: path.relative(application, file.fsPath).replaceAll("\\", "/"),
      requires: await calls(file, ["require", "require_relative"]),
    })),
  );
  return {
    present: new Set(names.filter((_, index) => there[index])),
    gems: new Set(gems.map(({ argument }) => argument)),
    tests,
  };
}

export interface FreeName {
  /** Relative to the application. */
  readonly path: string;
  /** The file on the disk, which is not there. */
  readonly file: Uri;
  readonly attempt: number;
}

/** The first conventional name for a test that neither a file nor an open document has. */
export async function freeName(framework: Framework, taskClass: string, place: TaskPlace): Promise<FreeName> {
  for (let attempt = 0; ; attempt++) {
    const name = testPath(framework, taskClass, place.file, attempt);
    const file = Uri.file(path.join(place.application, name));
    const isOpen = workspace.textDocuments.some(({ uri }) => uri.path === file.path);
    if (!isOpen && !(await exists(file))) return { path: name, file, attempt };
  }
}

async function exists(uri: Uri): Promise<boolean> {
  try {
    return (await workspace.fs.stat(uri)).type !== FileType.Unknown;
  } catch {
    return false; // Not there, or not for us to see: then it cannot be written to either.
  }
}
