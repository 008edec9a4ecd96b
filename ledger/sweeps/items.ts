import type { Fragment, Sql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { shape } from "../shape.ts";
import { amount, bigint, integer, orNull, type RowOf, text } from "../table.ts";
import { keyOf, type TransferFinding } from "../watcher/findings.ts";
import type { OpenItem } from "./sweep_facts.ts";
import { isUntouched, type SweepAddress, touchOrAdd } from "./sweep_addresses.ts";

const itemShape = shape({
  merchantId: text(),
  txid: text(),
  logIndex: integer(),
  address: text(),
  currency: text(),
  amount: amount(),
  height: bigint(),
  blockLog: orNull(integer()),
});

/**
 * Stores final transfers to own addresses as to be swept; known ones are left alone.
 *
 * The row of an address that another transaction holds is not waited for, or one address would stop
 * the scan of its network: the address is listed in the same statement and taken over as soon as its
 * row is free (see `takeLateSweepAddresses`).
 *
 * @returns keys of those that were new, see `keyOf`; what is neither new nor known has the place of another in its
 *   block
 */
export async function recordSweepItems(
  sql: AnySql,
  network: Network,
  findings: readonly TransferFinding[],
): Promise<ReadonlySet<string>> {
  const items = findings.map(({ to, ...finding }) => ({ ...finding, address: to }));
  const rows = await sql<Pick<TransferFinding, "merchantId" | "txid" | "logIndex">[]>`
    WITH found AS (
      INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height, block_log)
      SELECT merchant_id, ${network}, txid, log_index, address, currency, amount, height, block_log
      FROM ${itemShape.rows(sql, "f", items)}
      ON CONFLICT DO NOTHING RETURNING merchant_id, txid, log_index, address, currency
    ), paid AS MATERIALIZED (
      SELECT DISTINCT ON (address, currency) address, currency, merchant_id FROM found ORDER BY address, currency
    ), ${touchOrAdd(sql, network, sql`paid`)}, late AS (
      INSERT INTO book.late_sweep_address (network, address, currency, merchant_id)
      SELECT ${network}, address, currency, merchant_id FROM place WHERE is_known AND NOT is_free
      ORDER BY address, currency
      ON CONFLICT (network, address, currency) DO UPDATE SET merchant_id = excluded.merchant_id
    )
    SELECT merchant_id AS "merchantId", txid, log_index AS "logIndex" FROM found`;
  return new Set(rows.map(keyOf));
}

const keyShape = shape({ merchantId: text(), txid: text(), logIndex: integer() });

/** `FROM ... WHERE` of an update of `book.sweep_item i` that names items of a network. */
export function namedItems(
  sql: AnySql,
  network: Network,
  items: readonly RowOf<typeof keyShape>[],
): Fragment {
  return sql`FROM ${keyShape.rows(sql, "k", items)}
    WHERE i.merchant_id = k.merchant_id AND i.network = ${network} AND i.txid = k.txid AND i.log_index = k.log_index`;
}

/**
 * Lists transfers under a sweep.
 *
 * @throws when one of them is carried already: the planner holds the address
 */
export async function coverItems(
  tx: AnySql,
  { network, address }: SweepAddress,
  outgoingId: string,
  items: readonly OpenItem[],
): Promise<void> {
  if (items.length === 0) return;
  const { count } = await tx`
    UPDATE book.sweep_item i SET outgoing_id = ${outgoingId} ${namedItems(tx, network, items)}
      AND i.outgoing_id IS NULL AND NOT i.done`;
  if (count !== items.length) {
    throw new Error(`Cannot list transfers as some are carried already: ${address}`);
  }
}

/**
 * Gives the transfers of sweeps that were given up back to the planner. The schema refuses it for a
 * sweep that may still land.
 */
export async function releaseSweepItems(
  sql: AnySql,
  outgoingIds: readonly string[],
): Promise<void> {
  if (outgoingIds.length === 0) return;
  await sql`
    UPDATE book.sweep_item SET outgoing_id = NULL
    WHERE outgoing_id = ANY (${[...outgoingIds]}::text[]) AND NOT done`;
}

const spareSweep = shape({
  outgoingId: text(),
  spare: amount(),
  /** Its block; nothing that came later was there to be moved. */
  height: bigint(),
});
/** A final sweep that moved more than it lists. */
export type SpareSweep = RowOf<typeof spareSweep>;

/**
 * Final sweeps of an address that moved more than they list: what came in while they were planned,
 * or was paid before its address was watched and claimed later.
 */
export async function readSpareSweeps(
  sql: Sql,
  { network, walletIndex, currency }: SweepAddress,
): Promise<readonly SpareSweep[]> {
  return spareSweep.all(
    await sql`
    SELECT outgoing_id, spare, height FROM (
      SELECT o.id AS outgoing_id, a.height, CASE a.outcome WHEN 'paid' THEN o.amount ELSE v.arrived END
        - coalesce((SELECT sum(i.amount) FROM book.sweep_item i WHERE i.outgoing_id = o.id), 0) AS spare
      FROM book.outgoing o JOIN book.attempt a
        ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IN ('paid', 'unexpected')
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      WHERE o.network = ${network} AND o.wallet = ${String(walletIndex)} AND o.wallet <> 'hot'
        AND o.currency = ${currency} AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final') s
    WHERE spare > 0 ORDER BY outgoing_id`,
  );
}

/**
 * Lists transfers under a final sweep that has moved them already, and notifies those who wait for that.
 *
 * @returns the merchants with a new inbox row; null: something happened to the address
 */
export async function attachToSweep(
  sql: Sql,
  target: SweepAddress,
  outgoingId: string,
  items: readonly OpenItem[],
): Promise<readonly string[] | null> {
  return await sql.begin(async (tx) => {
    const { count } = await tx`
      UPDATE book.sweep_address SET touched = touched + 1, poll_at = now() WHERE ${
      isUntouched(tx, target)
    }`;
    if (count === 0) return null;
    await coverItems(tx, target, outgoingId, items);
    return await notifySwept(tx, [outgoingId]);
  });
}

/**
 * Notifies merchants that their top-ups were carried to the hot wallet by final sweeps, and closes what
 * no merchant waits for. A top-up that its merchant has not booked yet (its pair takes no deposits now)
 * stays open; doing it again changes nothing.
 *
 * @returns the merchants with a new inbox row
 */
export async function notifySwept(
  sql: AnySql,
  outgoingIds: readonly string[],
): Promise<readonly string[]> {
  if (outgoingIds.length === 0) return [];
  const rows = await sql<{ merchant_id: string }[]>`
    WITH item AS MATERIALIZED (
      SELECT merchant_id, network, txid, log_index, address, outgoing_id FROM book.sweep_item
      WHERE outgoing_id = ANY (${[...outgoingIds]}::text[]) AND NOT done
      ORDER BY network, txid, log_index, merchant_id FOR UPDATE
    ), carried AS (
      SELECT i.*, a.txid AS sweep, a.height FROM item i
      JOIN book.outgoing o ON o.id = i.outgoing_id AND o.merchant_id = ${PLATFORM_ACCOUNT}
        AND o.kind = 'sweep' AND o.status = 'final'
      JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      WHERE a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved'
    ), waiting AS (
      SELECT c.* FROM carried c
      JOIN book.deposit_address w ON w.network = c.network AND w.address = c.address
        AND w.merchant_id = c.merchant_id AND w.kind = 'top_up'
    ), notified AS (
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT w.merchant_id, w.network, w.txid, w.log_index, 'swept', jsonb_build_object(
        'to', w.address, 'outgoingId', w.outgoing_id, 'sweepTxid', w.sweep, 'height', w.height)
      FROM waiting w JOIN book.deposit d ON d.merchant_id = w.merchant_id AND d.network = w.network
        AND d.txid = w.txid AND d.log_index = w.log_index AND d.expires_at IS NULL
      ON CONFLICT DO NOTHING
      RETURNING merchant_id, network, txid, log_index
    ), closed AS (
      UPDATE book.sweep_item i SET done = true FROM carried c
      WHERE i.merchant_id = c.merchant_id AND i.network = c.network AND i.txid = c.txid AND i.log_index = c.log_index
        AND (NOT EXISTS (SELECT FROM waiting w WHERE w.merchant_id = c.merchant_id AND w.network = c.network
               AND w.txid = c.txid AND w.log_index = c.log_index)
          OR EXISTS (SELECT FROM notified t WHERE t.merchant_id = c.merchant_id AND t.network = c.network
               AND t.txid = c.txid AND t.log_index = c.log_index)
          OR EXISTS (SELECT FROM book.inbox x WHERE x.merchant_id = c.merchant_id AND x.network = c.network
               AND x.txid = c.txid AND x.log_index = c.log_index AND x.phase = 'swept')
          -- a deposit booked by hand has claimed the whole transaction and was confirmed by its operator
          OR EXISTS (SELECT FROM book.deposit d WHERE d.merchant_id = c.merchant_id AND d.network = c.network
               AND d.txid = c.txid AND d.log_index IN (c.log_index, -1) AND d.status = 'CONFIRMED'))
    )
    SELECT DISTINCT merchant_id FROM notified`;
  return rows.map((row) => row.merchant_id);
}
