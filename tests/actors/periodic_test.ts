import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { type ActorKind, Actors } from "../../actors/runtime/actor.ts";
import { Periodic } from "../../actors/runtime/periodic.ts";
import { Timers } from "../../actors/runtime/timers.ts";
import { boundKeptTimes } from "../../ledger/retention.ts";
import { workReasons } from "../../app/health/work.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const WELL = { brokenTimers: 0, boundedTimes: 0 };

Deno.test("work that throws or never ends keeps no other from being done, and is logged", async () => {
  using time = new FakeTime(0);
  const done = { well: 0, throwing: 0 };
  const tasks = new Periodic(() => time.now);
  const never = Promise.withResolvers<void>();
  tasks.every("hang", 1_000, () => never.promise);
  tasks.every("throw", 1_000, () => {
    done.throwing++;
    throw new Error("a bug");
  });
  tasks.every("go well", 1_000, () => {
    done.well++;
  });
  tasks.every("be rare", 3_600_000, () => {}, true);
  await time.tickAsync(4_000);
  assertEquals(done, { well: 4, throwing: 4 });
  await time.tickAsync(86_000);
  assertEquals(done, { well: 90, throwing: 90 });
  const engine = { busyFor: () => [], periodic: tasks.states, timeFigures: WELL };
  assertEquals(workReasons(engine), [
    "to hang was last completed 90 s ago",
    "to throw was last completed 90 s ago",
  ]);
  tasks.stop();
  never.resolve();
});

/** Actors that work until they are let go. */
function hanging(atOnce: number, gates: Map<string, () => void>): ActorKind<string> {
  return {
    name: "treasury",
    mailboxCapacity: 10,
    idleMs: null,
    isTransient: () => false,
    atOnce,
    activate: (id) =>
      Promise.resolve({
        receive: () => new Promise<void>((resolve) => gates.set(id, resolve)),
      }),
  };
}

Deno.test("an actor that is busy for long is reported, with its name", async () => {
  const gates = new Map<string, () => void>();
  const actors = new Actors(hanging(8, gates));
  actors.tell("TRX", "look");
  await until(() => gates.size === 1);
  await until(() => actors.busyFor(5).length === 1);
  assertEquals([actors.busyFor(5)[0]?.id, actors.busyFor(60_000)], ["TRX", []]);
  const busyFor = () => [{ actor: "treasury/TRX", ms: 200_500 }];
  assertEquals(workReasons({ busyFor, periodic: [], timeFigures: WELL }), [
    "treasury/TRX has been busy for 200 s",
  ]);
  gates.get("TRX")?.();
  await until(() => actors.busyFor(0).length === 0);
  await actors.stop(1_000);
});

Deno.test("of a thousand actors that wake together a few work at a time, and all of them in the end", async () => {
  const gates = new Map<string, () => void>();
  const actors = new Actors(hanging(4, gates));
  for (let i = 0; i < 1_000; i++) actors.tell(`payment${i}`, "look");
  let done = 0;
  while (done < 1_000) {
    await until(() => gates.size > 0);
    assertEquals(gates.size <= 4, true);
    for (const [id, letGo] of [...gates]) {
      gates.delete(id);
      letGo();
      done++;
    }
  }
  await actors.stop(1_000);
});

test("a timer that cannot be delivered is logged, and those after it are delivered", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const seen: string[] = [];
  const timers = new Timers(sql, ({ address }) => {
    if (address.kind === "unknown") throw new Error("Cannot deliver it");
    seen.push(address.id);
  });
  await timers.set({ kind: "unknown", id: "old" }, "expiry", Date.now() - 10_000);
  for (let i = 0; i < 5; i++) {
    await timers.set({ kind: "payment", id: `p${i}` }, "expiry", Date.now() - 5_000);
  }
  timers.start(5);
  await until(() => new Set(seen).size === 5);
  const timeFigures = { ...WELL, brokenTimers: timers.broken };
  assertEquals(workReasons({ busyFor: () => [], periodic: [], timeFigures }), [
    "1 timers cannot be delivered",
  ]);
  await timers.stop();
});

test("what was put off while a clock was wrong is due, and what is put off rightly is left", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const putOff = async (long: string, turn: string, lease: string) => {
    await sql`DELETE FROM hub.timer`;
    await sql`DELETE FROM book.sweep_address`;
    await sql`INSERT INTO hub.timer (actor, name, due_at) VALUES ('payment/a', 'expiry', now() + ${long}::text::interval)`;
    await sql`
      INSERT INTO book.sweep_address (network, address, currency, merchant_id, poll_at)
      VALUES ('TRX', 'somewhere', 'USDT', ${merchantId}, now() + ${long}::text::interval)`;
    await sql`
      INSERT INTO book.signing_turn (network, node, until) VALUES ('TRX', 'node', now() + ${turn}::text::interval)
      ON CONFLICT (network) DO UPDATE SET until = excluded.until`;
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, lease_until, created_at, updated_at)
      VALUES ('out_a', ${merchantId}, 'payout', 'wd_a', 'TRX', 'USDT', 1, 'somewhere', 'queued', now() + ${lease}::text::interval, now(), now())
      ON CONFLICT (id, merchant_id) DO UPDATE SET lease_until = excluded.lease_until`;
    await sql`
      INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_a', 'declared', 'a test', 'operator')
      ON CONFLICT DO NOTHING`;
    await sql`
      INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last, head_height, until_time, until_tick)
      VALUES ('fov_a', 'TRX', 0, 0, 7, now() + ${long}::text::interval, 7)
      ON CONFLICT (failover_id, network) DO UPDATE SET until_time = excluded.until_time, until_tick = 7, head_height = 7`;
  };
  await putOff("24 hours", "30 seconds", "10 minutes");
  assertEquals(await boundKeptTimes(sql), 0);
  await putOff("1 year", "1 hour", "1 day");
  assertEquals([await boundKeptTimes(sql), await boundKeptTimes(sql)], [5, 0]);
  const [turn] = await sql`SELECT until <= now() AS over FROM book.signing_turn`;
  assertEquals(turn?.["over"], true);
  // one kind that cannot be looked through keeps no other from it
  await putOff("1 year", "1 hour", "1 day");
  await sql`ALTER TABLE hub.timer RENAME TO timer_away`;
  const failed = await boundKeptTimes(sql).then(() => false, () => true);
  const [queued] = await sql`SELECT lease_until FROM book.outgoing`;
  assertEquals([failed, queued?.["lease_until"]], [true, null]);
});
