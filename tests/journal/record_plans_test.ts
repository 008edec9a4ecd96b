import { assertEquals, assertLess } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { type BatchRecords, readRecords } from "../../ledger/journal/read_records.ts";
import type { RecordNeeds } from "../../ledger/journal/record_needs.ts";
import { addMerchant, openJournal, SOMEWHERE, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { rowsRead } from "../support/rows_read.ts";

const test = testNeeding(DATABASE);

/** Rows of each table; a look by key reads a few of them, and one of all reads as many. */
const ROWS = 3_000;
/** Keys of each kind that one batch asks for, and what it may read: itself, its lines, its address and whom else it names. */
const KEYS = 100;
const MOST = 6 * KEYS;

const TABLES = [
  ...["deposit", "withdrawal", "outgoing", "transaction", "settlement", "settlement_address"],
  ...["ingested", "deposit_address", "sweep_item", "deposit_proof"],
].map((name) => `book.${name}`);

/** One merchant's records, each under the key of its number; deposits of even numbers were booked by hand. */
async function fill(sql: Sql, from: number, to: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`CREATE TEMPORARY TABLE n ON COMMIT DROP AS
      SELECT i, '0x' || lpad(to_hex(i), 40, '0') AS place, now() AS at
      FROM generate_series(${from}::int, ${to}::int) i`;
    await tx`
      INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount, status, source,
        address_id, txid, log_index, created_at, updated_at, cleared_at)
      SELECT 'dep_' || i, 'mer_1', i, i, 'USDT', 'BNB', 1, 'CONFIRMED', 'x', 'adr_' || i, 'tx_' || i, -((i + 1) % 2), at, at, at FROM n`;
    await tx`
      INSERT INTO book.withdrawal (id, merchant_id, seq, transaction_seq, outgoing_id, currency, network, amount, base_fee,
        markup_rate, markup_amount, network_fee, destination, reference_id, status, created_at)
      SELECT 'wd_' || i, 'mer_1', i, i, 'out_' || i, 'USDT', 'BNB', 1, 0, 0, 0, 0, place, 'ref_' || i, 'PENDING', at FROM n`;
    await tx`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      SELECT 'out_' || i, 'mer_1', 'payout', 'wd_' || i, 'BNB', 'USDT', 1, place, 'signed', at, at FROM n`;
    await tx`
      INSERT INTO book.transaction (merchant_id, seq, id, payment_id, type, status, currency, network, effect, fee, created_at)
      SELECT 'mer_1', i, 'trx_' || i, 'wd_' || i, 'SETTLEMENT', 'FAILED', 'USDT', 'BNB', 0, 0, at FROM n`;
    await tx`
      INSERT INTO book.settlement (id, merchant_id, seq, withdrawal_id, currency, network, amount, total_fees, address,
        label, status, needed_approval, created_at, updated_at, history, idempotency_key)
      SELECT 'stl_' || i, 'mer_1', i, 'wd_' || i, 'USDT', 'BNB', 1, 0, place, '', 'APPROVED', true, at, at, '[]', 'key_' || i FROM n`;
    await tx`
      INSERT INTO book.settlement_address (id, merchant_id, network, address, label, created_at)
      SELECT 'adr_' || i, 'mer_1', 'BNB', place, '', at FROM n`;
    await tx`
      INSERT INTO book.ingested (event_id, merchant_id, body_hash, created_at, network, txid)
      SELECT 'evt_' || i, 'mer_1', '', at, 'BNB', 'tx_' || i FROM n`;
    await tx`
      INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, created_at, identifier)
      SELECT 'adr_' || i, 'mer_1', 'BNB', place, i, 'issued', at, 'customer_' || i FROM n`;
    await tx`
      INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, created_at)
      SELECT 'top_' || i, 'mer_' || i, 'BNB', '0x' || lpad(to_hex(i), 40, 'a'), i, 'top_up', at FROM n`;
    await tx`
      INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height)
      SELECT 'mer_1', 'BNB', 'tx_' || i, 0, place, 'USDT', 1, 1 FROM n`;
    await tx`
      INSERT INTO book.deposit_proof (merchant_id, network, txid, log_index, address_id, height, currency, amount, sender, receiver)
      SELECT 'mer_1', 'BNB', 'tx_' || i, 0, 'adr_' || i, 1, 'USDT', 1, '', '' FROM n`;
  });
}

function many<T>(make: (n: number) => T): readonly T[] {
  return Array.from({ length: KEYS }, (_, n) => make(n * 7 + 1));
}

const NONE: RecordNeeds = {
  ...{ withdrawals: [], references: [], deposits: [], transfers: [], claims: [], addressIds: [] },
  ...{ addresses: [], identifiers: [], topUps: [], settlements: [], settlementKeys: [] },
  ...{ settlementAddresses: [], destinations: [], whitelists: [], ingested: [], payments: [] },
};
const OF = { merchantId: "mer_1", network: "BNB" } as const;
const { merchantId, network } = OF;
const placeOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

/** One kind of need each, and where what it finds is. */
const CASES: readonly (readonly [Partial<RecordNeeds>, keyof BatchRecords])[] = [
  [{ withdrawals: many((n) => ({ merchantId, id: `wd_${n}` })) }, "withdrawals"],
  [{ references: many((n) => ({ merchantId, referenceId: `ref_${n}` })) }, "holders"],
  [{ deposits: many((n) => ({ merchantId, id: `dep_${n}` })) }, "deposits"],
  [
    { transfers: many((n) => ({ ...OF, txid: `tx_${n}`, logIndex: n % 2 - 1 })) },
    "deposits",
  ],
  [{ claims: many((n) => ({ ...OF, txid: `tx_${n}` })) }, "deposits"],
  [{ addressIds: many((n) => ({ merchantId, id: `adr_${n}` })) }, "addresses"],
  [{ addresses: many((n) => ({ ...OF, address: placeOf(n) })) }, "addresses"],
  [{ identifiers: many((n) => ({ ...OF, identifier: `customer_${n}` })) }, "addresses"],
  [{ topUps: many((n) => ({ merchantId: `mer_${n}`, network })) }, "addresses"],
  [{ settlements: many((n) => ({ merchantId, id: `stl_${n}` })) }, "settlements"],
  [{ settlementKeys: many((n) => ({ merchantId, key: `key_${n}` })) }, "settlements"],
  [{ settlementAddresses: many((n) => ({ merchantId, id: `adr_${n}` })) }, "whitelist"],
  [{ destinations: many((n) => ({ ...OF, address: placeOf(n) })) }, "whitelist"],
  [{ whitelists: many((n) => `mer_${n + 1}`) }, "listed"],
  [{ ingested: many((n) => `evt_${n}`) }, "ingested"],
  [{ payments: many((n) => ({ network, txid: `tx_${n}` })) }, "ingested"],
];

/** Asks for every kind, so that the connection has its plans. */
async function ask(sql: Sql): Promise<void> {
  for (const [needs] of CASES) await readRecords(sql, { ...NONE, ...needs });
}

/** Asks for every kind: all is found, and no kind reads more than a few rows for each key. */
async function askAndCount(sql: Sql, when: string): Promise<void> {
  for (const [needs, found] of CASES) {
    const before = await readSoFar(sql);
    const records = await readRecords(sql, { ...NONE, ...needs });
    const read = await readSoFar(sql) - before;
    const kind = `${Object.keys(needs).join()} ${when}`;
    assertEquals(records[found].length, KEYS, kind);
    assertLess(read, MOST, kind);
  }
}

/** Rows and entries of indexes that were read of all the tables. */
async function readSoFar(sql: Sql): Promise<number> {
  await sql`SELECT pg_stat_force_next_flush()`;
  const [row] = await sql<{ rows: string }[]>`
    SELECT sum(pg_stat_get_tuples_returned(oid)) AS rows FROM pg_class
    WHERE oid = ANY (${TABLES}::text[]::regclass[]) OR oid IN (
      SELECT indexrelid FROM pg_index WHERE indrelid = ANY (${TABLES}::text[]::regclass[]))`;
  return Number(row?.rows);
}

/** A migrated database that has statistics when a test makes them, and not before. */
async function unobserved() {
  const database = await testDatabase({ unused: true });
  for (const table of TABLES) {
    await database.sql.unsafe(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  }
  return { database, journals: () => database.connect({ max: 1, looksUpOnly: true }) };
}

test("a batch reads the records that it names, with and without statistics of their tables", async () => {
  const { database, journals } = await unobserved();
  await using opened = database;
  const early = journals();
  await ask(early);
  await fill(opened.sql, 1, ROWS);
  await askAndCount(early, "by plans of empty tables");
  await askAndCount(journals(), "by plans without statistics");
  await opened.sql.unsafe(`ANALYZE ${TABLES.join()}`);
  await askAndCount(early, "by plans with statistics");
});

test("a batch reads the records that it names, also by plans of a database that had a few", async () => {
  const { database, journals } = await unobserved();
  await using opened = database;
  await fill(opened.sql, 1, 20);
  await opened.sql.unsafe(`VACUUM ANALYZE ${TABLES.join()}`);
  const early = journals();
  await ask(early);
  await fill(opened.sql, 21, ROWS);
  await askAndCount(early, "by plans of a few rows");
  await askAndCount(journals(), "by statistics of a few rows");
});

test("a payment that becomes final changes its line, and reads none of its merchant's others, without statistics", async () => {
  const { database, journals } = await unobserved();
  await using opened = database;
  const sql = journals();
  const journal = openJournal(sql);
  const owner = await addMerchant(sql);
  await sql`
    INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, identifier, created_at)
    VALUES ('adr_test', ${owner}, 'TRX', ${SOMEWHERE}, 0, 'issued', 'customer', now())`;
  const data = {
    ...{ currency: "USDT", amount: "1", from: SOMEWHERE, to: SOMEWHERE, addressId: "adr_test" },
    ...{ height: 7, diesAfter: 1_800_000_000_000, expiresAt: 1_800_000_000_000 },
  };
  const take = async (phase: "seen" | "solid", from: number, to: number) => {
    await opened.sql`
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT ${owner}, 'TRX', lpad(i::text, 64, '0'), 0, ${phase}, ${sql.json(data)}
      FROM generate_series(${from}::int, ${to}::int) i`;
    journal.wake(owner);
    await until(async () =>
      (await opened.sql`SELECT FROM book.inbox WHERE consumed_at IS NULL LIMIT 1`).length === 0
    );
  };
  // lists count lines in buckets of 250: changes of a full one are read with what the line was
  await take("seen", 1, 1_100);
  const read = await rowsRead(sql, "book.transaction", () => take("solid", 951, 970));
  await journal.stop(5_000);
  const confirmed = await opened.sql`SELECT FROM book.deposit WHERE status = 'CONFIRMED'`;
  assertEquals(confirmed.length, 20);
  // each of the lines a few times; with those before them it would be 20,000
  assertLess(read, 400);
});
