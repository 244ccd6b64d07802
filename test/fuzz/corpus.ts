import { readFileSync } from "node:fs";
import { join } from "node:path";
import { undumpString } from "../../src/marshal";
import { parseDeadTaskLine } from "../../src/storage/frames";
import { fixtureCases, logFixture, newTask, referenceLines, taskLine } from "../support/stores";

const fixtures = join(__dirname, "..", "fixtures");
const demo = join(__dirname, "..", "demo-app");

function decoded(base64: string): Buffer {
  return Buffer.from(base64, "base64");
}

/** Marshal streams that Ruby wrote: values of every kind, and the contexts of the fixtures' tasks. */
export const contexts: readonly Buffer[] = fixtureCases.flatMap(({ expected }) =>
  expected.map((task) => decoded(task.context_base64)),
);
export const streams: readonly Buffer[] = [
  ...(JSON.parse(readFileSync(join(fixtures, "marshal.json"), "utf8")) as { base64: string }[]).map(({ base64 }) =>
    decoded(base64),
  ),
  ...contexts,
];

/** Whole data files, lines with their newlines, and what is in those: dumped text and the stream of the record. */
export const dataFiles: readonly Buffer[] = fixtureCases.map(({ dataFile }) => dataFile);
export const deadTaskLines: readonly Buffer[] = [
  ...dataFiles.flatMap((file) => referenceLines(file).lines.map(({ bytes }) => bytes)),
  taskLine(newTask("1767225637-1-1", { exceptionClass: null, backtrace: [] })),
];
export const dumpedRecords: readonly Buffer[] = deadTaskLines.flatMap((line) => {
  const frame = parseDeadTaskLine(line.subarray(0, -1));
  return frame === null ? [] : [line.subarray(frame.dumpedAt, -1)];
});
export const records: readonly Buffer[] = dumpedRecords.flatMap((dumped) => {
  try {
    return [Buffer.from(undumpString(dumped))];
  } catch {
    return [];
  }
});

export const logs: readonly Buffer[] = ["deferred-0-20261101-99999-abc123", "deferred-0-20261129-18690-obltbo"].map(
  (name) => readFileSync(join(logFixture, "storage", name)),
);
export const logLines: readonly Buffer[] = logs.flatMap((log) => referenceLines(log).lines.map(({ bytes }) => bytes));

/** Configuration as people write it. */
export const configurations: readonly Buffer[] = [
  readFileSync(join(demo, "config", "application.rb")),
  readFileSync(join(demo, "config", "initializers", "services.rb")),
  ...[
    'require "rage"\nRage.configure do\n  config.deferred.backend = :disk, { path: Rage.root.join("var", "q"), prefix: "a" }\nend\n',
    "Rage.configure do |config|\n  config.deferred.backend = nil if ENV['X']\nend\n",
    'config.deferred.backend = :disk, path: File.join(__dir__, "..", "#{x}/y"), prefix: %q(a(b)c), **more\n',
    "=begin\nconfig\n=end\nwhile a do b end\ndef c(d = {}) = d\nx = <<~A + <<-'B'\n  #{1}\nA\nB\nconfig.deferred.backend = :disk\n__END__\n",
    'a = %w[b c] ? /d#{e}\\/f/i : ?g\nconfig\n  .deferred\n  .backend ||= [:disk, {"path": Pathname("x") / "y" + \'z\'}]\n',
  ].map((text) => Buffer.from(`require "rage"\n${text}`)),
];
