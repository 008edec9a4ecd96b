import { assertEquals, assertMatch } from "@std/assert";
import { compareHistory } from "../../ledger/failover/history.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { endHolds } from "../../ledger/failover/holds.ts";
import { until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { placeCursor } from "../support/scan_cursor.ts";
import { addWallet } from "../support/wallet_row.ts";

const test = testNeeding(DATABASE);

test("signing is stopped without a gap while another history becomes a hold", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql, "TRX", "hot");
  await sql`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
  // the comparison of histories waits for a gate, so that the hold is opened in the middle of an answer
  await sql`ALTER FUNCTION hub.is_other_history() RENAME TO compare_histories`;
  await sql`
    CREATE FUNCTION hub.is_other_history() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(77);
      RETURN hub.compare_histories();
    END $$`;
  const gate = await sql.reserve();
  await gate`SELECT pg_advisory_lock(77)`;
  const asked = readSigningStop(sql, "TRX");
  await until(async () => {
    const waiting = await sql`
      SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return waiting.length > 0;
  });
  await compareHistory(sql, "fov_1", 10);
  await gate`SELECT pg_advisory_unlock(77)`;
  gate.release();
  assertMatch(String(await asked), /another history/);
});

test("a hold is ended by hand alone, and only where no node scans what it waits for", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql, "TRX", "hot");
  await sql`INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_0', 'declared', 'test', 'op')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last) VALUES ('fov_0', 'SOL', 0, 0)`;
  const end = () =>
    endHolds(sql, ["TRX"], "SOL is served no longer", {
      id: "aud_1",
      actor: "op",
      action: "failover.end",
      subject: "failover",
      merchantId: null,
      requestId: "request",
      before: null,
      after: null,
    });
  const block = {
    height: 9,
    hash: "9",
    time: Date.now(),
    previousTime: Date.now(),
    tick: Date.now(),
    previousTick: Date.now(),
  };
  await placeCursor(sql, "SOL", block);
  assertEquals(await end(), "not_compared", "another node scans it");
  await placeCursor(sql, "SOL", { ...block, time: Date.now() - 3_600_000 });

  // while it is ended, the database is promoted, and another node finds it
  const letGo = await holdRows(
    database,
    (tx) => tx`SELECT FROM hub.failover_network WHERE failover_id = 'fov_0' FOR UPDATE`,
  );
  const ended = end();
  await until(async () => {
    const waiting = await sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return waiting.length > 0;
  });
  await sql`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
  await compareHistory(sql, "fov_1", 10);
  await letGo();
  assertEquals(await ended, null);
  const open = await sql<{ id: string }[]>`SELECT id FROM hub.failover WHERE ended_at IS NULL`;
  assertEquals(open.map(({ id }) => id), ["fov_1"]);
  assertMatch(String(await readSigningStop(sql, "TRX")), /not compared yet/);
});
