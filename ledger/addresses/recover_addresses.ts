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
 * Takes the payments of a transaction off the list, once a confirmed deposit of a merchant names
 * that transaction.
 *
 * @returns how many; 0 when none waits or no such deposit is confirmed
 */
export async function closeLostPayments(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<number> {
  const { count } = await sql`
    UPDATE book.inbox i SET consumed_at = now()
    WHERE i.merchant_id = ${LOST_ACCOUNT} AND i.network = ${network} AND i.txid = ${txid}
      AND i.consumed_at IS NULL AND EXISTS (
        SELECT FROM book.deposit d
        WHERE d.network = i.network AND d.txid = i.txid AND d.status = 'CONFIRMED')`;
  return count;
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
