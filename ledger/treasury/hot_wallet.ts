import type { Sql } from "postgres";
import { type Amount, amountOf, formatAmount } from "../money/amount.ts";
import type { Currency, Network, OutgoingAsset } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";

/** Reservations of a hot wallet in one currency. */
export interface Commitment {
  readonly queued: Amount;
  /** Signed and not final; of the chain's coin also the most that transactions may take as fees. */
  readonly signed: Amount;
}

/** Reservations of a hot wallet at one moment. */
export interface Commitments {
  readonly assets: ReadonlyMap<OutgoingAsset, Commitment>;
  /** The highest block by which one of our transactions has ended and left the sums; null: none has. */
  readonly endedHeight: number | null;
}

/**
 * Sums of what waits for a signature and of what is signed and not final, per asset. What is delegated
 * stays the wallet's own and is not among them, but the fees of delegating it are; sweeps pay theirs
 * from their own addresses, but for those that the hot wallet sends. In one statement: what ends in between would be in none of two.
 */
export async function readCommitments(sql: Sql, network: Network): Promise<Commitments> {
  const rows = await sql<
    { asset: OutgoingAsset | null; queued: string; signed: string; ended: string | null }[]
  >`
    WITH reserved AS (
      -- one part per state: each has an index of its own, and what has ended is never read
      SELECT currency, sum(amount) AS queued, 0 AS signed FROM book.outgoing
      WHERE network = ${network} AND wallet = 'hot' AND status = 'queued'
        AND kind NOT IN ('delegation', 'reclaim') GROUP BY currency
      UNION ALL
      SELECT currency, 0, sum(amount) FROM book.outgoing
      WHERE network = ${network} AND wallet = 'hot' AND status = 'signed'
        AND kind NOT IN ('delegation', 'reclaim') GROUP BY currency
      UNION ALL
      SELECT 'native', 0, sum(fee_limit) FROM book.attempt WHERE network = ${network} AND outcome IS NULL AND nonce IS NULL
      UNION ALL
      -- of the transactions with one nonce only one is ever in a block
      SELECT 'native', 0, sum(most) FROM (
        SELECT max(fee_limit) AS most FROM book.attempt
        WHERE network = ${network} AND outcome IS NULL AND nonce IS NOT NULL GROUP BY nonce, outgoing_id) numbered
    )
    SELECT currency AS asset, trim_scale(coalesce(sum(queued), 0))::text AS queued,
      trim_scale(coalesce(sum(signed), 0))::text AS signed, NULL AS ended
    FROM reserved GROUP BY currency HAVING sum(queued) > 0 OR sum(signed) > 0
    UNION ALL
    SELECT NULL, '0', '0', max(height)::text FROM book.attempt WHERE network = ${network} AND height IS NOT NULL`;
  const assets = new Map<OutgoingAsset, Commitment>();
  let endedHeight: number | null = null;
  for (const { asset, queued, signed, ended } of rows) {
    if (asset !== null) assets.set(asset, { queued: amountOf(queued), signed: amountOf(signed) });
    if (ended !== null) endedHeight = Number(ended);
  }
  return { assets, endedHeight };
}

/** A transfer of the hot wallet's surplus. */
export interface ColdTransfer {
  readonly outgoingId: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: Amount;
  /** The cold wallet's address. */
  readonly destination: string;
}

/**
 * Queues a transfer to the cold wallet.
 *
 * @returns false where one of the currency is under way: there is never a second one
 */
export async function queueCold(sql: Sql, transfer: ColdTransfer): Promise<boolean> {
  const rows = await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
    VALUES (${transfer.outgoingId}, ${PLATFORM_ACCOUNT}, 'cold', ${transfer.network},
      ${transfer.currency}, ${formatAmount(transfer.amount)}::text::numeric,
      ${transfer.destination}, 'queued', now(), now())
    ON CONFLICT (network, currency) WHERE kind = 'cold' AND status IN ('queued', 'signed', 'dead')
    DO NOTHING RETURNING 1`;
  return rows.length > 0;
}

/**
 * Gives up a transfer to the cold wallet that is not signed, because payouts need the money.
 *
 * @returns the transfer that was given up; null where there is none, or it was signed meanwhile
 */
export async function giveUpCold(
  sql: Sql,
  network: Network,
  currency: Currency,
): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    UPDATE book.outgoing
    SET status = 'void', reason = 'payouts need the money', lease_until = NULL, updated_at = now()
    WHERE network = ${network} AND currency = ${currency} AND kind = 'cold' AND status = 'queued'
    RETURNING id`;
  return row?.id ?? null;
}
