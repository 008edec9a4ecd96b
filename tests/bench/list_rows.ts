/**
 * Years of business of one merchant, inserted by SQL: every list with its rare and common statuses,
 * counted as the journal counts.
 *
 * @module
 */

import type { Sql } from "../../ledger/database/connect.ts";
import { sumLargeBuckets } from "../../ledger/lists/list_query.ts";
import { SOMEWHERE } from "../support/books.ts";
import { sumBuckets } from "../support/list_buckets.ts";

/** Tables of the lists; their indexes are made after the rows, which takes half the time. */
const TABLES = [
  "deposit",
  "withdrawal",
  "settlement",
  "transaction",
  "charge",
  "outbox",
  "deposit_address",
  "address_number",
];

interface Index {
  readonly name: string;
  readonly text: string;
}

/**
 * Fills every list of each merchant.
 *
 * @param merchants how many rows each list of a merchant gets
 */
export async function fillLists(
  sql: Sql,
  merchants: ReadonlyMap<string, number>,
): Promise<void> {
  const indexes = await sql<Index[]>`
    SELECT format('book.%I', i.indexname) AS name, i.indexdef AS text FROM pg_indexes i
    JOIN pg_class c ON c.relname = i.indexname
    WHERE i.schemaname = 'book' AND i.tablename = ANY (${TABLES}::text[])
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid)`;
  for (const { name } of indexes) await sql.unsafe(`DROP INDEX ${name}`);
  for (const [merchantId, rows] of merchants) await fill(sql, merchantId, rows);
  await Promise.all(indexes.map(({ text }) => sql.unsafe(text)));
  for (const merchantId of merchants.keys()) await sumBuckets(sql, merchantId);
  while (await sumLargeBuckets(sql) > 0);
  await sql`
    INSERT INTO book.event_count SELECT merchant_id, bucket, status, type, sum(count)
    FROM book.event_delta GROUP BY 1, 2, 3, 4`;
  await sql`TRUNCATE book.event_delta`;
  const filled = [...TABLES, "list_bucket", "list_large_bucket", "event_count"];
  await Promise.all(filled.map((table) => sql.unsafe(`VACUUM ANALYZE book.${table}`)));
  await sql`VACUUM ANALYZE hub.session`;
}

async function fill(sql: Sql, merchantId: string, rows: number): Promise<void> {
  // a row every 8.64 s: 10,000 a day
  const at = sql`'2026-01-01Z'::timestamptz + i * interval '8.64 seconds'`;
  const network = sql`CASE WHEN i % 5 = 0 THEN 'TRX_SHASTA' ELSE 'TRX' END`;
  const numbers = sql`generate_series(1, ${rows}::int) i`;
  const id = (prefix: string) =>
    sql`${prefix}::text || ${merchantId}::text || lpad(i::text, 9, '0')`;
  const [before] = await sql<{ deposits: number; transactions: number; charges: number }[]>`
    SELECT deposit_seq::int AS deposits, transaction_seq::int AS transactions, charge_seq::int AS charges
    FROM book.account WHERE merchant_id = ${merchantId}`;
  const { deposits = 0, transactions = 0, charges = 0 } = before ?? {};
  await Promise.all([
    sql`
    INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount,
      status, source, reference_id, address_id, txid, log_index, created_at, updated_at, cleared_at)
    SELECT ${
      id("dep_")
    }, ${merchantId}, i + ${deposits}, i, 'USDT', ${network}, i, s, 'onchain', 'ref-' || i, ${
      id("adr_")
    },
      md5(${merchantId} || i) || md5(i::text), 0, ${at}, ${at}, CASE WHEN s = 'CONFIRMED' THEN ${at} END
    FROM ${numbers}, LATERAL (SELECT CASE WHEN i % 997 = 0 THEN 'FAILED'
      WHEN i % 5003 = 0 THEN 'CANCELLED' WHEN i % 1009 = 0 OR i > ${rows}::int - 40 THEN 'PENDING'
      ELSE 'CONFIRMED' END AS s) x`,
    sql`
    INSERT INTO book.withdrawal (id, merchant_id, seq, transaction_seq, outgoing_id, currency,
      network, amount, base_fee, markup_rate, markup_amount, network_fee, destination, status, txid,
      created_at, processed_at)
    SELECT ${id("wd_")}, ${merchantId}, i, i, ${id("out_")}, 'USDT', ${network}, i, 1, 0, 0, 1,
      ${SOMEWHERE}, s, CASE WHEN s = 'CONFIRMED' THEN md5(i::text) END, ${at},
      CASE WHEN s NOT IN ('PENDING', 'PENDING_APPROVAL') THEN ${at} END
    FROM ${numbers}, LATERAL (SELECT CASE WHEN i % 991 = 0 THEN 'CANCELLED'
      WHEN i % 17 = 0 THEN 'FAILED' WHEN i % 1013 = 0 THEN 'PENDING_APPROVAL'
      WHEN i > ${rows}::int - 2000 THEN 'PENDING' ELSE 'CONFIRMED' END AS s) x`,
    sql`
    INSERT INTO book.settlement (id, merchant_id, seq, withdrawal_id, currency, network, amount,
      total_fees, address, label, status, needed_approval, created_at, updated_at, history)
    SELECT ${id("stl_")}, ${merchantId}, i, ${
      id("wd_")
    }, 'USDT', ${network}, i, 2, ${SOMEWHERE}, 'x',
      s, false, ${at}, ${at}, CASE s WHEN 'REJECTED'
        THEN '[{"status":"PENDING","at":"2026-01-01T00:00:00.000Z"},{"status":"APPROVAL_REQUIRED","at":"2026-01-01T00:00:00.000Z"},{"status":"REJECTED","at":"2026-01-01T00:00:00.000Z"}]'::jsonb
        WHEN 'FAILED' THEN '[{"status":"PENDING","at":"2026-01-01T00:00:00.000Z"},{"status":"PROCESSING","at":"2026-01-01T00:00:00.000Z"},{"status":"FAILED","at":"2026-01-01T00:00:00.000Z"}]'
        ELSE '[{"status":"PENDING","at":"2026-01-01T00:00:00.000Z"},{"status":"PROCESSING","at":"2026-01-01T00:00:00.000Z"},{"status":"SUBMITTED_TO_LEDGER","at":"2026-01-01T00:00:00.000Z"},{"status":"COMPLETED","at":"2026-01-01T00:00:00.000Z"}]'
        END
    FROM ${numbers}, LATERAL (SELECT CASE WHEN i % 1021 = 0 THEN 'REJECTED'
      WHEN i % 97 = 0 THEN 'FAILED' ELSE 'COMPLETED' END AS s) x`,
    sql`
    INSERT INTO book.transaction (merchant_id, seq, id, payment_id, type, status, currency, network,
      effect, fee, created_at)
    SELECT ${merchantId}, i + ${transactions}, ${id("txn_")}, ${id("dep_")},
      CASE WHEN i % 1031 = 0 THEN 'SETTLEMENT' WHEN i % 3 = 0 THEN 'WITHDRAWAL' ELSE 'DEPOSIT' END,
      s, 'USDT', ${network},
      CASE WHEN s = 'FAILED' THEN 0 WHEN i % 3 = 0 THEN -1.000001 ELSE 2.5 END, 0, ${at}
    FROM ${numbers}, LATERAL (SELECT CASE WHEN i % 997 = 0 THEN 'FAILED' ELSE 'CONFIRMED' END AS s) x`,
    sql`
    INSERT INTO book.charge (merchant_id, seq, id, payment_id, type, currency, network, amount, created_at)
    SELECT ${merchantId}, i + ${charges}, ${id("chg_")}, ${id("wd_")}, t, 'USDT', ${network},
      CASE WHEN t = 'REVERSAL' THEN -1 ELSE 1 END, ${at}
    FROM ${numbers}, LATERAL (SELECT CASE WHEN i % 1009 = 0 THEN 'ADDRESS_ACTIVATION'
      WHEN i % 503 = 0 THEN 'REVERSAL' WHEN i % 2 = 0 THEN 'NETWORK_FEE'
      ELSE 'WITHDRAWAL_COMMISSION' END AS t) x`,
    sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    SELECT overlay('evt_' || lpad(to_hex(floor(extract(epoch FROM ${at}) * 1000)::bigint), 12, '0')
        placing '-' from 13 for 0) || '-7000-8000-' || lpad(to_hex(i), 12, '0'),
      ${merchantId}, ${
      id("wd_")
    }, CASE WHEN i % 2 = 0 THEN 'withdrawal.confirmed' ELSE 'transaction.confirmed' END,
      '{"type":"transaction","status":"confirmed","amount":"12.5","currency":"USDT"}',
      CASE WHEN i % 997 = 0 THEN 'FAILED' WHEN i % 5003 = 0 THEN 'SKIPPED' ELSE 'DELIVERED' END, ${at}
    FROM ${numbers}`,
    sql`
    INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, identifier, created_at)
    SELECT ${id("adr_")}, ${merchantId}, 'TRX', ${
      id("T")
    }, i, 'issued', i::text, ${at} FROM ${numbers}`,
    sql`
    INSERT INTO hub.session (id, token_hash, nonce, merchant_id, seq, address_id, address, network,
      identifier, currency, expires_at, created_at)
    SELECT ${id("ses_")}, sha256((${id("ses_")})::bytea), i::text, ${merchantId}, i, ${
      id("adr_")
    }, ${id("T")},
      'TRX', i::text, 'USDT', ${at}, ${at} FROM ${numbers}`,
  ]);
  await sql`
    INSERT INTO hub.session_counter VALUES (${merchantId}, ${rows})`;
  await sql`
    UPDATE book.account SET deposit_seq = ${deposits + rows}, withdrawal_seq = ${rows},
      settlement_seq = ${rows}, transaction_seq = ${transactions + rows},
      charge_seq = ${charges + rows} WHERE merchant_id = ${merchantId}`;
}
