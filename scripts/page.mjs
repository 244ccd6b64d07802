// The page suite: the packaged extension, installed into a server as a user would, clicked through in Chromium.
//   npm run test:page [-- WORD…]   WORD: part of the name of a test file
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { freshResultsFile } from "./lib/results.mjs";
import { ensureServer, installExtension } from "./lib/server.mjs";
import { main, mustRun, packageScript, progress, root, run, StepError } from "./lib/steps.mjs";
import { chromiumNeed, ensureSystem, gitNeed } from "./lib/system.mjs";
import { vsixPath } from "./lib/vsix.mjs";

await main(async () => {
  const words = process.argv.slice(2).filter((word) => word !== "--packaged");
  const chosen = (await readdir(join(root, "test", "page"))).filter(
    (file) => file.endsWith(".test.ts") && (words.length === 0 || words.some((word) => file.includes(word))),
  );
  const files = chosen.sort().map((file) => join("test", "page", file));
  if (files.length === 0) throw new StepError(`No file test/page/*.test.ts has ${words.join(" or ")} in its name.`);
  await ensureSystem([gitNeed, chromiumNeed]);
  await ensureServer();
  if (!process.argv.includes("--packaged")) {
    await mustRun("Mend the package first.", process.execPath, ["scripts/package.mjs"]);
  }
  progress("Installing the package");
  const extensions = join(root, "out", "page", "extensions");
  await rm(extensions, { recursive: true, force: true });
  await installExtension(await vsixPath(), extensions);
  const screenshots = join(root, "out", "screenshots");
  if (words.length === 0) await rm(screenshots, { recursive: true, force: true });

  progress(`Page suite: ${files.length} files; pictures go to out/screenshots/`);
  const mocha = ["--timeout", "60000", "--reporter", "scripts/lib/reporter.cjs"];
  if (process.env["CI"] === "true") mocha.push("--forbid-only");
  // One window at a time: two take the processors from one another, and what is seen for a moment only is then missed.
  process.exitCode = await run(process.execPath, [packageScript("mocha/bin/mocha.js"), ...mocha, ...files], {
    env: {
      DEAD_TASKS_EXTENSIONS: extensions,
      DEAD_TASKS_SCREENSHOTS: screenshots,
      DEAD_TASKS_RESULTS: freshResultsFile("page"),
    },
  });
});
