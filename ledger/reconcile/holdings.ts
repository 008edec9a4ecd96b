/**
 * Holdings of wallets by the books, and the amounts owed to merchants.
 *
 * @module
 */

import type { Sql } from "../database/connect.ts";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Currency, Network, OutgoingAsset } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { amount, bigint, boolean, type RowOf, text } from "../table.ts";

const paidAttempt = shape({
  outgoingId: text(),
  txid: text(),
  currency: text<Currency>(),
  amount: amount(),
  destination: text(),
});
/** An own transaction that counts as paid. */
export type PaidAttempt = RowOf<typeof paidAttempt>;

/** The newest transactions of a network that count as paid. */
export async function listPaidAttempts(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly PaidAttempt[]> {
  return paidAttempt.all(
    await sql`
    SELECT a.outgoing_id, a.txid, o.currency, o.amount, o.destination
    FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    WHERE a.network = ${network} AND a.outcome = 'paid' AND o.kind IN ('payout', 'settlement')
    ORDER BY a.outgoing_id DESC LIMIT ${limit}`,
  );
}

const addressHolding = shape({
  address: text(),
  currency: text<Currency>(),
  /** Held for the service's own accounts and merchants. */
  amount: amount(),
  /** Came in for an address of another network, and is not dealt with yet: it is there, and belongs to no books. */
  setAside: amount(),
  /** True where such money has come in at all: by hand it goes at any time, and less than a dollar of it leaves no row. */
  isMisdirected: boolean(),
});
/** Expected balance of a deposit address. */
export type AddressHolding = RowOf<typeof addressHolding>;

/**
 * Expected balances of deposit addresses after a block, by our own scan: everything that was final until
 * then and paid to them, whether credited or quarantined, without what was swept from them or written
 * off. What came in for an address of another network counts apart. Addresses that were never paid are not among them.
 *
 * @param height of a solid block that the scan has passed
 */
export async function readAddressHoldings(
  sql: Sql,
  network: Network,
  height: number,
): Promise<readonly AddressHolding[]> {
  return addressHolding.all(
    await sql`
    SELECT address, currency, sum(amount) AS amount, sum(set_aside) AS set_aside,
      bool_or(is_misdirected) AS is_misdirected
    FROM (
      SELECT address, currency, CASE WHEN is_misdirected THEN 0 ELSE amount END AS amount,
        CASE WHEN is_misdirected AND is_open THEN amount ELSE 0 END AS set_aside, is_misdirected
      FROM (
        -- the same transfer may be in the inbox of one account first and in its owner's later
        SELECT DISTINCT ON (i.txid, i.log_index) i.data ->> 'to' AS address, i.data ->> 'currency' AS currency,
          (i.data ->> 'amount')::numeric AS amount, i.data ? 'issuedOn' AS is_misdirected,
          i.consumed_at IS NULL AS is_open
        FROM book.inbox i
        WHERE i.network = ${network} AND i.phase = 'solid' AND (i.data ->> 'height')::bigint <= ${height}
          -- told by another id once more
          AND NOT i.data ? 'bookedAs'
        ORDER BY i.txid, i.log_index, i.data ? 'issuedOn', i.consumed_at IS NULL) came
      UNION ALL
      SELECT h.address, o.currency, -CASE a.outcome WHEN 'paid' THEN o.amount ELSE v.taken END, 0, false
      FROM book.outgoing o
      JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id AND a.outcome = 'unexpected'
      JOIN hub.address h ON h.network = o.network AND h.wallet_index::text = o.wallet
      WHERE o.network = ${network} AND o.wallet <> 'hot' AND o.status = 'final' AND a.height <= ${height}
        AND (a.outcome = 'paid' OR v.taken > 0)
      UNION ALL
      SELECT w.address, w.currency, -w.unexplained, 0, false FROM book.sweep_write_off w
      WHERE w.network = ${network} AND w.height <= ${height}) moved
    GROUP BY 1, 2 ORDER BY 1, 2`,
  );
}

const owedShape = shape({
  currency: text<Currency>(),
  /** Available and reserved of all merchants, and margins that are held for them. */
  amount: amount(),
  /** Part of it that is signed and on its way. */
  inFlight: amount(),
});
/** Amount owed in one currency on one network. */
export type Owed = RowOf<typeof owedShape>;

/** Amounts owed to merchants on a network; pending money is not owed yet. */
export async function readOwed(sql: Sql, network: Network): Promise<readonly Owed[]> {
  return owedShape.all(
    await sql`
    SELECT currency, sum(amount) AS amount,
      coalesce((
        SELECT sum(o.amount) FROM book.outgoing o
        WHERE o.network = ${network} AND o.status = 'signed' AND o.currency = owed.currency
          AND o.kind IN ('payout', 'settlement')), 0) AS in_flight
    FROM (
      SELECT currency, available + reserved AS amount FROM book.balance WHERE network = ${network}
      UNION ALL
      SELECT currency, balance FROM book.system_total
      WHERE network = ${network} AND account IN ('margin_held', 'margin_due')) owed
    GROUP BY currency ORDER BY currency`,
  );
}

const walletLevel = shape({ height: bigint(), balance: amount() });
/** Balance of the hot wallet in an asset at a block. */
export type WalletLevel = RowOf<typeof walletLevel>;

/** The hot wallet's last level that was found right; null before the first comparison. */
export async function readWalletLevel(
  sql: Sql,
  network: Network,
  asset: OutgoingAsset,
): Promise<WalletLevel | null> {
  return walletLevel.first(
    await sql`
    SELECT height, balance FROM hub.wallet_level WHERE network = ${network} AND currency = ${asset}`,
  );
}

/** Stores a level, unless a later one is stored already. */
export async function storeWalletLevel(
  sql: Sql,
  network: Network,
  asset: OutgoingAsset,
  { height, balance }: { readonly height: number; readonly balance: Amount },
): Promise<void> {
  await sql`
    INSERT INTO hub.wallet_level AS l (network, currency, height, balance)
    VALUES (${network}, ${asset}, ${height}, ${formatAmount(balance)}::text::numeric)
    ON CONFLICT (network, currency) DO UPDATE SET height = excluded.height, balance = excluded.balance
    WHERE l.height <= excluded.height`;
}

const walletMoves = shape({
  /** The last of these blocks. */
  height: bigint(),
  /** Brought by our transfers. */
  came: amount(),
  /** Taken by our transfers. What is delegated is none of it: it was never held as coin. */
  went: amount(),
  /** Charged by the chain for transactions of this wallet, failed ones too; of the coin alone. */
  fees: amount(),
});
/** Changes of one asset of the hot wallet by our own transactions, in one block or in several. */
export type WalletMoves = RowOf<typeof walletMoves>;

/** The solid blocks whose moves are asked for; all of them were read by the scan. */
export interface MovesRange {
  /** The moves after this block. */
  readonly after: number;
  /** The moves up to this block are one sum. */
  readonly low: number;
  /** Those from there up to this one are returned block by block. */
  readonly high: number;
}

/**
 * Changes of the hot wallet by our own transactions. Outcome and fee of a transaction are recorded
 * before the solid cursor passes its block, or listed as late (`untilPassed` waits for those), so
 * nothing is missing up to a block that it has passed.
 *
 * @param hotWallet its address
 * @returns by height, the lowest first; blocks without any are left out
 */
export async function readWalletMoves(
  sql: Sql,
  network: Network,
  asset: OutgoingAsset,
  hotWallet: string,
  { after, low, high }: MovesRange,
): Promise<readonly WalletMoves[]> {
  return walletMoves.all(
    await sql`
    WITH spend AS (
      SELECT s.* FROM hub.unknown_spend s
      WHERE s.network = ${network} AND s.height > ${after} AND s.height <= ${high}
    ), paid AS (
      SELECT * FROM spend WHERE wallet = 'hot' AND status IN ('matched', 'booked', 'written_off', 'cold')
    )
    SELECT height, sum(came) AS came, sum(went) AS went, sum(fees) AS fees
    FROM (
    SELECT greatest(a.height, ${low}) AS height,
      coalesce(sum(coalesce(v.arrived, o.amount)) FILTER (WHERE m.is_moved AND o.wallet <> 'hot'), 0) AS came,
      coalesce(sum(o.amount) FILTER (WHERE m.is_moved AND o.wallet = 'hot'), 0) AS went,
      coalesce(sum(a.fee) FILTER (WHERE m.is_charged), 0) AS fees
    FROM book.attempt a
    JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id AND a.outcome = 'unexpected'
    CROSS JOIN LATERAL (SELECT
      (a.outcome = 'paid' OR v.arrived > 0) AND o.currency = ${asset} AND o.kind NOT IN ('delegation', 'reclaim')
        AND (o.wallet = 'hot') <> (o.destination = ${hotWallet}) AS is_moved,
      ${asset} = 'native' AND 'hot' IN (o.wallet, o.fee_payer) AS is_charged) m
    WHERE a.network = ${network} AND a.height > ${after} AND a.height <= ${high}
      AND (m.is_moved OR m.is_charged)
    GROUP BY 1
    UNION ALL
    -- what an administrator has decided on, or went to the cold wallet, explains the wallet as our own
    -- transfers do; what is open does not
    SELECT greatest(height, ${low}), 0, amount, 0 FROM paid WHERE currency = ${asset}
    UNION ALL
    SELECT greatest(height, ${low}), amount, 0, 0 FROM spend
    WHERE wallet <> 'hot' AND currency = ${asset} AND status = 'listed' AND recipient = ${hotWallet}
    UNION ALL
    -- the wallet paid for the transaction, however many transfers of it there are
    SELECT DISTINCT ON (txid, height, fee) greatest(height, ${low}), 0, 0, fee FROM paid WHERE ${asset} = 'native') moves
    GROUP BY 1 ORDER BY 1`,
  );
}
