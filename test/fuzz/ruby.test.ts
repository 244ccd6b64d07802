import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { frontByDecoding } from "../../src/storage/recordIndex";
import type { RecordFront } from "../../src/storage/recordReader";
import { Random } from "./random";
import { mutatedRecord } from "./recordTargets";

const seed = process.env["FUZZ_SEED"] ?? "1";
const count = Number(process.env["FUZZ_RUBY_INPUTS"] ?? 3_000);

/** What Ruby made of a record. Texts as Base64, what is none of them as the name of its class. */
type RubyAnswer =
  | { readonly refused: string }
  | {
      readonly texts: Readonly<Record<"task_class" | "exception_class" | "exception_message", string>>;
      readonly numbers: Readonly<Record<"attempts" | "enqueued_at" | "failed_at", string>>;
      readonly context: boolean;
    };

function askRuby(inputs: readonly Buffer[]): RubyAnswer[] {
  const run = spawnSync("ruby", ["-W0", join(__dirname, "rubyReader.rb")], {
    input: inputs.map((input) => `${input.toString("base64")}\n`).join(""),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  assert.equal(run.error, undefined, "Ruby is needed for this test");
  assert.equal(run.status, 0, run.stderr);
  return run.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RubyAnswer);
}

const asText = (base64: string): string => Buffer.from(base64, "base64").toString("utf8");

function fromRuby({ texts, numbers }: Exclude<RubyAnswer, { refused: string }>): RecordFront {
  const textOrNil = (text: string): string | null => (text === "NilClass" ? null : asText(text));
  return {
    taskClass: asText(texts.task_class),
    attempts: Number(numbers.attempts),
    enqueuedAt: Number(numbers.enqueued_at),
    failedAt: Number(numbers.failed_at),
    exceptionClass: textOrNil(texts.exception_class),
    exceptionMessage: textOrNil(texts.exception_message) ?? "",
  };
}

/** What Ruby loads and we call unreadable, since neither Ruby nor Rage ever writes it. Shown with the reason, never hidden. */
const stricter = [
  /^not a readable Marshal dump: .*(never writes|does not write|without a sign|is understood|lacks its two|length below zero)/,
  /^the record has no \w+$/,
  /^the record's backtrace is not an Array$/,
];

describe(`hostile records before Ruby, seed ${seed}`, function () {
  this.timeout(300_000);

  it(`${count} of them are read by both alike, or refused for a known reason`, () => {
    const inputs = Array.from({ length: count }, (_, index) => mutatedRecord(new Random(`${seed}:ruby:${index}`)));
    const answers = askRuby(inputs);
    assert.equal(answers.length, count);
    let alike = 0;
    answers.forEach((answer, index) => {
      const ours = frontByDecoding(inputs[index]!);
      const what = `${seed}:ruby:${index} ${inputs[index]!.toString("latin1")}`;
      const isRead = !("refused" in answer) && answer.context;
      if (typeof ours === "string") {
        if (isRead)
          assert.ok(
            stricter.some((reason) => reason.test(ours)),
            `${ours}\n${what}`,
          );
      } else if (isRead) {
        assert.deepEqual(ours, fromRuby(answer), what);
        alike += 1;
      } else {
        // Which classes there are only the application knows.
        const refused = "refused" in answer ? answer.refused : "the context is no String";
        assert.match(refused, /undefined class|does not refer to|not a String, but|needs to have method/, what);
      }
    });
    assert.ok(alike > count / 20, `${alike} were read by both`);
  });
});
