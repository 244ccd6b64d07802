import type { HostMessage, PaneMessage, PaneRequest } from "../protocol";
import type { ValueAnswers, ValueQuestion } from "../valueRequests";

type Reply = Extract<HostMessage, { type: "reply" }>;

/** Requests on their way to the extension, each answered once. */
export class Requests {
  readonly #post: (message: PaneMessage) => void;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #sequence = 0;

  constructor(post: (message: PaneMessage) => void) {
    this.#post = post;
  }

  /** `onReply`: null when it was done, else why not. */
  send(request: PaneRequest, onReply: (error: string | null) => void): void {
    this.#send(request, (reply) => {
      onReply(reply.ok ? null : reply.error);
    });
  }

  /** Resolves with the answer; rejects with an Error that says why there is none. */
  ask<Name extends keyof ValueAnswers>(
    question: Extract<ValueQuestion, { readonly name: Name }>,
  ): Promise<ValueAnswers[Name]> {
    return new Promise((resolve, reject) => {
      this.#send(question, (reply) => {
        // The extension answers a question of a name with the answer of that name.
        if (reply.ok) resolve(reply.value as ValueAnswers[Name]);
        else reject(new Error(reply.error));
      });
    });
  }

  #send(request: PaneRequest, onReply: (reply: Reply) => void): void {
    const sequence = ++this.#sequence;
    this.#waiting.set(sequence, onReply);
    this.#post({ type: "request", sequence, request });
  }

  settle(reply: Reply): void {
    const onReply = this.#waiting.get(reply.sequence);
    this.#waiting.delete(reply.sequence);
    onReply?.(reply);
  }
}
