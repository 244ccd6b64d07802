// Makes the README's pictures anew, from the page suite's look at the demo application: `npm run pictures`.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { smallPng } from "./lib/smallPng.mjs";
import { main, mustRun, progress, root } from "./lib/steps.mjs";

await main(async () => {
  await mustRun("Mend the page suite first.", process.execPath, ["scripts/page.mjs", "look"]);
  const folder = join(root, "media", "readme");
  await mkdir(folder, { recursive: true });
  for (const name of ["overview.png"]) {
    const picture = smallPng(await readFile(join(root, "out", "screenshots", name)));
    await writeFile(join(folder, name), picture);
    progress(`media/readme/${name}: ${(picture.length / 1000).toFixed(0)} kB. Look at it before you commit it.`);
  }
});
