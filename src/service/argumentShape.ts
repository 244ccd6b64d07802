import { textOf, type RubyValue } from "../marshal";
import { StorageError, decodeContext, type DeadTask, type TaskContext } from "../storage";
import { callShape } from "./callShape";
import type { ArgumentShape } from "./protocol";

/** No method has more. Of a call with more there is nothing to say. */
const mostKeywords = 200;

/** Null where the context cannot be decoded, or does not say how Ruby would pass its arguments. */
export function argumentShape(task: Pick<DeadTask, "context">): ArgumentShape | null {
  let context: TaskContext;
  try {
    context = decodeContext(task.context);
  } catch (error) {
    if (error instanceof StorageError) return null;
    throw error;
  }
  const { taskClass, args, kwargs } = context;
  const elements = args.type === "array" ? args.elements : [];
  const entries = kwargs.type === "hash" ? kwargs.entries : [];
  const last = elements.at(-1);
  if (entries.length > mostKeywords || (last !== undefined && isKeywordHash(last))) return null;
  const keys = entries.map(([key]) => (key.type === "symbol" ? textOf(key.bytes) : null));
  return callShape(taskClass, elements.length, keys, last?.type === "hash");
}

/** A Hash that a method with `ruby2_keywords` took: passed on with `*`, it becomes keywords again. */
function isKeywordHash(value: RubyValue): boolean {
  return value.type === "hash" && value.instanceVariables.some(({ name }) => textOf(name.bytes) === "K");
}
