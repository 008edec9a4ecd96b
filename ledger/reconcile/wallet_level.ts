import { type Amount, amountOf, formatAmount } from "../money/amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Network, OutgoingAsset } from "../money/pair.ts";

/** Balance of the hot wallet in an asset at a block. */
export interface WalletLevel {
  readonly height: number;
  readonly balance: Amount;
}

/** The hot wallet's last level that was found right; null before the first comparison. */
export async function readWalletLevel(
  sql: Sql,
  network: Network,
  asset: OutgoingAsset,
): Promise<WalletLevel | null> {
  const [row] = await sql<{ height: string; balance: string }[]>`
    SELECT height, trim_scale(balance)::text AS balance FROM hub.wallet_level
    WHERE network = ${network} AND currency = ${asset}`;
  return row === undefined ? null : { height: Number(row.height), balance: amountOf(row.balance) };
}

/** Keeps a level, unless a later one is kept already. */
export async function keepWalletLevel(
  sql: Sql,
  network: Network,
  asset: OutgoingAsset,
  { height, balance }: WalletLevel,
): Promise<void> {
  await sql`
    INSERT INTO hub.wallet_level AS l (network, currency, height, balance)
    VALUES (${network}, ${asset}, ${height}, ${formatAmount(balance)}::text::numeric)
    ON CONFLICT (network, currency) DO UPDATE SET height = excluded.height, balance = excluded.balance
    WHERE l.height <= excluded.height`;
}

/** What our own transactions did to one asset of the hot wallet, in one block or in several. */
export interface WalletMoves {
  /** The last of these blocks. */
  readonly height: number;
  /** Brought by our transfers. */
  readonly came: Amount;
  /** Taken by our transfers. Stake that is lent or taken back is none of it: it was never held as coin. */
  readonly went: Amount;
  /** What the chain took for transactions of this wallet, failed ones too; of the coin alone. */
  readonly fees: Amount;
}

/** The stretch of solid blocks whose moves are asked for; all of it was read by the scan. */
export interface MovesRange {
  /** The moves after this block. */
  readonly after: number;
  /** The moves up to this block are one sum. */
  readonly low: number;
  /** Those from there up to this one are told block by block. */
  readonly high: number;
}

/**
 * What our own transactions did to the hot wallet. Outcome and fee of a transaction are recorded
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
  const rows = await sql<{ height: string; came: string; went: string; fees: string }[]>`
    SELECT height, trim_scale(sum(came))::text AS came, trim_scale(sum(went))::text AS went,
      trim_scale(sum(fees))::text AS fees
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
      ${asset} = 'native' AND o.wallet = 'hot' AS is_charged) m
    WHERE a.network = ${network} AND a.height > ${after} AND a.height <= ${high}
      AND (m.is_moved OR m.is_charged)
    GROUP BY 1
    UNION ALL
    -- what an operator has decided on, or went to the cold wallet, explains the wallet as our own transfers do;
    -- what is open does not
    SELECT greatest(s.height, ${low}), coalesce(sum(s.amount) FILTER (WHERE s.wallet <> 'hot'), 0),
      coalesce(sum(s.amount) FILTER (WHERE s.wallet = 'hot'), 0), 0
    FROM hub.unknown_spend s
    WHERE s.network = ${network} AND s.currency = ${asset} AND s.height > ${after} AND s.height <= ${high}
      AND CASE WHEN s.wallet = 'hot' THEN s.status IN ('matched', 'booked', 'written_off', 'cold')
        ELSE s.status = 'listed' AND s.recipient = ${hotWallet} END
    GROUP BY 1
    UNION ALL
    -- the wallet paid for the transaction, however many transfers of it there are
    SELECT greatest(f.height, ${low}), 0, 0, sum(f.fee)
    FROM (
      SELECT DISTINCT s.txid, s.height, s.fee FROM hub.unknown_spend s
      WHERE s.network = ${network} AND ${asset} = 'native' AND s.wallet = 'hot' AND s.height > ${after} AND s.height <= ${high}
        AND s.status IN ('matched', 'booked', 'written_off', 'cold')) f
    GROUP BY 1) moves
    GROUP BY 1 ORDER BY 1`;
  return rows.map((row) => ({
    height: Number(row.height),
    came: amountOf(row.came),
    went: amountOf(row.went),
    fees: amountOf(row.fees),
  }));
}
