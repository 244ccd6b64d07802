/** Where the application's loader expects a class: `billing/sync_invoice.rb` for `Billing::SyncInvoice`, `http_client.rb` for `HTTPClient`. */
export function conventionalPath(name: string): string {
  const underscored = name
    .replaceAll(/(\p{Lu}|\p{N})(?=\p{Lu}\p{Ll})/gu, "$1_")
    .replaceAll(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1_");
  return `${underscored.replaceAll("::", "/").toLowerCase()}.rb`;
}

/**
 * Files in the order in which a task class is likely to be in them: in the application itself, in the directories that it loads
 * from, outside its tests. `application`: a directory; null where none is nearer than others.
 */
export function likeliestFirst(files: readonly string[], application: string | null): string[] {
  const rank = new Map(files.map((file) => [file, unlikelihood(file, application)]));
  return [...files].sort((one, other) => (rank.get(one) ?? 0) - (rank.get(other) ?? 0) || (one < other ? -1 : 1));
}

/** Lower is likelier. */
export function unlikelihood(file: string, application: string | null): number {
  const { path, isInside } = placeOf(file, application);
  const elsewhere = application === null || isInside ? 0 : 100;
  if (isTest(file, application)) return elsewhere + 20;
  return elsewhere + (/(^|\/)(app|lib)\//.test(path) ? 0 : 10);
}

/** Whether a file belongs to the tests of its application. */
export function isTest(file: string, application: string | null): boolean {
  return /(^|\/)(test|tests|spec)\//.test(placeOf(file, application).path);
}

/** With slashes, and relative to the application where the file is in it. */
function placeOf(file: string, application: string | null): { readonly path: string; readonly isInside: boolean } {
  const path = file.replaceAll("\\", "/");
  const root = application?.replaceAll("\\", "/") ?? null;
  const isInside = root !== null && path.startsWith(`${root}/`);
  return { path: isInside ? path.slice(root.length + 1) : path, isInside };
}
