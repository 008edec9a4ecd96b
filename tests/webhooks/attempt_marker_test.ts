import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { AttemptMarker } from "../../actors/webhook/attempt_marker.ts";
import type { AttemptMark, Marked } from "../../ledger/outbox/attempts.ts";
import { until } from "../support/books.ts";

const ALL_WRITTEN: Marked = { recovered: [], held: [] };

function mark(eventId: string, merchantId = "mer_1"): AttemptMark {
  return {
    eventId,
    merchantId,
    attempt: 1,
    url: "https://shop.example/",
    result: { kind: "delivered" },
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
      return Promise.resolve(ALL_WRITTEN);
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
  assertEquals([odd?.outcome, odd?.answer, odd?.result.kind], [
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
      return Promise.resolve(ALL_WRITTEN);
    },
  }, () => done.resolve());
  marker.add(mark("e1"));
  await done.promise;
  assertEquals([written, marker.lost], [["e1"], 0]);
  await marker.close();
});

Deno.test("attempts of a merchant whose row is held are tried together and seldom, those of others at once", async () => {
  const written = new Set<string>();
  const tried: AttemptMark[][] = [];
  let [isHeld, underWay, most] = [true, 0, 0];
  const marker = new AttemptMarker({
    mark: async (marks: readonly AttemptMark[]) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 1));
      underWay--;
      const isRefused = isHeld && marks.some(({ merchantId }) => merchantId.startsWith("held"));
      if (isRefused) {
        tried.push([...marks]);
        throw Object.assign(new postgres.PostgresError("held"), { code: "55P03" });
      }
      for (const { eventId } of marks) written.add(eventId);
      return ALL_WRITTEN;
    },
  }, () => {});
  const count = 16 * 30;
  for (let n = 0; n < count; n++) {
    marker.add(mark(`e${n}`, n % 16 < 2 ? `held${n % 16}` : `m${n % 16}`));
  }
  await until(() => written.size === count * 14 / 16);
  assert(tried.length <= 2 * 5, `${tried.length} tries waited for a row`);
  assertEquals([marker.held, marker.size, marker.of("held0"), marker.of("m2")], [60, 60, 30, 0]);
  // the next attempt of such a merchant waits with them, untried
  const before = tried.length;
  marker.add(mark("late", "held0"));
  marker.add(mark("calm", "m2"));
  await until(() => written.has("calm"));
  assertEquals(marker.held, 61);
  await until(() => tried.length > before);
  isHeld = false;
  await until(() => marker.size === 0);
  assertEquals([written.size, marker.lost, marker.of("held0")], [count + 2, 0, 0]);
  assert(most <= 2, "one connection writes, and one tries what is held");
  await marker.close();
});

Deno.test("one held row among many of its merchant keeps only itself from being written", async () => {
  const written = new Set<string>();
  const marker = new AttemptMarker({
    mark: (marks: readonly AttemptMark[]) => {
      if (marks.some(({ eventId }) => eventId === "e7")) {
        return Promise.reject(Object.assign(new postgres.PostgresError("held"), { code: "57014" }));
      }
      for (const { eventId } of marks) written.add(eventId);
      return Promise.resolve(ALL_WRITTEN);
    },
  }, () => {});
  for (let n = 0; n < 8; n++) marker.add(mark(`e${n}`));
  await until(() => written.size === 7);
  assertEquals([marker.held, marker.lost], [1, 0]);
  await marker.close();
  assertEquals(marker.size, 0);
});
