import { assertEquals } from "@std/assert";
import { Registry } from "prom-client";
import { isList, poolOf } from "../../api/http/serve.ts";
import { ROUTES } from "../../api/routes.ts";
import { isWrite } from "../../api/http/watched_writes.ts";
import { ReadSlots } from "../../api/http/read_slots.ts";
import { connect, poolFigures } from "../../ledger/database/connect.ts";
import { PoolState } from "../../ledger/database/pool_state.ts";
import { type DatabaseFigures, registerDatabaseMetrics } from "../../app/health/database.ts";
import { openReadSlots } from "../../app/health/pools.ts";
import { sharePool } from "../../app/open/open_database.ts";
import { testNeeding } from "../support/permissions.ts";

Deno.test("a pool is exhausted only while no connection was free for a moment", () => {
  let now = 0;
  const state = new PoolState(2, () => now);
  const [one, two] = [{}, {}];
  state.changed(one, "busy");
  state.changed(two, "busy");
  now = 5_000;
  assertEquals(state.figures, { limit: 2, open: 2, busy: 2, exhaustedMs: 5_000 });
  state.changed(one, "idle");
  state.changed(one, "busy");
  assertEquals(state.figures.exhaustedMs, 0);
  now = 6_000;
  state.changed(two, "gone");
  assertEquals(state.figures, { limit: 2, open: 1, busy: 1, exhaustedMs: 0 });
});

Deno.test("connections are shared out among what they are for, and none of it is left without", () => {
  for (let connections = 8; connections <= 500; connections++) {
    const shares = Object.values(sharePool(connections));
    assertEquals(shares.reduce((sum, share) => sum + share, 0), connections);
    assertEquals(Math.min(...shares) >= 1, true);
  }
  assertEquals(sharePool(24), {
    actors: 11,
    requests: 3,
    pages: 1,
    reads: 6,
    operators: 3,
  });
});

testNeeding({ env: true })(
  "lists have as many turns as the pool has connections for statements, those for transactions apart",
  async () => {
    const reads = connect("postgres://absent@127.0.0.1:9/none", { max: 6 });
    const { statements, transactions } = poolFigures(reads);
    assertEquals([statements.limit, transactions.limit], [6, 3]);
    const slots = openReadSlots(reads);
    const later: Promise<(() => void) | null>[] = [];
    for (const merchantId of ["a", "a", "a", "b", "b", "b", "a", "c"]) {
      later.push(slots.take(merchantId));
    }
    assertEquals(slots.figures, { used: 6, waiting: 2, refused: 0 });
    for (const one of later) (await one)?.();
    await reads.end();
  },
);

Deno.test("metrics wait for no database that does not answer, and ask it once", async () => {
  let now = 0;
  let reads = 0;
  let answer: Promise<DatabaseFigures> = Promise.resolve({
    troubles: [{ network: "TRX", openSpends: 2, unproven: 1, isHeld: true }],
    again: [],
    backlog: null,
  });
  const registry = new Registry();
  registerDatabaseMetrics(registry, () => {
    reads++;
    return answer;
  }, () => now);
  const shown = async () => {
    const lines = (await registry.metrics()).split("\n");
    return lines.filter((line) => /^engine_(failover|unknown|database_figures)/.test(line));
  };
  const told = ['engine_failover_hold{network="TRX"} 1', 'engine_unknown_spends{network="TRX"} 2'];
  assertEquals([await shown(), reads], [[...told, "engine_database_figures_age_seconds 0"], 1]);
  const late = Promise.withResolvers<DatabaseFigures>();
  answer = late.promise;
  now = 7_000;
  for (let i = 0; i < 2; i++) {
    assertEquals([await shown(), reads], [[...told, "engine_database_figures_age_seconds 7"], 2]);
  }
  late.resolve({ troubles: [], again: [], backlog: null });
  await late.promise;
  assertEquals((await shown()).at(-1), "engine_database_figures_age_seconds 0");
});

Deno.test("one merchant's lists leave turns to the others, and who waits longest since a turn or without one is next", async () => {
  const slots = new ReadSlots({ slots: 3, perMerchant: 2, waitMs: 60_000 });
  const [first, second] = [await slots.take("a"), await slots.take("a")];
  const order: string[] = [];
  const later = ["a", "b", "c"].map(async (merchantId) => {
    const release = await slots.take(merchantId);
    order.push(merchantId);
    return release;
  });
  await later[1];
  assertEquals([order, slots.figures], [["b"], { used: 3, waiting: 2, refused: 0 }]);
  first?.();
  first?.();
  const third = await later[2];
  second?.();
  await later[0];
  assertEquals(order, ["b", "c", "a"]);
  third?.();
  for (const one of later) (await one)?.();
  assertEquals(slots.figures, { used: 0, waiting: 0, refused: 0 });
});

Deno.test("a list that finds no turn in time is turned away", async () => {
  const slots = new ReadSlots({ slots: 1, perMerchant: 1, waitMs: 5 });
  const held = await slots.take("a");
  assertEquals(await slots.take("b"), null);
  held?.();
  assertEquals(slots.figures, { used: 0, waiting: 0, refused: 1 });
});

Deno.test("a statement that may change rows is a write, whatever it begins with", () => {
  for (
    const text of [
      "INSERT INTO hub.api_key VALUES (1)",
      "WITH moved AS (UPDATE book.outgoing SET x = 1 RETURNING 1) SELECT * FROM moved",
      "SELECT book.resolve_commit($1, $2)",
      "SELECT hub.history_name(), hub.store_contracts($1, $2)",
      "delete from hub.session",
    ]
  ) assertEquals([text, isWrite(text)], [text, true]);
  for (
    const text of [
      "SELECT id, updated_at FROM book.deposit WHERE merchant_id = $1",
      "SELECT count(*) FROM book.charge",
      "SELECT height, hub.history_name() AS history FROM hub.cursor WHERE network = $1",
      "begin",
      "rollback",
    ]
  ) assertEquals([text, isWrite(text)], [text, false]);
});

testNeeding({ env: true })(
  "what resellers ask takes no connection from operators, and its lists wait for their turn",
  async () => {
    await using database = openPools();
    const { pools } = database;
    const theirs = ROUTES.filter(({ access }) => access.scope === "reseller");
    assertEquals(theirs.length > 0, true);
    for (const route of theirs) {
      const own = poolOf(route, pools, false);
      assertEquals(
        own === (route.method === "GET" ? pools.reads : pools.requests),
        true,
        route.path,
      );
      assertEquals(isList(route), route.method === "GET");
      assertEquals(poolOf(route, pools, true) === pools.operators, true, route.path);
    }
  },
);

/** Pools that nothing is asked of. */
function openPools() {
  const open = () => connect("postgres://absent@127.0.0.1:9/none", { max: 1 });
  const pools = {
    requests: open(),
    pages: open(),
    reads: open(),
    operators: open(),
    slots: new ReadSlots({ slots: 1, perMerchant: 1, waitMs: 5 }),
  };
  return {
    pools,
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [pools.requests, pools.pages, pools.reads, pools.operators].map((pool) => pool.end()),
      );
    },
  };
}
