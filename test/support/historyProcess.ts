import { History } from "../../src/service/history";
import { storageEnvironment } from "../../src/storage";

/** Another window, as far as the history is concerned: `DIRECTORY NAME COUNT` adds so many entries as fast as it can. */
async function main([directory = "", name = "", count = "0"]: readonly string[]): Promise<void> {
  const history = new History(await storageEnvironment(), (text) => {
    throw new Error(text);
  });
  const limits = { bytes: 10_000_000, age: 86_400 };
  history.keep({ directory, window: { name, processId: process.pid }, limits });
  for (let index = 0; index < Number(count); index++) {
    const id = `${name}-${index}`;
    history.recorder(
      { directory: "/srv/shop", prefix: "deferred-" },
      [id],
      () => "PaymentTask",
    )({
      kind: "delete",
      done: [{ id }],
    });
  }
}

void main(process.argv.slice(2));
