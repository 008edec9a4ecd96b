import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { quarantineApart } from "../../actors/journal/quarantine_apart.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { readHealth } from "../../ledger/database/read_health.ts";
import {
  quarantineInboxRows,
  releaseClaimed,
  releaseUnclaimed,
} from "../../ledger/journal/quarantine_rows.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { countOldClaims } from "../../ledger/quarantine.ts";
import { listPairs, updatePair } from "../../ledger/settings.ts";
import { createDeposit } from "../decisions/support/messages.ts";
import { addMerchant, openJournal, SOMEWHERE, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { rowsRead } from "../support/rows_read.ts";
import { openWireCounter } from "../support/wire_counter.ts";

const test = testNeeding(DATABASE);

/** Transfers of one transaction to one address of a merchant, as one call of a contract makes them. */
async function addFlood(
  sql: Sql,
  merchantId: string,
  rows: number,
  { network = "BNB", quarantine = null as string | null, txid = "f" } = {},
): Promise<void> {
  const data = {
    ...{ currency: "USDT", amount: "0.0001", from: SOMEWHERE, to: SOMEWHERE },
    ...{ addressId: "adr_test", height: 7, diesAfter: 1_800_000_000_000 },
    expiresAt: 1_800_000_000_000,
  };
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data, quarantine)
    SELECT ${merchantId}, ${network}, ${txid}, i, 'solid', ${sql.json(data)}, ${quarantine}
    FROM generate_series(1, ${rows}::int) i`;
}

async function waiting(sql: Sql, merchantId: string): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM book.inbox
    WHERE merchant_id = ${merchantId} AND consumed_at IS NULL AND quarantine IS NULL`;
  return row?.n ?? 0;
}

async function quarantined(sql: Sql, merchantId: string): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM book.inbox
    WHERE merchant_id = ${merchantId} AND consumed_at IS NULL AND quarantine IS NOT NULL`;
  return row?.n ?? 0;
}

test("a flood of transfers of a disabled pair costs a few statements a batch, and is no fault that is counted", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await addFlood(sql, merchantId, 2_000);
  await using counter = openWireCounter(database.url);
  const counted = connect(counter.url, { max: 2 });
  const journal = openJournal(counted);
  journal.wake(merchantId);
  await until(async () => await waiting(sql, merchantId) === 0);
  await journal.stop(5_000);
  await counted.end();
  assertEquals(await quarantined(sql, merchantId), 2_000);
  assertEquals(journal.figures.quarantined, 0);
  // four batches; one by one it would be four for each transfer
  assertLess(counter.counts().statements, 100);
});

test("a row that cannot be quarantined keeps none of its batch from being", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await addFlood(sql, merchantId, 500);
  await sql`
    CREATE FUNCTION book.refuse_two() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'this row is broken'; END $$`;
  await sql`
    CREATE TRIGGER two_refused BEFORE UPDATE ON book.inbox FOR EACH ROW
    WHEN (OLD.log_index = 500) EXECUTE FUNCTION book.refuse_two()`;
  const rows = Array.from({ length: 500 }, (_, i) => ({
    key: { merchantId, network: "BNB", txid: "f", logIndex: i + 1, phase: "solid" } as const,
    reason: "bug: Error: x",
  }));
  const store = createJournalStore(sql);
  let statements = 0;
  await quarantineApart({
    ...store,
    quarantineInboxRows: (part) => {
      statements++;
      return store.quarantineInboxRows(part);
    },
  }, rows);
  assertEquals([await quarantined(sql, merchantId), await waiting(sql, merchantId)], [499, 1]);
  // halves of halves
  assertLess(statements, 32);
});

test("rows that are all broken cost a batch a bounded number of statements, and are met again", async () => {
  let statements = 0;
  const rows = Array.from({ length: 500 }, (_, i) => ({
    key: { merchantId: "mer_1", network: "BNB", txid: "f", logIndex: i, phase: "solid" } as const,
    reason: "bug: Error: x",
  }));
  const store = {
    isConnectionError: () => false,
    isTransient: () => false,
    isLocked: (error: unknown) => String(error).includes("lock"),
  };
  const refusing = (message: string) => () => {
    statements++;
    return Promise.reject(new Error(message));
  };
  await quarantineApart({ ...store, quarantineInboxRows: refusing("broken") }, rows);
  assertEquals(statements, 32);
  // a pair that is held is no row's fault
  statements = 0;
  await quarantineApart({ ...store, quarantineInboxRows: refusing("lock timeout") }, rows);
  assertEquals(statements, 1);
});

test("what waits for a disabled pair is passed by: a look at other kinds, at pairs and at claims reads a bounded number of rows", async () => {
  await using database = await testDatabase({ unused: true });
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await addFlood(sql, merchantId, 20_000, { quarantine: "unclaimed: deposits are disabled" });
  await addFlood(sql, merchantId, 3_000, { quarantine: "bug: Error: x", txid: "b" });
  await addFlood(sql, merchantId, 1_500, { quarantine: "misdirected: x", txid: "m" });
  await addFlood(sql, merchantId, 2, { quarantine: "zebra: a kind of a later release", txid: "z" });
  await sql`VACUUM ANALYZE book.inbox`;
  const one = database.connect({ max: 1, looksUpOnly: true });
  let health = await readHealth(one, 30);
  const ofHealth = await rowsRead(one, "book.inbox", async () => {
    health = await readHealth(one, 30);
  });
  assertEquals([health.quarantinedRows, health.misdirectedRows], [1_002, 1_000]);
  assertGreater(ofHealth, 2_000);
  assertLess(ofHealth, 2_100);
  const ofClaims = await rowsRead(one, "book.inbox", async () => {
    assertEquals(await releaseClaimed(one, null), null);
    assertEquals(await countOldClaims(one, 10), 0);
  });
  assertLess(ofClaims, 10);
  await sql`UPDATE book.pair SET deposits_enabled = currency = 'USDC' WHERE network = 'BNB'`;
  assertLess(await rowsRead(one, "book.inbox", () => releaseUnclaimed(one)), 10);
  const ofPairs = await rowsRead(one, "book.inbox", async () => {
    const pairs = await listPairs(one);
    const found = pairs.find(({ currency, network }) => currency === "USDT" && network === "BNB");
    assertEquals(found?.unclaimed, 1_000);
  });
  assertLess(ofPairs, 1_100);
});

test("transfers that wait for a deposit by hand read that one each, however many others are pending, without statistics", async () => {
  await using database = await testDatabase({ unused: true });
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`
      INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount, status, source,
        txid, log_index, created_at, updated_at)
      SELECT 'dep_' || i, ${merchantId}, i, i, 'USDT', 'BNB', 1, 'PENDING', 'x', 'tx_' || i, -(i % 2), now(), now()
      FROM generate_series(1, 1000) i`;
  });
  // a deposit by hand names the first transaction, and a transfer alone is of the second
  await addFlood(sql, merchantId, 150, { quarantine: "claimed: by dep_1", txid: "tx_1" });
  await addFlood(sql, merchantId, 150, { quarantine: "claimed: by dep_2", txid: "tx_2" });
  const one = database.connect({ max: 1, looksUpOnly: true });
  const read = await rowsRead(one, "book.deposit", async () => {
    assertEquals(await releaseClaimed(one, null), null);
  });
  assertEquals([await waiting(sql, merchantId), await quarantined(sql, merchantId)], [150, 150]);
  // of the merchant's pending ones it would be 1,000 for each
  assertLess(read, 1_000);
});

test("enabling a pair gives a portion back itself, and the journal the rest", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await addFlood(sql, merchantId, 2_500, { quarantine: "unclaimed: deposits are disabled" });
  await addFlood(sql, merchantId, 7, { quarantine: "unclaimed: x", network: "ETH" });
  await releaseUnclaimed(sql);
  assertEquals(await quarantined(sql, merchantId), 2_507, "none of them is enabled");
  const pair = { currency: "USDT", network: "BNB" } as const;
  const audit = {
    ...{ id: newId("aud"), merchantId: null, actor: "key", action: "pair" },
    ...{ subject: "USDT/BNB", requestId: null, createdAt: Date.now() },
  } as const;
  const { released } = await updatePair(sql, pair, { depositsEnabled: true }, audit);
  assertEquals([[...released], await quarantined(sql, merchantId)], [[merchantId], 1_507]);
  // a pair that was enabled meanwhile keeps its transfers in the queue
  const key = { merchantId, network: "BNB", txid: "f", phase: "solid" } as const;
  const one = { key: { ...key, logIndex: 1 }, reason: "unclaimed: deposits are disabled" };
  await quarantineInboxRows(sql, [one]);
  assertEquals(await quarantined(sql, merchantId), 1_507);
  await releaseUnclaimed(sql);
  assertEquals(await quarantined(sql, merchantId), 7);
});

test("claims that stay undecided keep none behind them from being given back", async () => {
  await using database = await testDatabase();
  // as the journal asks: by index only, and a statement may take three seconds
  const sql = database.connect({ max: 4, statementTimeoutMs: 3_000, looksUpOnly: true });
  const journal = openJournal(sql);
  const [first = "", last = ""] = [await addMerchant(sql), await addMerchant(sql)].toSorted();
  const made = await journal.ask(first, createDeposit({ txid: "c" }), 60_000);
  assertEquals(made.kind, "done");
  await addFlood(sql, first, 21_500, { network: "TRX", quarantine: "claimed: x", txid: "c" });
  await addFlood(sql, last, 2, { network: "TRX", quarantine: "claimed: x", txid: "d" });
  const behind = await releaseClaimed(sql, null);
  assertEquals([behind?.merchantId, behind?.logIndex], [first, 20_000]);
  assertEquals(await quarantined(sql, last), 2);
  assertEquals(await releaseClaimed(sql, behind), null);
  assertEquals([await quarantined(sql, first), await quarantined(sql, last)], [21_500, 0]);
  // the journal goes on where it ended
  await sql`UPDATE book.inbox SET quarantine = 'claimed: x' WHERE merchant_id = ${last}`;
  for (const left of [2, 0]) {
    await journal.wakeAll();
    assertEquals(await quarantined(sql, last), left);
  }
  await journal.stop(5_000);
});
