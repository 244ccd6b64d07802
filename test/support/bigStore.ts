import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { dumpString, writeMarshal } from "../../src/marshal";
import { encodeRecord } from "../../src/storage/record";
import { array, classNamed, int, nil, str, symbolHash, sym } from "./ruby";

const classes = ["SendWelcomeEmail", "SyncInvoice", "ResizeImage", "Billing::ChargeCard"];
const exceptions = ["RuntimeError", "Net::OpenTimeout", "RuntimeError"];
const firstTime = 1_735_689_600;
const tasksPerTime = 500;
const chunkBytes = 4 << 20;
/** Stands for a task's number wherever one is wanted; as many digits as the numbers get, so that no length changes. */
const placeholder = "90000000";

/** Ids of a big store's tasks, by their numbers from 0 on. */
export function bigStoreId(number: number): string {
  const time = firstTime + Math.floor(number / tasksPerTime);
  return `${time}-4711-${Number(placeholder) + number}`;
}

/** The same for the task that died last. */
export function newestBigStoreId(count: number): string {
  return bigStoreId(count - 1);
}

/** A data file as `writeBigStore` writes it, as bytes. */
export function bigDataFile(count: number): Buffer {
  return Buffer.concat([...bigLines(count)]);
}

/** Writes a store of valid dead tasks of about 2.5 KB each, in Rage's format, oldest first, a hundred thousand in a second. */
export function writeBigStore(directory: string, count: number, prefix = "deferred-"): void {
  mkdirSync(directory, { recursive: true });
  closeSync(openSync(join(directory, `${prefix}dead_tasks.lock`), "a"));
  const file = openSync(join(directory, `${prefix}dead_tasks-0`), "w");
  let chunk: Buffer[] = [];
  let chunkSize = 0;
  for (const line of bigLines(count)) {
    chunk.push(line);
    chunkSize += line.length;
    if (chunkSize > chunkBytes) {
      writeSync(file, Buffer.concat(chunk));
      chunk = [];
      chunkSize = 0;
    }
  }
  writeSync(file, Buffer.concat(chunk));
  // As Rage leaves it. Otherwise the first sync of anything beside it waits for all of this to reach the disk.
  fsyncSync(file);
  closeSync(file);
}

/** Tasks that share class, exception and time differ in digits alone, so each line is a copy of one of a few templates. */
function* bigLines(count: number): Generator<Buffer> {
  const templates = new Map<number, Template>();
  for (let number = 0; number < count; number++) {
    if (number % tasksPerTime === 0) templates.clear();
    const kind = number % (classes.length * exceptions.length);
    let template = templates.get(kind);
    if (template === undefined) {
      template = new Template(kind, firstTime + Math.floor(number / tasksPerTime));
      templates.set(kind, template);
    }
    yield template.line(number);
  }
}

class Template {
  readonly #payload: Buffer;
  readonly #places: readonly number[];

  constructor(kind: number, time: number) {
    const id = `${time}-4711-${placeholder}`;
    const taskClass = classes[kind % classes.length]!;
    const context = array(
      classNamed(taskClass),
      array(str(`user${placeholder}@example.com`), int(42)),
      symbolHash({ locale: sym("en") }),
      int(21),
      array(str(`req-${placeholder}`)),
      symbolHash({}),
      nil(),
    );
    const record = encodeRecord({
      id,
      taskClass,
      attempts: 21,
      enqueuedAt: time,
      failedAt: time + 9000,
      exceptionClass: exceptions[kind % exceptions.length]!,
      exceptionMessage: `SMTP timeout after 30 s, message ${placeholder} to smtp.example.com`,
      backtrace: Array.from(
        { length: 20 },
        (_, depth) =>
          `/srv/app/app/services/mailer/deliver_${depth}.rb:${10 + depth}:in 'block (2 levels) in Mailer::Delivery#step_${depth}'`,
      ),
      context: writeMarshal(context),
    });
    this.#payload = Buffer.concat([Buffer.from(`dead_task:${id}:`), dumpString(record)]);
    const places: number[] = [];
    for (let at = this.#payload.indexOf(placeholder); at >= 0; at = this.#payload.indexOf(placeholder, at + 1)) {
      places.push(at);
    }
    this.#places = places;
  }

  line(number: number): Buffer {
    const line = Buffer.allocUnsafe(9 + this.#payload.length + 1);
    const payload = line.subarray(9, -1);
    payload.set(this.#payload);
    const digits = String(Number(placeholder) + number);
    for (const place of this.#places) payload.write(digits, place, "latin1");
    line.write(`${crc32(payload).toString(16).padStart(8, "0")}:`, 0, "latin1");
    line[line.length - 1] = 0x0a;
    return line;
  }
}
