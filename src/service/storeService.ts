import type { ChangeProgress, StoreRequests, StoreUpdate } from "./protocol";

/** `StoreRequests` as its callers see it: every answer is a promise, rejected with a `ServiceError`. */
export type StoreService = {
  readonly [Name in keyof StoreRequests]: (
    ...parameters: Parameters<StoreRequests[Name]>
  ) => Promise<ReturnType<StoreRequests[Name]>>;
} & {
  /** Listens to every open store; returns the undoing. */
  onUpdate(listener: (key: string, update: StoreUpdate) => void): { dispose(): void };
  /** Listens to every operation that was given a name; returns the undoing. */
  onProgress(listener: (operation: string, progress: ChangeProgress) => void): { dispose(): void };
  dispose(): void;
};

/** What a failed request rejects with: `message` is fit for a user. */
export class ServiceError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "ServiceError";
  }
}
