import type { HostMessage, PaneMessage, PaneRequest } from "../protocol";

type Reply = Extract<HostMessage, { type: "reply" }>;

/** Requests on their way to the extension, each answered once. */
export class Requests {
  readonly #post: (message: PaneMessage) => void;
  readonly #waiting = new Map<number, (error: string | null) => void>();
  #sequence = 0;

  constructor(post: (message: PaneMessage) => void) {
    this.#post = post;
  }

  /** `onReply`: null when it was done, else why not. */
  send(request: PaneRequest, onReply: (error: string | null) => void): void {
    const sequence = ++this.#sequence;
    this.#waiting.set(sequence, onReply);
    this.#post({ type: "request", sequence, request });
  }

  settle(reply: Reply): void {
    const onReply = this.#waiting.get(reply.sequence);
    this.#waiting.delete(reply.sequence);
    onReply?.(reply.ok ? null : reply.error);
  }
}
