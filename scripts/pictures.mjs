// Makes the README's pictures anew: each `readme-NAME.png` of the page suite becomes media/readme/NAME.png.
//   npm run pictures [-- WORD…]   WORD: part of the name of a test file; default: all that take such pictures
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { smallPng } from "./lib/smallPng.mjs";
import { main, mustRun, progress, root, StepError } from "./lib/steps.mjs";

const prefix = "readme-";
const tests = join(root, "test", "page");
const screenshots = join(root, "out", "screenshots");

/** The test files that take pictures for the README. @returns {Promise<string[]>} */
async function takers() {
  const files = (await readdir(tests)).filter((file) => file.endsWith(".test.ts"));
  const takes = await Promise.all(
    files.map(async (file) => /readmePicture\(|"readme-/.test(await readFile(join(tests, file), "utf8"))),
  );
  return files.filter((_, index) => takes[index]);
}

/** @returns {Promise<string[]>} */
async function taken() {
  const files = await readdir(screenshots).catch(() => []); // No folder: nothing was taken yet.
  return files.filter((file) => file.startsWith(prefix) && file.endsWith(".png"));
}

await main(async () => {
  const words = process.argv.slice(2);
  for (const file of await taken()) await rm(join(screenshots, file));
  const chosen = words.length > 0 ? words : await takers();
  await mustRun("Mend the page suite first.", process.execPath, ["scripts/page.mjs", ...chosen]);
  const files = await taken();
  if (files.length === 0) throw new StepError(`These tests take no screenshot named ${prefix}NAME.`);
  const folder = join(root, "media", "readme");
  await mkdir(folder, { recursive: true });
  for (const file of files) {
    const name = file.slice(prefix.length);
    const picture = smallPng(await readFile(join(screenshots, file)));
    await writeFile(join(folder, name), picture);
    progress(`media/readme/${name}: ${(picture.length / 1000).toFixed(0)} kB. Look at it before you commit it.`);
  }
});
