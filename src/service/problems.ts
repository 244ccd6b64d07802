import { StorageError } from "../storage";
import type { Problem } from "./protocol";

/** An error as it crosses to the host. Anything but a StorageError is a fault of ours and says so. */
export function problemOf(error: unknown): Problem {
  if (error instanceof StorageError) return { code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "internal", message: `Dead Tasks failed unexpectedly: ${message}. Please report this.` };
}
