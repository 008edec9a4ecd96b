/**
 * After the restore of an older copy: addresses that were handed out since are unknown to it, and
 * their indexes would be handed out again. The index jumps ahead, and every index below it that no
 * address is known for is watched as lost.
 *
 * @module
 */

import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { LOST_ACCOUNT } from "../own_accounts.ts";

/** A final payment to an address whose merchant is not known. */
export interface LostPayment {
  readonly network: Network;
  readonly txid: string;
  readonly logIndex: number;
  readonly currency: Currency;
  readonly amount: Amount;
  readonly from: string;
  readonly to: string;
  readonly height: number;
}

/** Payments to lost addresses that wait for an operator, oldest first. */
export async function listLostPayments(sql: Sql, limit: number): Promise<readonly LostPayment[]> {
  const rows = await sql<(Omit<LostPayment, "amount"> & { amount: string })[]>`
    SELECT network, txid, log_index AS "logIndex", data ->> 'currency' AS currency,
      data ->> 'amount' AS amount, data ->> 'from' AS "from", data ->> 'to' AS "to",
      (data ->> 'height')::int AS height
    FROM book.inbox
    WHERE merchant_id = ${LOST_ACCOUNT} AND phase = 'solid' AND consumed_at IS NULL
    ORDER BY created_at LIMIT ${limit}`;
  return rows.map((row) => ({ ...row, amount: amountOf(row.amount) }));
}

/**
 * Takes payments of a transaction off the list, once a confirmed deposit by hand of a merchant names that
 * transaction and is large enough: all of them where it covers their sum, otherwise one that it is exactly. Of its
 * amount, what the transaction paid to the merchant's known addresses and was not credited otherwise counts for those, also
 * while it waits for its proof, and what was closed before for that. An ordinary deposit of the same transaction counts for nothing: an exchange pays several
 * customers with one.
 *
 * @returns how many; 0 when none waits or no deposit by hand covers one
 */
export async function closeLostPayments(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<number> {
  const [closed] = await sql<{ count: number }[]>`
    WITH lost AS MATERIALIZED (
      SELECT i.log_index, i.data ->> 'currency' AS currency, (i.data ->> 'amount')::numeric AS amount,
        i.consumed_at IS NULL AS is_open
      FROM book.inbox i
      WHERE i.merchant_id = ${LOST_ACCOUNT} AND i.network = ${network} AND i.txid = ${txid} AND i.phase = 'solid'
        AND (i.consumed_at IS NULL OR i.quarantine LIKE 'lost:%')
      FOR UPDATE
    ), by_hand AS (
      SELECT d.currency, sum(d.amount - (
        SELECT coalesce(sum(s.amount), 0) FROM (
          SELECT merchant_id, network, txid, log_index, currency, amount FROM book.sweep_item
          UNION ALL
          SELECT p.merchant_id, p.network, p.txid, p.log_index, p.currency, p.amount FROM book.deposit_proof p
          WHERE NOT coalesce(p.evidence ? 'discarded', false) AND NOT EXISTS (SELECT FROM book.sweep_item i
            WHERE i.merchant_id = p.merchant_id AND i.network = p.network AND i.txid = p.txid AND i.log_index = p.log_index)) s
        WHERE s.network = d.network AND s.txid = d.txid AND s.merchant_id = d.merchant_id AND s.currency = d.currency
          AND NOT EXISTS (SELECT FROM book.deposit o
            WHERE o.merchant_id = s.merchant_id AND o.network = s.network AND o.txid = s.txid
              AND o.log_index = s.log_index AND o.status = 'CONFIRMED'))) AS amount
      FROM book.deposit d
      WHERE d.network = ${network} AND d.txid = ${txid} AND d.log_index = -1 AND d.status = 'CONFIRMED'
      GROUP BY d.currency
    ), rest AS (
      SELECT h.currency, h.amount - coalesce(sum(l.amount) FILTER (WHERE NOT l.is_open), 0) AS amount,
        sum(l.amount) FILTER (WHERE l.is_open) AS open,
        min(l.log_index) FILTER (WHERE l.is_open AND l.amount = h.amount - (
          SELECT coalesce(sum(c.amount), 0) FROM lost c WHERE c.currency = h.currency AND NOT c.is_open)) AS exact
      FROM by_hand h JOIN lost l ON l.currency = h.currency GROUP BY h.currency, h.amount
    ), covered AS (
      SELECT l.log_index FROM lost l JOIN rest r ON r.currency = l.currency
      WHERE l.is_open AND (r.open <= r.amount OR l.log_index = r.exact)
    ), closed AS (
      UPDATE book.inbox i SET consumed_at = now() FROM covered c
      WHERE i.merchant_id = ${LOST_ACCOUNT} AND i.network = ${network} AND i.txid = ${txid}
        AND i.log_index = c.log_index AND i.consumed_at IS NULL
      RETURNING i.phase
    )
    SELECT count(*) FILTER (WHERE phase = 'solid')::int AS count FROM closed`;
  return closed?.count ?? 0;
}

/** Addresses that are derived and written together: a running service derives them beside its requests. */
const CHUNK = 100;

/** Result of a recovery. */
export interface Recovered {
  /** The next index that is handed out. */
  readonly nextIndex: number;
  /** Addresses that are watched from now on and whose merchants are not known. */
  readonly lost: number;
  /** The last solid block that was read: later ones are read with these addresses in mind; null: none. */
  readonly readTo: number | null;
}

/**
 * Jumps ahead and watches the gap. Dying in between loses nothing: the jump is committed first, so
 * that no index is handed out twice, and a repetition finds what is not watched yet.
 *
 * @param gap how many addresses may have been handed out since the copy was made
 * @param derive the address of an index
 * @param newAddressId a fresh address id
 * @throws when the network has no wallet
 */
export async function recoverAddresses(
  sql: Sql,
  network: Network,
  gap: number,
  derive: (index: number) => string,
  newAddressId: () => string,
): Promise<Recovered> {
  const [jumped] = await sql<{ next: number }[]>`
    UPDATE hub.wallet SET next_index = next_index + ${gap} WHERE network = ${network}
    RETURNING next_index AS next`;
  if (jumped === undefined) {
    throw new Error(`Cannot recover addresses as the network has no wallet: ${network}`);
  }
  const lost = await watchGap(
    sql,
    network,
    { first: 0, last: jumped.next - 1 },
    derive,
    newAddressId,
  );
  const [cursor] = await sql<{ height: string }[]>`
    SELECT height FROM hub.cursor WHERE network = ${network} AND view = 'solid'`;
  return {
    nextIndex: jumped.next,
    lost,
    readTo: cursor === undefined ? null : Number(cursor.height),
  };
}

/**
 * Watches every address of a range of indexes whose merchant is not known. Doing it again changes
 * nothing.
 *
 * @param gap indexes, both included
 * @param derive the address of an index
 * @param newAddressId a fresh address id
 * @returns how many are watched now that were not before
 */
export async function watchGap(
  sql: Sql,
  network: Network,
  gap: { readonly first: number; readonly last: number },
  derive: (index: number) => string,
  newAddressId: () => string,
): Promise<number> {
  const unknown = await sql<{ index: number }[]>`
    SELECT i AS index FROM generate_series(${gap.first}::int, ${gap.last}::int) i
    WHERE NOT EXISTS (SELECT FROM hub.address a WHERE a.network = ${network} AND a.wallet_index = i)
    ORDER BY i`;
  let lost = 0;
  for (let at = 0; at < unknown.length; at += CHUNK) {
    const indexes = unknown.slice(at, at + CHUNK).map(({ index }) => index);
    const { count } = await sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      SELECT address, ${network}, ${LOST_ACCOUNT}, address_id, index FROM unnest(
        ${indexes.map(derive)}::text[], ${indexes.map(newAddressId)}::text[], ${indexes}::int[])
        AS t(address, address_id, index)
      ON CONFLICT DO NOTHING`;
    lost += count;
  }
  return lost;
}
