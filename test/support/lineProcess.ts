import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Answer =
  | { readonly notice: string }
  | { readonly sequence: number; readonly ok: true; readonly value: unknown }
  | { readonly sequence: number; readonly ok: false; readonly code: string; readonly message: string };

/** What a request to another process was answered with, where that is a failure. */
export class RemoteError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Another process with which one speaks in lines of JSON: a request each way has a number, a notice has only a name. */
export class LineProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  readonly #notices: string[] = [];
  readonly #awaited: { readonly name: string; readonly waiting: Waiting }[] = [];
  readonly exited: Promise<void>;
  #sequence = 0;
  #errors = "";
  #ended: Error | null = null;

  constructor(command: string, parameters: readonly string[]) {
    this.#child = spawn(command, parameters, { stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      this.#receive(JSON.parse(line) as Answer);
    });
    // A process that is gone cannot be written to; its end is reported below.
    this.#child.stdin.on("error", () => undefined);
    this.exited = new Promise((resolve) => {
      this.#child.on("error", (error) => {
        this.#end(new Error(`${command} could not be started (${error.message}); these tests need it on the PATH.`));
        resolve();
      });
      this.#child.on("close", (code, signal) => {
        this.#end(new Error(`${command} ended with ${signal ?? `status ${code ?? "?"}`}. ${this.#errors}`));
        resolve();
      });
    });
  }

  get processId(): number {
    return this.#child.pid ?? -1;
  }

  async request(message: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (this.#ended !== null) throw this.#ended;
    this.#sequence += 1;
    const sequence = this.#sequence;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(sequence, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ sequence, ...message })}\n`);
    });
  }

  /** Resolves when the process says `name`, or at once where it has. */
  async notice(name: string): Promise<void> {
    const index = this.#notices.indexOf(name);
    if (index >= 0) {
      this.#notices.splice(index, 1);
      return;
    }
    if (this.#ended !== null) throw this.#ended;
    await new Promise((resolve, reject) => {
      this.#awaited.push({ name, waiting: { resolve, reject } });
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<void> {
    // A stopped process ends, too.
    this.#child.kill("SIGKILL");
    await this.exited;
  }

  #receive(answer: Answer): void {
    if ("notice" in answer) {
      const index = this.#awaited.findIndex(({ name }) => name === answer.notice);
      if (index < 0) this.#notices.push(answer.notice);
      else this.#awaited.splice(index, 1)[0]?.waiting.resolve(null);
      return;
    }
    const waiting = this.#waiting.get(answer.sequence);
    this.#waiting.delete(answer.sequence);
    if (answer.ok) waiting?.resolve(answer.value);
    else waiting?.reject(new RemoteError(answer.code, answer.message));
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of [...this.#waiting.values(), ...this.#awaited.map(({ waiting }) => waiting)]) reject(error);
    this.#waiting.clear();
    this.#awaited.length = 0;
  }
}
