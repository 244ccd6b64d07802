import type { RecordDetail, TaskDetail } from "../../src/service/protocol";

/** A task as the storage worker describes it, for tests of what is made of it. */
export function taskDetail(change: Partial<TaskDetail> = {}): RecordDetail & { kind: "task" } {
  const task: TaskDetail = {
    id: "17-1-1",
    taskClass: "Charge",
    attempts: 3,
    enqueuedAt: 17,
    failedAt: 100,
    exceptionClass: "PaymentError",
    exceptionMessage: "gateway said 503",
    fullMessage: "gateway said 503\nretry later",
    backtrace: ["app/tasks/charge.rb:12:in 'Charge#perform'"],
    context: {
      args: "[1]",
      kwargs: "{token: [FILTERED]}",
      logTags: "[]",
      logContext: "{}",
      userContext: "nil",
      enqueueCall: "Charge.enqueue(1)",
      call: { taskClass: "Charge", arguments: "1" },
    },
    contextError: null,
    masked: true,
    extra: [{ name: "queue", value: ":default" }],
    ...change,
  };
  return { kind: "task", task };
}
