import { assert, assertEquals, assertMatch } from "@std/assert";
import { Engine } from "../../actors/engine.ts";
import type { EngineDeps } from "../../actors/engine_deps.ts";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { type Migration, readMigrations } from "../../ledger/database/migrate.ts";
import { readiness } from "../../app/health/readiness.ts";
import {
  addMerchant,
  addTransfer,
  fund,
  openJournal,
  refundCommand,
  reserveCommand,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A busy machine may take long for what a service is asked for every few seconds. */
const BOUND_MS = 60_000;

function engineOn(sql: Sql, deps: Partial<EngineDeps> = {}): Engine {
  return new Engine({
    sql,
    journalSql: sql,
    chains: new Map(),
    signer: paperSigner(),
    webhooks: { wake: () => {}, start: () => {}, stop: () => Promise.resolve() },
    pace: () => ({
      pollMs: 1_000,
      leaseMs: 1_000,
      resendMs: 1_000,
      recheckMs: 1_000,
      attemptLimit: 3,
    }),
    now: () => Date.now(),
    usdRate: () => "1",
    ...deps,
  });
}

test("a deposit that another node has booked and not told of is watched until it expires", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const engine = engineOn(sql);
  await engine.start();
  try {
    // the other node dies between its commit and its word to the payment
    const other = openJournal(sql);
    const merchantId = await addMerchant(sql);
    await addTransfer(sql, merchantId, "5", { phase: "seen", addressId: newId("adr") });
    other.wake(merchantId);
    await until(async () => (await sql`SELECT 1 FROM book.deposit`).length === 1);
    await other.stop(1_000);
    await until(async () => (await sql`SELECT 1 FROM hub.timer`).length === 1);
  } finally {
    await engine.stop(1_000);
  }
});

test("a queued payout of a network that a node does not serve is given back by no such node, as its blocks may have paid it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { merchants } = engineOn(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, merchants, merchantId, "100");
  const payout = reserveCommand();
  await merchants.ask(merchantId, payout, BOUND_MS);
  const refund = refundCommand(payout.withdrawalId);
  assertEquals((await merchants.ask(merchantId, refund, BOUND_MS)).kind, "held");
  const statuses = await sql`SELECT status FROM book.outgoing`;
  assertEquals(statuses.map(({ status }) => status), ["queued"]);
  await merchants.stop(1_000);
});

test("a serving node is measured by the migrations it started with", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const engine = engineOn(sql);
  const now = Date.now();
  const started = await readMigrations();
  const ready = (migrations: readonly Migration[]) =>
    readiness({
      sql,
      migrations,
      engine,
      now,
      signerTrouble: null,
      fees: null,
      reconciler: null,
      boundMs: BOUND_MS,
    });
  assertEquals((await ready(started)).status, "ok");
  // a file that is new on disk is nothing to this node, one that it was started with is
  const another = { ...started[0], number: "9999", name: "9999_other.sql" } as Migration;
  const found = await ready([...started, another]);
  assertEquals(found.status, "unready");
  assertMatch(found.reasons.join(), /9999_other\.sql/);
  await engine.stop(1_000);
});

test("a node whose journal does not move is not ready", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  let now = Date.now();
  const engine = engineOn(sql, { monotonic: () => now });
  const merchantId = await addMerchant(sql);
  const migrations = await readMigrations();
  const parts = { sql, migrations, engine, fees: null, reconciler: null, boundMs: BOUND_MS };
  const ready = async (trouble: string | null = null) =>
    await readiness({ ...parts, now, signerTrouble: trouble });
  assertEquals((await ready()).status, "ok");
  assertEquals(await ready("the signer is paused"), {
    status: "degraded",
    reasons: ["payouts wait: the signer is paused"],
  });
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = sql.begin(async (tx) => {
    await tx`LOCK TABLE book.merchant IN ACCESS EXCLUSIVE MODE`;
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const asked = engine.merchants.ask(merchantId, reserveCommand(), 60_000);
  await until(() => engine.merchants.busyMs > 0 || (now++, false));
  now += 30_000;
  const found = await ready();
  assertEquals(found, { status: "unready", reasons: ["the journal does not move"] });
  released.resolve();
  await holding;
  assert((await asked).kind === "refused");
  assertEquals((await ready()).status, "ok");
  await engine.stop(1_000);
});
