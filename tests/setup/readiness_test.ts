import { assertEquals } from "@std/assert";
import { Engine } from "../../actors/engine.ts";
import { detailReads, readiness } from "../../app/health/readiness.ts";
import { poolFigures } from "../../ledger/database/connect.ts";
import { readMigrations } from "../../ledger/database/migrate.ts";
import { until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("what is told besides is read once at a time, over connections that operators do not use", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const detailsSql = database.connect({ max: 4, applicationName: "details" });
  const operatorSql = database.connect({ max: 3 });
  const engine = new Engine({
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
  });
  const migrations = await readMigrations();
  const own = database.connect({ max: 1 });
  const details = detailReads(detailsSql, engine);
  const rest = { migrations, engine, signerTrouble: null, fees: null, reconciler: null };
  const ready = (boundMs = 60_000) =>
    readiness({ sql: own, details, now: Date.now(), boundMs, ...rest });
  assertEquals(await ready(), { status: "ok", reasons: [] });

  const [locked, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = database.connect({ max: 1 }).begin(async (tx) => {
    await tx`LOCK TABLE book.inbox IN ACCESS EXCLUSIVE MODE`;
    locked.resolve();
    await letGo.promise;
  });
  await Promise.race([locked.promise, locking]);
  const checks = Array.from({ length: 8 }, () => ready(5_000));
  for (const { status, reasons } of await Promise.all(checks)) {
    assertEquals(status, "degraded");
    assertEquals(reasons.includes("database: what waits cannot be told: no answer in time"), true);
    assertEquals(
      reasons.includes("database: what a failover holds cannot be told: no answer in time"),
      false,
    );
  }
  const [waiting] = await sql<{ reads: number }[]>`
    SELECT count(*)::int AS reads FROM pg_stat_activity
    WHERE application_name = 'details' AND wait_event_type = 'Lock' AND datname = current_database()`;
  const { busy, limit } = poolFigures(detailsSql).statements;
  assertEquals([waiting?.reads, busy, limit], [2, 2, 4]);
  await operatorSql`SELECT 1`;
  // connections for transactions are idle: statements wait all the same
  const slow = [1, 2].map(() => detailsSql`SELECT FROM book.inbox`.execute());
  await until(() => poolFigures(detailsSql).statements.exhaustedMs > 0);
  letGo.resolve();
  await Promise.all([locking, ...slow]);
  assertEquals(await ready(), { status: "ok", reasons: [] });
  await own.end({ timeout: 1 });
  assertEquals((await ready()).status, "unready");
  await engine.stop(1_000);
});
