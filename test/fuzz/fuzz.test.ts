import assert from "node:assert/strict";
import { hostileCases } from "./cases";
import type { Outcome } from "./protocol";
import { fuzz } from "./runner";
import { targets } from "./targets";

// The same inputs at every run of the short form; the long form takes new ones.
const seed = process.env["FUZZ_SEED"] ?? "1";

function assertKept({ failure }: Outcome, target: string): void {
  if (failure === null) return;
  const again = `FUZZ_SEED=${seed} npm run fuzz:long -- ${JSON.stringify(target)} ${failure.index} 1`;
  assert.fail(`${failure.message}\nOnce more: ${again}\nInput (base64): ${failure.input}`);
}

describe(`hostile bytes, seed ${seed}`, function () {
  this.timeout(300_000);

  for (const { name, runs } of targets) {
    it(`${runs.short} inputs for ${name} break no promise`, async () => {
      const outcome = await fuzz({ target: name, seed, from: 0, count: runs.short });
      assertKept(outcome, name);
      assert.equal(outcome.inputs, runs.short);
      // Where nothing is readable any more, or everything, little was tested.
      const share = outcome.accepted / outcome.inputs;
      assert.ok(share > 0.03 && share < 0.99, `${outcome.accepted} of ${outcome.inputs} were readable`);
    });
  }

  it(`${hostileCases.length} cases that once broke one, or were made to, break none`, async () => {
    const outcome = await fuzz({ target: "cases", seed, from: 0, count: hostileCases.length });
    assertKept(outcome, "cases");
    assert.equal(outcome.inputs, hostileCases.length);
  });
});
