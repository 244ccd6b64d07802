import type { RawHostMessage, RawPageMessage, RawPageRequest, RawPageRequestName, RawPageRequests } from "../protocol";

type Reply = Extract<RawHostMessage, { type: "reply" }>;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Requests on their way to the extension, each answered once. */
export class Requests {
  /** The lines that the page speaks of: those of the file as it was last told. */
  generation = 0;
  readonly #post: (message: RawPageMessage) => void;
  readonly #waiting = new Map<number, Waiting>();
  #sequence = 0;

  constructor(post: (message: RawPageMessage) => void) {
    this.#post = post;
  }

  /** Rejects with what the user is to read. */
  async send<Name extends RawPageRequestName>(
    name: Name,
    ...parameters: Parameters<RawPageRequests[Name]>
  ): Promise<ReturnType<RawPageRequests[Name]>> {
    const sequence = ++this.#sequence;
    // What belongs to `name` are its parameters; the compiler does not follow that through a union.
    const request = { name, parameters } as unknown as RawPageRequest;
    const value = await new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(sequence, { resolve, reject });
      this.#post({ type: "request", sequence, generation: this.generation, request });
    });
    // One protocol types both ends.
    return value as ReturnType<RawPageRequests[Name]>;
  }

  settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.sequence);
    this.#waiting.delete(reply.sequence);
    if (reply.ok) waiting?.resolve(reply.value);
    else waiting?.reject(new Error(reply.error));
  }
}
