import type { Sql } from "postgres";
import { type Amount, amountOf, formatAmount, LARGEST_BALANCE_BY_HAND } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { LONGEST_PAUSE_MS } from "../watcher/unread_blocks.ts";

/** A final transfer out of an own wallet whose transaction our scan did not know when it met it. */
export interface UnknownSpend {
  readonly txid: string;
  readonly logIndex: number;
  readonly height: number;
  /** Time of its block, Unix milliseconds. */
  readonly time: number;
  /** `hot`, or the derivation index of the deposit address that was left. */
  readonly wallet: string;
  readonly from: string;
  readonly to: string;
  readonly currency: Currency;
  readonly amount: Amount;
  /** What the chain took for its transaction, in the chain's coin; zero: not known. */
  readonly fee: Amount;
  /** It went to the hot wallet, so that nothing is lost: it is listed and stops nothing. */
  readonly isHarmless: boolean;
}

/** The state a spend is kept in: it stops signing, it went to the hot wallet, or from there to the cold one. */
export type SpendStatus = "open" | "listed" | "cold";

/**
 * Keeps transfers that left our wallets and that no decided attempt stands for. While one is open,
 * nothing is signed for the network. One whose attempt was committed while its block was read is
 * kept as well: the scan has not ended that attempt, so the block has to be read again. So is one
 * whose attempt was declared dead, as its payout may have been queued again. Blocks up to the one at
 * which the scan began say nothing about our books, whether they are read again or not. An amount that
 * no column can hold, which only a contract or a node gone mad names, is kept as the largest one.
 *
 * A transfer from the hot wallet to the cold one stays in the house and stops nothing, whichever key
 * holder signed it. It may still stand for something that is paid twice, and is open then: where its own
 * attempt was declared dead, so that a proof was wrong, and where a payout to that address waits. A cold
 * transfer that is queued gives way to it: its surplus may be what has left, and is planned anew if not.
 *
 * @returns those that were not known before
 */
export async function recordUnknownSpends(
  sql: Sql,
  network: Network,
  spends: readonly UnknownSpend[],
): Promise<readonly (UnknownSpend & { readonly status: SpendStatus })[]> {
  if (spends.length === 0) return [];
  const rows = await sql<{ txid: string; log_index: number; status: SpendStatus }[]>`
    WITH kept AS (
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount,
        fee, status)
    SELECT ${network}, f.txid, f.log_index, f.height, f.block_time, f.wallet, f.sender, f.recipient, f.currency, f.amount, f.fee,
      CASE
        WHEN f.status = 'open' AND f.wallet = 'hot'
          AND f.recipient = (SELECT w.cold_wallet FROM hub.wallet w WHERE w.network = ${network})
          AND NOT EXISTS (
            SELECT FROM book.attempt a WHERE a.txid = f.txid AND a.network = ${network} AND a.outcome = 'expired')
          AND NOT EXISTS (
            SELECT FROM book.outgoing o WHERE o.network = ${network} AND (o.status = 'queued' OR o.status = 'signed')
              AND o.kind <> 'cold' AND o.destination = f.recipient)
          THEN 'cold'
        ELSE f.status
      END
    FROM unnest(
      ${spends.map(({ txid }) => txid)}::text[], ${spends.map(({ logIndex }) => logIndex)}::int[],
      ${spends.map(({ height }) => height)}::bigint[],
      ${spends.map(({ time }) => new Date(time).toISOString())}::timestamptz[],
      ${spends.map(({ wallet }) => wallet)}::text[], ${spends.map(({ from }) => from)}::text[],
      ${spends.map(({ to }) => to)}::text[], ${spends.map(({ currency }) => currency)}::text[],
      ${spends.map(({ amount }) => formatAmount(kept(amount)))}::numeric[],
      ${spends.map(({ fee }) => formatAmount(kept(fee)))}::numeric[],
      ${spends.map(({ isHarmless }) => isHarmless ? "listed" : "open")}::text[])
      AS f(txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, fee, status)
    WHERE NOT EXISTS (
        SELECT FROM book.attempt a WHERE a.txid = f.txid AND a.network = ${network}
          AND a.outcome <> 'expired')
      AND f.height > coalesce((
        SELECT c.began_height FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid'), -1)
    ON CONFLICT DO NOTHING RETURNING txid, log_index, status, currency
    ), given_up AS (
      UPDATE book.outgoing o
      SET status = 'void', reason = 'a transfer to the cold wallet has left already', lease_until = NULL, updated_at = now()
      WHERE o.network = ${network} AND o.kind = 'cold' AND o.status = 'queued'
        AND o.currency IN (SELECT k.currency FROM kept k WHERE k.status = 'cold')
    )
    SELECT txid, log_index, status FROM kept`;
  const fresh = new Map(rows.map((row) => [`${row.txid}/${row.log_index}`, row.status]));
  return spends.flatMap((spend) => {
    const status = fresh.get(`${spend.txid}/${spend.logIndex}`);
    return status === undefined ? [] : [{ ...spend, status }];
  });
}

function kept(amount: Amount): Amount {
  return amount < LARGEST_BALANCE_BY_HAND ? amount : LARGEST_BALANCE_BY_HAND;
}

/**
 * Transfers on the list that a living attempt stands for by now: their blocks have to be read again,
 * so that the attempt ends by them. One that was declared dead ends by an operator's verdict. Those in
 * blocks that could not be read are left alone for their pause, and come last after it.
 *
 * @returns transaction ids with their heights, lowest first
 */
export async function readSpendsOfAttempts(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly { readonly txid: string; readonly height: number }[]> {
  const rows = await sql<{ txid: string; height: string }[]>`
    SELECT s.txid, s.height FROM hub.unknown_spend s
    JOIN book.attempt a ON a.txid = s.txid AND a.network = s.network
    LEFT JOIN hub.unread_block u ON u.network = s.network AND u.view = 'again' AND u.height = s.height
    WHERE s.network = ${network} AND s.status IN ('open', 'listed', 'cold')
      AND a.outcome IS DISTINCT FROM 'expired'
      AND (u.height IS NULL OR u.next_try_at <= now()
        OR u.next_try_at > now() + make_interval(secs => ${LONGEST_PAUSE_MS}::float8 / 1000))
    GROUP BY s.txid, s.height, u.next_try_at
    ORDER BY u.next_try_at NULLS FIRST, s.height LIMIT ${limit}`;
  return rows.map(({ txid, height }) => ({ txid, height: Number(height) }));
}

/** Takes transfers off the list whose attempt has ended by the block that they are in. */
export async function settleKnownSpends(sql: Sql, network: Network): Promise<readonly string[]> {
  const rows = await sql<{ txid: string }[]>`
    UPDATE hub.unknown_spend s SET status = 'known', decided_at = now()
    FROM book.attempt a
    WHERE s.network = ${network} AND s.status IN ('open', 'listed', 'cold')
      AND a.txid = s.txid AND a.network = s.network AND a.outcome <> 'expired'
    RETURNING s.txid`;
  return rows.map(({ txid }) => txid);
}

/** Transfers that stop signing, of one network, oldest first. */
export async function readOpenSpends(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly UnknownSpend[]> {
  const rows = await sql<
    (Omit<UnknownSpend, "amount" | "fee" | "height" | "time" | "isHarmless"> & {
      readonly amount: string;
      readonly fee: string;
      readonly height: string;
      readonly time: Date;
    })[]
  >`
    SELECT txid, log_index AS "logIndex", height, block_time AS time, wallet, sender AS "from",
      recipient AS "to", currency, trim_scale(amount)::text AS amount, trim_scale(fee)::text AS fee
    FROM hub.unknown_spend WHERE network = ${network} AND status = 'open'
    ORDER BY height, txid, log_index LIMIT ${limit}`;
  return rows.map(({ amount, fee, height, time, ...row }) => ({
    ...row,
    amount: amountOf(amount),
    fee: amountOf(fee),
    height: Number(height),
    time: time.getTime(),
    isHarmless: false,
  }));
}
