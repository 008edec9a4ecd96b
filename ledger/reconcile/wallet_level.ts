import { type Amount, amountOf, formatAmount } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";

/** What the hot wallet held at a block. */
export interface WalletLevel {
  readonly height: number;
  readonly balance: Amount;
}

/** The hot wallet's last level that was found right; null before the first comparison. */
export async function readWalletLevel(
  sql: Sql,
  network: Network,
  currency: Currency,
): Promise<WalletLevel | null> {
  const [row] = await sql<{ height: string; balance: string }[]>`
    SELECT height, trim_scale(balance)::text AS balance FROM hub.wallet_level
    WHERE network = ${network} AND currency = ${currency}`;
  return row === undefined ? null : { height: Number(row.height), balance: amountOf(row.balance) };
}

/** Keeps a level, unless a later one is kept already. */
export async function keepWalletLevel(
  sql: Sql,
  network: Network,
  currency: Currency,
  { height, balance }: WalletLevel,
): Promise<void> {
  await sql`
    INSERT INTO hub.wallet_level AS l (network, currency, height, balance)
    VALUES (${network}, ${currency}, ${height}, ${formatAmount(balance)}::text::numeric)
    ON CONFLICT (network, currency) DO UPDATE SET height = excluded.height, balance = excluded.balance
    WHERE l.height <= excluded.height`;
}

/** What our own transfers brought to and took from the hot wallet in a stretch of solid blocks. */
export interface WalletMoves {
  readonly came: Amount;
  readonly went: Amount;
}

/**
 * Sums up our transfers to and from the hot wallet that were in the blocks after `from` up to `to`.
 *
 * @param hotWallet its address
 * @param to height of a solid block that the scan has passed
 */
export async function readWalletMoves(
  sql: Sql,
  network: Network,
  currency: Currency,
  hotWallet: string,
  from: number,
  to: number,
): Promise<WalletMoves> {
  const [row] = await sql<{ came: string; went: string }[]>`
    SELECT trim_scale(coalesce(sum(o.amount) FILTER (WHERE o.wallet <> 'hot'), 0))::text AS came,
      trim_scale(coalesce(sum(o.amount) FILTER (WHERE o.wallet = 'hot'), 0))::text AS went
    FROM book.attempt a
    JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    WHERE a.network = ${network} AND a.outcome = 'paid' AND a.height > ${from} AND a.height <= ${to}
      AND o.currency = ${currency} AND (o.wallet = 'hot') <> (o.destination = ${hotWallet})`;
  return { came: amountOf(row?.came ?? "0"), went: amountOf(row?.went ?? "0") };
}
