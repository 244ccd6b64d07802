import { dumpString } from "../../../src/marshal";
import { bignum, letters, stream, times } from "./marshalCases";
import type { HostileCase } from "./index";

/** A record of Rage's keys, some of them with a value from a Marshal stream, and after them what follows. */
function record(
  replaced: Readonly<Record<string, string | Buffer>>,
  more: number,
  ...following: (string | Buffer | number)[]
): Buffer {
  const values: Record<string, string | Buffer> = {
    id: '"\x0a1-1-1',
    task_class: '"\x06A',
    attempts: "i\x06",
    enqueued_at: "i\x06",
    failed_at: "i\x06",
    exception_class: '"\x06E',
    exception_message: '"\x06m',
    backtrace: "[\0",
    context: '"\x0d\x04\b[\x09c\x06A000'.replace("\x0d", "\x0f"),
    ...replaced,
  };
  const pairs = Object.entries(values).flatMap(([name, value]) => [
    `:${String.fromCharCode(name.length + 5)}${name}`,
    value,
  ]);
  return Buffer.from(dumpString(stream("{", Object.keys(values).length + more, ...pairs, ...following)));
}

const mebibyte = 1 << 20;

/** So many keys that are symbols of six digits, all of one value. */
function numbered(count: number, value: string): Buffer {
  const keys = Array.from({ length: count }, (_, index) => `:\x0b${String(index).padStart(6, "0")}${value}`);
  return Buffer.from(keys.join(""), "latin1");
}

export const recordCases: readonly HostileCase[] = [
  {
    name: "a zero in another form, in a link to a symbol",
    target: "records",
    input: () => record({ exception_message: 'I"\x06m\x06;\x05T' }, 0),
  },
  {
    name: "the symbol of the encoding spelt out twice",
    target: "records",
    input: () =>
      record({ task_class: 'I"\x06A\x06:\x06EF', exception_class: "0", exception_message: 'I"\x06m\x06:\x06ET' }, 0),
  },
  {
    name: "a backtrace of one line of a megabyte, again and again",
    target: "records",
    input: () =>
      record({ backtrace: stream("[", 400_001, '"', letters(mebibyte), times(400_000, "@\x0b")).subarray(2) }, 0),
  },
  {
    name: "thirty thousand keys more, each with one enormous Integer",
    target: "records",
    input: () => record({ attempts: bignum(16_384) }, 30_000, numbered(30_000, "@\x08")),
  },
  {
    name: "thirty thousand keys more, each with one long Array",
    target: "records",
    input: () => record({ id: stream("[", 20_000, times(20_000, "T")).subarray(2) }, 30_000, numbered(30_000, "@\x06")),
  },
  {
    name: "arguments of as many elements as do not fit on a stack",
    target: "details",
    input: () => recordWithContext(stream("[\x09c\x06A", "[", 450_000, times(450_000, "0"), "00")),
  },
  {
    name: "arguments that are one long Array, again and again",
    target: "details",
    input: () =>
      recordWithContext(
        stream("[\x09c\x06A", "[", 30_001, "[", 30_000, times(30_000, "T"), times(30_000, "@\x08"), "00"),
      ),
  },
  {
    name: "keywords that are one long Array, again and again",
    target: "details",
    input: () =>
      recordWithContext(
        stream(
          ...["[\x09c\x06A0", "{", 30_001, ":\x06a[", 30_000, times(30_000, "T")],
          ...[numbered(30_000, "@\x08"), "0"],
        ),
      ),
  },
  {
    name: "an object of thirty thousand variables with one long name, under a mask",
    target: "details",
    input: () =>
      recordWithContext(
        stream("[\x09c\x06A[\x06o:\x06O", 30_000, ":", letters(mebibyte), "0", times(29_999, ";\x060"), "00"),
      ),
  },
  {
    name: "a context that holds itself",
    target: "contexts",
    input: () => stream("[\x09c\x06A[\x06@\x000i\x08"),
  },
  {
    name: "a message of sixteen megabytes",
    target: "records",
    input: () => record({ exception_message: stream('I"', letters(16 * mebibyte), "\x06:\x06ET").subarray(2) }, 0),
  },
];

function recordWithContext(context: Buffer): Buffer {
  return record({ context: Buffer.concat([Buffer.from('"'), stream(context.length).subarray(2), context]) }, 0);
}
