import type { RequestName, StoreRequests } from "./protocol";

/** The requests of the protocol as the worker's parts answer them. Failures are StorageErrors. */
export type Answers = {
  readonly [Name in RequestName]: (
    ...parameters: Parameters<StoreRequests[Name]>
  ) => Promise<ReturnType<StoreRequests[Name]>>;
};
