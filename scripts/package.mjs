// Packages the extension for this platform, and checks what went in. vsce itself runs the production build.
import { mkdir, rm } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { main, mustRun, packageScript, progress, root, StepError } from "./lib/steps.mjs";
import { target, verifyVsix, vsixPath } from "./lib/vsix.mjs";

/** Node on Alpine needs koffi's module for musl and a target of its own: not packaged so far. */
function isMusl() {
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return process.platform === "linux" && header.glibcVersionRuntime === undefined;
}

await main(async () => {
  if (isMusl()) throw new StepError("Packaging on musl (Alpine) is not supported: package on a glibc system.");
  const file = await vsixPath();
  progress(`Packaging for ${target()}`);
  await rm(dirname(file), { recursive: true, force: true });
  await mkdir(dirname(file), { recursive: true });
  const options = ["--allow-missing-repository", "--no-rewrite-relative-links"];
  await mustRun("Mend vsce's complaint above.", process.execPath, [
    packageScript("@vscode/vsce/vsce"),
    "package",
    "--target",
    target(),
    "--out",
    file,
    ...options,
  ]);
  const { files, bytes } = await verifyVsix(file);
  console.log(`${relative(root, file)}: ${files} files, ${(bytes / 1024).toFixed(0)} KiB`);
});
