import { assert, assertEquals } from "@std/assert";
import { PausedMerchants } from "../../actors/journal/merchant_standing.ts";
import {
  MerchantQueue,
  QueuedCommand,
  type Standing,
  type Taken,
} from "../../actors/journal/queue.ts";
import { reserveCommand } from "../support/books.ts";

function command(): QueuedCommand {
  return new QueuedCommand(reserveCommand(), Infinity, () => {});
}

/** Puts commands in and answers how many were taken. */
function flood(queue: MerchantQueue, merchantId: string, count: number): number {
  let taken = 0;
  for (let n = 0; n < count; n++) if (queue.offer(merchantId, command())) taken++;
  return taken;
}

const SHARED = (): Standing => "shared";

function counts(taken: Taken): Record<string, number> {
  return Object.fromEntries([...taken].map(([id, items]) => [id, items.length]));
}

Deno.test("merchants that flood their mailboxes leave room for all others", () => {
  const rows: readonly [number, number][] = [[1, 2_048], [2, 1_365], [3, 1_024], [7, 512]];
  for (const [flooding, share] of rows) {
    const queue = new MerchantQueue(4_096, 2_048);
    for (let turn = 0; turn < 5_000; turn++) {
      for (let n = 0; n < flooding; n++) queue.offer(`mer_${n}`, command());
    }
    const free = queue.capacity - queue.size;
    assert(Math.abs(free - (flooding === 1 ? 2_048 : share)) <= flooding, `${flooding}: ${free}`);
    for (let n = 0; n < 100; n++) {
      assertEquals(queue.offer(`calm_${n}`, command()), true, `${flooding} flooding`);
    }
  }
});

Deno.test("a mailbox holds no more than its bound, and wake-ups take no room and are never lost", () => {
  const queue = new MerchantQueue(10, 3);
  assertEquals(flood(queue, "a", 9), 3);
  for (let n = 0; n < 50; n++) assertEquals(queue.offer(`woken_${n % 25}`, { kind: "wake" }), true);
  assertEquals(queue.offer("a", { kind: "wake" }), true);
  assertEquals(flood(queue, "b", 9), 3);
  assertEquals(queue.size, 3 + 3 + 26);
  const taken = queue.take(500, SHARED);
  assertEquals(taken.get("a")?.map(({ kind }) => kind), ["wake", "command", "command", "command"]);
  assertEquals(taken.get("woken_7")?.length, 1);
  assertEquals(queue.size, 0);
});

Deno.test("a batch is shared evenly, and what is left of it goes to those with more", () => {
  const queue = new MerchantQueue(10_000, 10_000);
  flood(queue, "flooding", 2_000);
  flood(queue, "busy", 200);
  for (let n = 0; n < 8; n++) flood(queue, `calm_${n}`, 2);
  const first = counts(queue.take(500, SHARED));
  assertEquals([first["calm_0"], first["calm_7"], first["busy"], first["flooding"]], [
    2,
    2,
    200,
    284,
  ]);
  assertEquals(counts(queue.take(500, SHARED)), { flooding: 500 });
});

Deno.test("with more merchants than a batch has places everyone has a turn before anyone has two", () => {
  const queue = new MerchantQueue(10_000, 10_000);
  for (let n = 0; n < 25; n++) flood(queue, `mer_${n}`, 3);
  const seen = new Map<string, number>();
  for (let batch = 0; batch < 5; batch++) {
    const taken = queue.take(10, SHARED);
    for (const [id, { length }] of taken) seen.set(id, (seen.get(id) ?? 0) + length);
    const most = Math.max(...seen.values());
    const least = seen.size < 25 ? 0 : Math.min(...seen.values());
    assert(most - least <= 1, `batch ${batch}: ${least} to ${most}`);
  }
});

Deno.test("a merchant that is taken alone takes turns with the others, a few messages at a time", () => {
  const queue = new MerchantQueue(10_000, 10_000);
  flood(queue, "suspect", 100);
  flood(queue, "second suspect", 100);
  for (let n = 0; n < 3; n++) flood(queue, `mer_${n}`, 1_000);
  const standing = (id: string): Standing => id.includes("suspect") ? "alone" : "shared";
  const turns = Array.from({ length: 8 }, () => counts(queue.take(500, standing)));
  for (const [n, turn] of turns.entries()) {
    const alone = Object.keys(turn).filter((id) => id.includes("suspect"));
    if (alone.length > 0) {
      assertEquals(Object.values(turn), [32]);
      assertEquals(turns[n + 1]?.["suspect"] ?? turns[n + 1]?.["second suspect"], undefined);
    } else assertEquals(turn, { mer_0: 167, mer_1: 167, mer_2: 166 }, JSON.stringify(turn));
  }
  assert(turns.some((turn) => "suspect" in turn) && turns.some((turn) => "second suspect" in turn));
});

Deno.test("what is held is not taken, and what is given back keeps its place", () => {
  const queue = new MerchantQueue(100, 100);
  flood(queue, "held", 4);
  flood(queue, "free", 1);
  const taken = queue.take(3, SHARED).get("held") ?? [];
  const commands = taken.filter((one) => one.kind === "command");
  flood(queue, "held", 2);
  // given back in two parts, the later one first
  queue.putBack("held", commands.slice(1));
  queue.putBack("held", commands.slice(0, 1));
  assertEquals(counts(queue.take(500, () => "paused")), {});
  const turns = queue.take(500, SHARED).get("held")?.map((one) =>
    one.kind === "command" ? one.turn : 0
  );
  assertEquals(turns, [...turns ?? []].sort((a, b) => a - b));
  assertEquals(turns?.length, 6);
  assertEquals(queue.size, 0);
});

Deno.test("a held merchant is tried again after as long as it has been held, and rests for what it cost", () => {
  let now = 0;
  const held = new PausedMerchants(() => now);
  const pauses = (costMs: number, tries: number) =>
    Array.from({ length: tries }, () => {
      held.pause("mer", costMs);
      const pause = held.nextMs ?? 0;
      assertEquals(held.has("mer"), true);
      now += pause;
      assertEquals(held.has("mer"), false);
      return pause;
    });
  assertEquals(pauses(0, 12), [5, 5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_000]);
  assertEquals(held.suspended, 1);
  held.resume("mer");
  assertEquals([held.size, held.suspended], [0, 0]);
  assertEquals(pauses(50, 5), [1_000, 1_000, 2_000, 4_000, 5_000]);
  held.resume("mer");
  assertEquals(pauses(3_000, 4), [12_000, 24_000, 60_000, 60_000]);
  held.resume("mer");
  held.pauseUntilResumed("mer");
  held.pause("mer", 0);
  now += 3_600_000;
  assertEquals([held.has("mer"), held.nextMs], [true, null]);
  held.resume("mer");
  held.pause("gone", 0);
  now += 70_000;
  held.tidy();
  assertEquals(held.size, 0);
});
