import assert from "node:assert/strict";
import { join } from "node:path";
import { readEdit } from "../../src/edit/read";
import { editableTask } from "../../src/edit/taskEdit";
import type { EditableTask, EditedCall, ReadEdit } from "../../src/edit/protocol";
import { writeMarshal, type RubyValue } from "../../src/marshal";
import { loadParser, type Parse } from "../../src/ruby/prism";
import type { DeadTask } from "../../src/storage";
import { array, classNamed, int, nil } from "./ruby";
import { newTask } from "./stores";

export async function rubyParser(): Promise<Parse> {
  return await loadParser(join(__dirname, "..", "..", "node_modules", "@ruby", "prism", "src", "prism.wasm"));
}

/** A dead task as it is found in a store. */
export function foundTask(context: Uint8Array, checksum = 1): DeadTask {
  return { kind: "task", checksum, offset: 0, length: 1, extra: [], ...newTask("1-1-1", { context }) };
}

/** The context of an `ImportCsv` that died after three attempts. */
export function contextOf(args: RubyValue, kwargs: RubyValue = nil(), ...rest: readonly RubyValue[]): Uint8Array {
  const others = rest.length === 0 ? [nil(), nil(), nil()] : rest;
  return writeMarshal(array(classNamed("ImportCsv"), args, kwargs, int(3), ...others));
}

export function openedTask(found: DeadTask, maskedNames: readonly string[] = []): EditableTask {
  const reply = editableTask(found, maskedNames);
  if (reply.kind !== "task") throw new assert.AssertionError({ message: JSON.stringify(reply) });
  return reply;
}

export function readBack(parse: Parse, task: EditableTask, text = task.text): ReadEdit {
  return readEdit(
    parse,
    text,
    task.taskClass,
    task.placeholders.map(({ name }) => name),
  );
}

/** The call of a text without problems. */
export function callIn(parse: Parse, task: EditableTask, text = task.text): EditedCall {
  const { call, problems } = readBack(parse, task, text);
  assert.deepEqual(problems, [], `${text}\n${JSON.stringify(problems)}`);
  assert.ok(call);
  return call;
}
