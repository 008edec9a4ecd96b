import type { Row, Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { LOST_ACCOUNT } from "../own_accounts.ts";
import type { DepositRow } from "../payment_rows.ts";
import { inPlace } from "../in_place.ts";
import { column, type RecordNeeds } from "./record_needs.ts";

/** Log index of a deposit by hand that names a transaction. */
const BY_HAND = -1;

/** A transaction that a merchant's deposit by hand names and that is another's. */
export interface OfAnother {
  readonly merchantId: string;
  readonly network: Network;
  readonly txid: string;
}

/** Deposits that messages name: by id, by their transfer, or by a transaction that they claim. */
export async function readDeposits(
  sql: Sql,
  { deposits, transfers, claims }: RecordNeeds,
): Promise<readonly Row[]> {
  const byId = deposits.length === 0 ? [] : await sql`
    SELECT d.* FROM book.deposit d
    JOIN unnest(${column(deposits, "id")}::text[], ${column(deposits, "merchantId")}::text[])
      AS k(id, merchant_id) ON d.id = k.id AND d.merchant_id IS NOT DISTINCT FROM k.merchant_id`;
  const byTransfer = transfers.length === 0 ? [] : await sql`
    SELECT d.* FROM unnest(${column(transfers, "merchantId")}::text[],
      ${column(transfers, "network")}::text[], ${column(transfers, "txid")}::text[],
      ${transfers.map((t) => t.logIndex)}::int[]) AS k(merchant_id, network, txid, log_index)
    CROSS JOIN LATERAL (
      SELECT x.* FROM book.deposit x
      WHERE x.txid IS NOT NULL
        AND ${inPlace(sql, ["merchant_id", "network", "txid", "log_index"])}) d`;
  const byClaim = claims.length === 0 ? [] : await sql`
    SELECT d.* FROM unnest(${column(claims, "merchantId")}::text[],
      ${column(claims, "network")}::text[],
      ${column(claims, "txid")}::text[]) AS k(merchant_id, network, txid)
    CROSS JOIN LATERAL (
      SELECT x.* FROM book.deposit x
      WHERE x.merchant_id = k.merchant_id AND x.network = k.network AND x.txid = k.txid
      ORDER BY x.merchant_id, x.network, x.txid, x.log_index LIMIT 1) d`;
  return [...byId, ...byTransfer, ...byClaim];
}

/**
 * Transactions that deposits by hand name and that are booked by hand already, for any
 * merchant, or paid another one; a transfer that waits for a second node's proof is its owner's, too, and
 * so is one that was discarded: a proof may come after all. So is one that is credited already by another id, which a node
 * has told for the same place in its block.
 * A payment to a lost address is credited by hand, so its account is no other merchant. With `OFFSET 0`
 * each question is asked for one transaction: the planner would answer it for all that there are at once.
 */
export async function readOfAnother(
  sql: Sql,
  deposits: readonly DepositRow[],
): Promise<readonly OfAnother[]> {
  const named = deposits.flatMap(({ merchantId, network, txid, logIndex }) =>
    txid === null || logIndex !== BY_HAND ? [] : [{ merchantId, network, txid }]
  );
  if (named.length === 0) return [];
  return await sql<OfAnother[]>`
    SELECT k.merchant_id AS "merchantId", k.network, k.txid
    FROM unnest(${column(named, "merchantId")}::text[], ${column(named, "network")}::text[],
                ${column(named, "txid")}::text[]) AS k(merchant_id, network, txid)
    WHERE EXISTS (
        SELECT FROM book.deposit x
        WHERE x.log_index = -1 AND x.status = 'CONFIRMED' AND ${
    inPlace(sql, ["network", "txid"])
  } OFFSET 0)
      OR EXISTS (
        SELECT FROM book.sweep_item i
        WHERE i.network = k.network AND i.txid = k.txid AND i.merchant_id NOT IN (k.merchant_id, ${LOST_ACCOUNT}) OFFSET 0)
      OR EXISTS (
        SELECT FROM book.deposit_proof p
        WHERE p.network = k.network AND p.txid = k.txid AND p.merchant_id <> k.merchant_id
          AND (p.evidence IS NULL OR p.evidence ? 'discarded') OFFSET 0)
      OR book.is_credited_by_another_id(k.network, k.txid)`;
}
