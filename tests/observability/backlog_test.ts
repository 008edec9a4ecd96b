import { assert, assertEquals } from "@std/assert";
import { Registry } from "prom-client";
import { readDatabaseFigures, registerDatabaseMetrics } from "../../app/health/database.ts";
import { registerChainMetrics } from "../../app/health/chains.ts";
import { watchReadiness } from "../../app/health/watched_readiness.ts";
import { MoveCounts } from "../../actors/journal/payment_moves.ts";
import type { Readiness } from "../../api/http/context.ts";
import { nodeState } from "../support/node_state.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

testNeeding(DATABASE)(
  "what waits in the database is counted, and how long the oldest has",
  async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await sql`
    INSERT INTO book.outbox (id, merchant_id, type, payload, payment_id, status, attempts, created_at)
    SELECT 'evt_' || n, 'mer_' || n, 'deposit.confirmed', '{}', 'dep_' || n, 'PENDING', 0,
      now() - n * interval '1 minute' FROM generate_series(1, 3) n`;
    const registry = new Registry();
    registerDatabaseMetrics(registry, () => readDatabaseFigures(sql));
    const text = await registry.metrics();
    const figure = (name: string) =>
      Number(text.split("\n").find((line) => line.startsWith(`${name} `))?.split(" ").at(-1));
    assertEquals(figure("engine_callbacks_waiting"), 3);
    assertEquals(figure("engine_inbox_waiting_rows"), 0);
    assertEquals(Math.floor(figure("engine_callbacks_oldest_seconds") / 60), 3);
    assert(text.includes('engine_approvals_waiting{kind="settlement"} 0'), text);
  },
);

Deno.test("the lag of a network grows while no node is reached, also one that never was", async () => {
  let now = 1_000_000;
  const registry = new Registry();
  const watched = new Map([["TRX", { readSolidTime: 940_000, reachedAt: 500 }]]);
  const engine = { networks: ["TRX", "TRX_SHASTA"], nodes: () => [nodeState()], watched } as never;
  registerChainMetrics(registry, engine, () => now, () => now - 999_000);
  const shown = async () =>
    (await registry.getSingleMetricAsString("engine_chain_lag_seconds")).split("\n").slice(2);
  assertEquals(await shown(), [
    'engine_chain_lag_seconds{network="TRX"} 60',
    'engine_chain_lag_seconds{network="TRX_SHASTA"} 0',
  ]);
  now += 30_000;
  assertEquals(await shown(), [
    'engine_chain_lag_seconds{network="TRX"} 90',
    'engine_chain_lag_seconds{network="TRX_SHASTA"} 30',
  ]);
  const reached = await registry.getSingleMetricAsString("engine_chain_reached_age_seconds");
  assert(reached.includes('{network="TRX"} 30.5'), reached);
});

Deno.test("the reasons of readiness are metrics by kind, looked at once for all who ask", async () => {
  let looks = 0;
  let now = 0;
  let found: Readiness = { status: "degraded", reasons: ["TRX cannot be reached", "odd"] };
  const registry = new Registry();
  const ready = watchReadiness(registry, () => {
    looks++;
    return Promise.resolve(found);
  }, () => now);
  await ready();
  const text = await registry.metrics();
  for (const line of ['{reason="chain_unreached"} 1', '{reason="other"} 1', '{reason="sweep"} 0']) {
    assert(text.includes(`engine_readiness_reasons${line}`), line);
  }
  assert(text.includes("engine_ready 1\n"), text);
  assertEquals(looks, 1);
  now = 2_000;
  found = { status: "unready", reasons: ["the journal does not move"] };
  assert((await registry.metrics()).includes("engine_ready 0\n"));
  assertEquals(looks, 2);
});

Deno.test("moves of payments are counted by kind, pair and status", () => {
  const counts = new MoveCounts();
  const move = {
    kind: "withdrawal",
    id: "wd_1",
    merchantId: "mer_1",
    network: "TRX",
    currency: "USDT",
    amount: amount("5"),
    reason: null,
    txid: null,
  } as const;
  counts.add({ ...move, status: "PENDING" });
  counts.add({ ...move, status: "PENDING" });
  counts.add({ ...move, status: "FAILED" });
  assertEquals(counts.all.map(({ status, count }) => [status, count]), [["PENDING", 2], [
    "FAILED",
    1,
  ]]);
});
