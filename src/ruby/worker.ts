import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { readEdit } from "../edit/read";
import { classesInSource } from "./classes";
import { DefinitionFinder, tooLarge } from "./definitions";
import { literalCalls } from "./literalCalls";
import { loadParser, type Parse } from "./prism";
import {
  largestSource,
  type RubyReplyMessage,
  type RubyRequestMessage,
  type RubyRequestName,
  type RubyRequests,
} from "./protocol";

type Answers = {
  readonly [Name in RubyRequestName]: (
    ...parameters: Parameters<RubyRequests[Name]>
  ) => ReturnType<RubyRequests[Name]> | Promise<ReturnType<RubyRequests[Name]>>;
};

function answers(parse: Parse): Answers {
  const finder = new DefinitionFinder(parse);
  return {
    classesInText: (text) => classesInSource(parse, bounded(text)),
    definitionsOf: (name, paths) => finder.find(name, paths),
    literalCalls: (text, names) => literalCalls(parse, bounded(text), names),
    readEditedTask: (text, taskClass, placeholders) => readEdit(parse, text, taskClass, placeholders),
  };
}

/** Throws for a text that is too large to be read. */
function bounded(text: string): string {
  const size = Buffer.byteLength(text);
  if (size > largestSource) throw new Error(tooLarge(size));
  return text;
}

async function reply(calls: Answers, { sequence, name, parameters }: RubyRequestMessage): Promise<RubyReplyMessage> {
  try {
    // Both ends are compiled from one protocol, so the parameters are those that `name` takes.
    const call = calls[name] as (...values: readonly unknown[]) => unknown;
    return { sequence, ok: true, value: await call(...parameters) };
  } catch (error) {
    return { sequence, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  // The build puts the parser beside this bundle. Messages that come before it is loaded wait for the listener.
  const calls = answers(await loadParser(join(__dirname, "prism.wasm")));
  port.on("message", (message: RubyRequestMessage) => {
    void reply(calls, message).then((answer) => {
      port.postMessage(answer);
    });
  });
}

if (parentPort !== null) void serve(parentPort);
