import { assertEquals } from "@std/assert";
import { AttemptMarker } from "../../actors/webhook/attempt_marker.ts";
import type { AttemptMark } from "../../ledger/outbox/outbox.ts";

function mark(eventId: string): AttemptMark {
  return {
    eventId,
    merchantId: "mer_1",
    attempt: 1,
    url: "https://shop.example/",
    verdict: { kind: "delivered" },
    outcome: "acknowledged",
    httpStatus: 200,
    durationMs: 3,
    answer: '{"ok":true}',
  };
}

Deno.test("what the database refuses stands alone: the others are written, and nothing is tried for ever", async () => {
  const written: AttemptMark[] = [];
  const told: string[] = [];
  let calls = 0;
  const outbox = {
    mark: (marks: readonly AttemptMark[]) => {
      calls++;
      const isRefused = marks.some(({ eventId, answer }) =>
        eventId === "hopeless" || eventId === "odd" && answer !== null
      );
      if (isRefused) return Promise.reject(new Error("invalid byte sequence"));
      written.push(...marks);
      return Promise.resolve([]);
    },
  };
  const marker = new AttemptMarker(
    outbox,
    (marks) => told.push(...marks.map(({ eventId }) => eventId)),
  );
  const ids = Array.from(
    { length: 40 },
    (_, n) => n === 7 ? "odd" : n === 23 ? "hopeless" : `e${n}`,
  );
  for (const id of ids) marker.add(mark(id));
  await marker.close();
  const kept = ids.filter((id) => id !== "hopeless").toSorted();
  assertEquals(written.map(({ eventId }) => eventId).toSorted(), kept);
  assertEquals(told.toSorted(), kept);
  const odd = written.find(({ eventId }) => eventId === "odd");
  assertEquals([odd?.outcome, odd?.answer, odd?.verdict.kind], [
    "unreadable_answer",
    null,
    "delivered",
  ]);
  assertEquals([marker.size, marker.lost], [0, 1]);
  assertEquals(calls < 40, true, "halves, not one by one");
});

Deno.test("a database that is away is waited for, and nothing is lost", async () => {
  let away = 2;
  const written: string[] = [];
  const done = Promise.withResolvers<void>();
  const marker = new AttemptMarker({
    mark: (marks: readonly AttemptMark[]) => {
      if (away-- > 0) {
        return Promise.reject(Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" }));
      }
      written.push(...marks.map(({ eventId }) => eventId));
      return Promise.resolve([]);
    },
  }, () => done.resolve());
  marker.add(mark("e1"));
  await done.promise;
  assertEquals([written, marker.lost], [["e1"], 0]);
  await marker.close();
});
