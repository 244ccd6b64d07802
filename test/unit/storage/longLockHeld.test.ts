import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../../src/storage/clock";
import { nodeFileSystem } from "../../../src/storage/fileSystem";
import { LongLock } from "../../../src/storage/longLock";
import { temporaryFolders } from "../../support/stores";

describe("a long operation under the lock among our own processes", function () {
  this.timeout(30_000);
  const folders = temporaryFolders();

  // The library refreshes the lock every three seconds and gives up on one whose time is not the very one it wrote. A file's
  // time as a fraction of milliseconds differs from that more often than not, so eight locks over two refreshes tell.
  it("keeps the lock over its refreshes", async () => {
    const folder = folders.make();
    const locks = Array.from({ length: 8 }, (_, index) => join(folder, `.store-${index}.busy`));
    await Promise.all(
      locks.map((path) =>
        new LongLock(path, nodeFileSystem, systemClock).run(async (guard) => {
          for (let passed = 0; passed < 6_600; passed += 200) {
            await delay(200);
            guard.check();
          }
        }),
      ),
    );
  });
});
