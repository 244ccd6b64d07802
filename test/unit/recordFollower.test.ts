import assert from "node:assert/strict";
import { parseFrame } from "../../src/code/frames";
import { RecordFollower, type FollowerHost } from "../../src/detail/recordFollower";
import type { RecordDetail, StoreUpdate } from "../../src/service/protocol";
import { ServiceError } from "../../src/service/storeService";
import { Emitter } from "../../src/stores/emitter";
import { StoreModel } from "../../src/stores/storeModel";
import type { StoreChange } from "../../src/stores/storeRegistry";
import { taskDetail } from "../support/taskDetail";

/** A store and a worker's answers under the test's control. */
class Stage {
  readonly changed = new Emitter<StoreChange>();
  readonly storesChanged = new Emitter<undefined>();
  readonly asked: { id: string; reveal: boolean }[] = [];
  readonly store = new StoreModel({
    target: { key: "shop", path: "/shop", prefix: "deferred-", backend: "disk" },
    name: "shop",
    folder: null,
    source: "test",
    guess: null,
  });
  answer: () => Promise<RecordDetail> = () => Promise.resolve(taskDetail());
  open = true;
  looked = true;
  trusted = true;

  readonly host: FollowerHost = {
    service: {
      detail: (_key, id, { reveal }) => {
        this.asked.push({ id, reveal });
        return this.answer();
      },
    },
    registry: {
      find: (key) => (this.open && key === "shop" ? this.store : undefined),
      stores: [this.store],
      onDidChange: this.changed.event,
      onDidChangeStores: this.storesChanged.event,
    },
    looked: () => this.looked,
    trusted: () => this.trusted,
    maskedNames: () => [],
    resolveFrames: (backtrace) =>
      Promise.resolve(
        backtrace.map((text) => ({ frame: parseFrame(text), file: "/work/a.rb", place: text, missing: null })),
      ),
  };

  update(update: StoreUpdate): void {
    this.store.apply(update);
    this.changed.fire({ store: this.store, update });
  }

  ready(): void {
    this.update({ type: "status", status: { ...this.store.status, phase: "ready" } });
  }
}

/** Lets promises that are settled run on. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("RecordFollower", () => {
  const reference = { storeKey: "shop", id: "17-1-1" };

  async function following(stage: Stage): Promise<RecordFollower> {
    stage.ready();
    const follower = new RecordFollower(stage.host, reference);
    await follower.reload();
    return follower;
  }

  it("shows the record with its frames", async () => {
    const follower = await following(new Stage());
    assert.equal(follower.state.title, "Charge");
    assert.deepEqual(follower.frame(0), { file: "/work/a.rb", line: 12 });
    assert.equal(follower.frame(1), null);
    assert.equal(follower.frame(-1), null);
  });

  it("says how its task died, and which line of the application's own failed", async () => {
    const stage = new Stage();
    const follower = new RecordFollower(stage.host, reference);
    assert.deepEqual([follower.death, follower.failingPlace], [null, null]);
    stage.ready();
    await follower.reload();
    assert.deepEqual(follower.death, {
      reference,
      taskClass: "Charge",
      exceptionClass: "PaymentError",
      message: "gateway said 503\nretry later",
      backtrace: ["app/tasks/charge.rb:12:in 'Charge#perform'"],
      failedAt: 100,
    });
    assert.equal(follower.failingPlace?.line, 12);
    const gem = "/usr/lib/ruby/gems/3.3.0/gems/a-1/lib/a.rb:1:in 'x'";
    stage.answer = () => Promise.resolve(taskDetail({ backtrace: [gem, "app/b.rb:3:in 'B#c'"] }));
    await follower.reload();
    assert.deepEqual(follower.failingPlace.place, "app/b.rb:3:in 'B#c'");
    stage.update({ type: "gone", ids: ["17-1-1"] });
    assert.equal(follower.death.taskClass, "Charge", "what is shown is still what died");
  });

  it("comes to an end although each read of the record brings a new status of the store", async () => {
    const stage = new Stage();
    stage.ready();
    const { host } = stage;
    let reads = 0;
    stage.answer = () => {
      reads += 1;
      stage.ready();
      return Promise.resolve(taskDetail());
    };
    const slow: FollowerHost = {
      ...host,
      resolveFrames: async (...given) => {
        await settled();
        return host.resolveFrames(...given);
      },
    };
    const follower = new RecordFollower(slow, reference);
    await follower.reload();
    assert.equal(follower.state.title, "Charge");
    assert.equal(reads, 1);
  });

  it("says that the task died again", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    stage.answer = () => Promise.resolve(taskDetail({ failedAt: 200 }));
    stage.update({ type: "tasks", tasks: [{ ...taskDetail().task, failedAt: 200 }] });
    await settled();
    assert.match(follower.state.notices[0]!.text, /^This task died again at /);
  });

  it("keeps what it showed when the record goes, and says so", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    stage.update({ type: "gone", ids: ["17-1-1"] });
    assert.equal(follower.state.kind, "task");
    assert.deepEqual([follower.state.present, follower.state.canChange], [false, false]);
    assert.match(follower.state.notices[0]!.text, /no longer among the dead/);
  });

  it("knows what we did ourselves, before or after the store tells", async () => {
    for (const order of ["before", "after"]) {
      const stage = new Stage();
      const follower = await following(stage);
      if (order === "after") stage.update({ type: "gone", ids: ["17-1-1"] });
      follower.departed({ storeKey: "shop", ids: ["17-1-1"], by: "retry", publishAt: null });
      if (order === "before") stage.update({ type: "gone", ids: ["17-1-1"] });
      assert.match(follower.state.notices[0]!.text, /^You retried this task\./, order);
    }
  });

  it("ignores other records and other stores", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    stage.update({ type: "gone", ids: ["other"] });
    follower.departed({ storeKey: "elsewhere", ids: ["17-1-1"], by: "delete", publishAt: null });
    assert.ok(follower.state.present);
  });

  it("comes back to life with its record", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    stage.update({ type: "gone", ids: ["17-1-1"] });
    stage.update({ type: "tasks", tasks: [taskDetail().task] });
    await settled();
    assert.ok(follower.state.present);
    assert.deepEqual(follower.state.notices, []);
  });

  it("takes an answer that comes late for what it is", async () => {
    const stage = new Stage();
    stage.ready();
    const answers: ((detail: RecordDetail) => void)[] = [];
    stage.answer = () => new Promise((resolve) => answers.push(resolve));
    const follower = new RecordFollower(stage.host, reference);
    const first = follower.reload();
    const second = follower.follow({ storeKey: "shop", id: "other" });
    answers[1]!(taskDetail({ id: "other", taskClass: "Second" }));
    answers[0]!(taskDetail({ taskClass: "First" }));
    await Promise.all([first, second]);
    assert.equal(follower.state.title, "Second");
    assert.equal(follower.state.reference.id, "other");
  });

  it("waits for a store that is still being read before it calls a record gone", async () => {
    const stage = new Stage();
    stage.answer = () => Promise.resolve({ kind: "gone", id: "17-1-1" });
    const follower = new RecordFollower(stage.host, reference);
    await follower.reload();
    assert.match(follower.state.notices[0]!.text, /^Reading/);
    stage.answer = () => Promise.resolve(taskDetail());
    stage.ready();
    await settled();
    assert.equal(follower.state.title, "Charge");
  });

  it("shows a record that has gone before it could be shown", async () => {
    const stage = new Stage();
    stage.answer = () => Promise.resolve({ kind: "gone", id: "17-1-1" });
    const follower = await following(stage);
    assert.equal(follower.state.kind, "bare");
    assert.equal(follower.state.notices[0]!.tone, "gone");
  });

  it("waits for the look for stores, then says that the store is not open", async () => {
    const stage = new Stage();
    stage.open = false;
    stage.looked = false;
    const follower = new RecordFollower(stage.host, reference);
    await follower.reload();
    assert.match(follower.state.notices[0]!.text, /^Reading/);
    stage.looked = true;
    await follower.reload();
    assert.match(follower.state.notices[0]!.text, /store of this task is not open/);
    stage.open = true;
    stage.ready();
    stage.storesChanged.fire(undefined);
    await settled();
    assert.equal(follower.state.title, "Charge");
  });

  it("tells why a record could not be read, and keeps what it showed", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    stage.answer = () => Promise.reject(new ServiceError("io", "disk gone"));
    await follower.reload();
    assert.equal(follower.state.title, "Charge");
    assert.match(follower.state.notices[0]!.text, /disk gone/);
  });

  it("can hide secrets again after the record has gone", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    stage.answer = () => Promise.resolve(taskDetail({ masked: false }));
    await follower.setSecrets(true);
    stage.update({ type: "gone", ids: ["17-1-1"] });
    assert.ok(follower.state.kind === "task" && follower.state.secrets === "shown");
    await follower.setSecrets(false);
    assert.equal(follower.state.secrets, "hidden");
    assert.equal(follower.state.notices[0]!.tone, "gone");
  });

  it("hides secrets again for the next record", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    await follower.setSecrets(true);
    await follower.follow({ storeKey: "shop", id: "other" });
    assert.deepEqual(
      stage.asked.map(({ reveal }) => reveal),
      [false, true, false],
    );
  });

  it("reports only what looks different", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    let changes = 0;
    follower.onDidChange(() => changes++);
    stage.ready();
    stage.ready();
    await follower.reload();
    assert.equal(changes, 0);
    stage.trusted = false;
    await follower.reload();
    assert.equal(changes, 1);
  });

  it("hears nothing more once it is disposed of", async () => {
    const stage = new Stage();
    const follower = await following(stage);
    follower.dispose();
    stage.update({ type: "gone", ids: ["17-1-1"] });
    assert.ok(follower.state.present);
  });
});
