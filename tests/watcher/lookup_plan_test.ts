import { assertEquals } from "@std/assert";
import { textKey } from "../../chains/text_key.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { findAddresses } from "../../ledger/addresses/watched_addresses.ts";
import { findOwnTransactions } from "../../ledger/watcher/record_outcomes.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ISSUED = 20_000;
const ASKED = 10_000;

async function addAddresses(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    SELECT 'somebody ' || i, 'TRX', 'mer_1', 'adr_' || i, i FROM generate_series(1, ${ISSUED}::int) i`;
}

/**
 * Looks something up and returns those of the tables and their indexes of which as many rows were
 * read as there are. Only this transaction's reads count: other connections report theirs late.
 */
async function readWhole(
  sql: Sql,
  tables: readonly string[],
  lookUp: () => Promise<unknown>,
): Promise<readonly string[]> {
  await sql`BEGIN`;
  await lookUp();
  const rows = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class
    WHERE oid IN (
        SELECT unnest(${[...tables]}::text[]::regclass[])
        UNION ALL SELECT indexrelid FROM pg_index
        WHERE indrelid = ANY (${[...tables]}::text[]::regclass[])
      )
      AND pg_stat_get_xact_tuples_returned(oid) >= ${ISSUED}`;
  await sql`COMMIT`;
  return rows.map(({ name }) => name);
}

test("however many receivers are looked up, addresses are read by key, and not the table", async () => {
  await using database = await testDatabase({ unused: true });
  const sql = database.connect({ max: 1 });
  await addAddresses(sql);
  await sql`ANALYZE hub.address`;
  // as the first few times that a connection asks
  await sql`SET plan_cache_mode = force_custom_plan`;
  const strangers = Array.from({ length: ASKED }, (_, n) => n.toString(16).padStart(40, "a"));
  const found = await findAddresses(sql, "TRX", [...strangers, "somebody 7"].map(textKey));
  assertEquals([...found.values()].map(({ address }) => address), ["somebody 7"]);
  await sql`SELECT pg_stat_force_next_flush()`;
  const [scans] = await sql<{ ofTable: number; byKey: number }[]>`
    SELECT seq_scan::int AS "ofTable", (idx_scan > 0)::int AS "byKey" FROM pg_stat_user_tables
    WHERE relid = 'hub.address'::regclass`;
  assertEquals(scans, { ofTable: 0, byKey: 1 });
});

test("a connection that looked up addresses before there were any reads by key all the same, without statistics", async () => {
  await using database = await testDatabase({ unused: true });
  // keeps the plan of its first query, as any connection does after some
  const sql = await database.connect({ max: 1, looksUpOnly: true }).reserve();
  const strangers = Array.from(
    { length: 100 },
    (_, n) => textKey(n.toString(16).padStart(40, "a")),
  );
  assertEquals((await findAddresses(sql, "TRX", strangers)).size, 0);
  await addAddresses(database.sql);
  const again = () => findAddresses(sql, "TRX", strangers);
  assertEquals(await readWhole(sql, ["hub.address"], again), []);
  sql.release();
});

test("a connection that looked up transactions of ours before there were any reads by key all the same, without statistics", async () => {
  await using database = await testDatabase({ unused: true });
  const sql = await database.connect({ max: 1, looksUpOnly: true }).reserve();
  const strangers = Array.from({ length: ASKED }, (_, n) => n.toString(16).padStart(64, "a"));
  assertEquals(await findOwnTransactions(sql, "TRX", strangers), []);
  await database.sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'out_' || i, 'mer_1', 'payout', 'wd_' || i, 'TRX', 'USDT', 1, 'somewhere', 'signed', now(), now()
    FROM generate_series(1, ${ISSUED}::int) i`;
  await database.sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, fee_limit, expires_at, dies_after, created_at)
    SELECT 'out_' || i, 1, 'mer_1', 'TRX', 'ours ' || i, '{}', 1, now(), extract(epoch FROM now()) * 1000, now()
    FROM generate_series(1, ${ISSUED}::int) i`;
  const again = async () => {
    const found = await findOwnTransactions(sql, "TRX", [...strangers, "ours 7"]);
    assertEquals(found.map(({ outgoingId }) => outgoingId), ["out_7"]);
  };
  assertEquals(await readWhole(sql, ["book.attempt", "book.outgoing"], again), []);
  sql.release();
});
