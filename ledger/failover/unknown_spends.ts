/**
 * Final transfers out of own wallets that the books do not know: recorded by the scan, listed, and read
 * again once an attempt of this history stands for them.
 *
 * @module
 */

import type { Fragment, Sql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { type Amount, LARGEST_BALANCE_BY_HAND } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { amount, bigint, integer, orNull, type RowOf, text, time } from "../table.ts";
import { isBelied, movedNothing } from "./belied_ends.ts";
import { LONGEST_PAUSE_MS } from "../watcher/unreadable_blocks.ts";

const spendShape = shape({
  network: text<Network>(),
  txid: text(),
  logIndex: integer(),
  height: bigint(),
  /** Time of its block, Unix milliseconds. */
  time: time(),
  /** `hot`, or the derivation index of the deposit address that was left. */
  wallet: text(),
  from: text(),
  to: text(),
  currency: text<Currency>(),
  amount: amount(),
  /** Charged by the chain for its transaction, in the chain's coin; zero: not known. */
  fee: amount(),
  /**
   * It stops signing (`open`), went to the hot wallet (`listed`), or from there to the cold one (`cold`). `unproven`: a
   * node calls its transaction the hot wallet's, and no signature shows that yet.
   */
  status: text<"open" | "listed" | "cold" | "unproven">(),
});
/** A final transfer out of an own wallet whose transaction the scan did not know when it met it. */
export type UnknownSpend = RowOf<typeof spendShape>;

/** Such a transfer as the scan finds it. */
export interface FoundSpend extends Omit<UnknownSpend, "network" | "status"> {
  /** It went to the hot wallet, so that nothing is lost: it is listed and stops nothing. */
  readonly isHarmless: boolean;
}

/** Columns of `hub.unknown_spend s`, as {@linkcode UnknownSpend} has them. */
function columns(sql: AnySql): Fragment {
  return sql`s.network, s.txid, s.log_index, s.height, s.block_time AS time, s.wallet, s.sender AS "from",
    s.recipient AS "to", s.currency, s.amount, s.fee, s.status`;
}

const foundShape = shape({
  txid: text(),
  logIndex: integer(),
  height: bigint(),
  blockTime: time(),
  wallet: text(),
  sender: text(),
  recipient: text(),
  currency: text<Currency>(),
  amount: amount(),
  fee: amount(),
  status: text(),
});

/**
 * Stores transfers that left own wallets and that no decided attempt stands for. While one is open,
 * nothing is signed for the network. One whose attempt was committed while its block was read is
 * stored as well: the scan has not ended that attempt, so the block has to be read again. So is one
 * whose attempt has ended without moving anything, as its payout may have been queued again or given back. Blocks up to the one at
 * which the scan began say nothing about these books, whether they are read again or not. An amount that
 * no column can hold, which only a contract or a node gone mad names, is stored as the largest one.
 *
 * A transfer from the hot wallet to the cold one stays with the service and stops nothing, whichever key
 * holder signed it. It may still stand for something that is paid twice, and is open then: where its own
 * attempt has ended without it, so that a proof or a node was wrong, and where a payout to that address waits. A cold
 * transfer that is queued gives way to it: its surplus may be what has left, and is planned anew if not.
 *
 * @returns those that were not known before
 */
export async function recordUnknownSpends(
  sql: Sql,
  network: Network,
  spends: readonly FoundSpend[],
): Promise<readonly UnknownSpend[]> {
  if (spends.length === 0) return [];
  const found = spends.map(({ time, from, to, isHarmless, ...spend }) => ({
    ...spend,
    amount: storable(spend.amount),
    fee: storable(spend.fee),
    blockTime: time,
    sender: from,
    recipient: to,
    status: isHarmless ? "listed" : "open",
  }));
  const rows = await sql<Pick<UnknownSpend, "txid" | "logIndex" | "status">[]>`
    WITH stored AS (
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, fee, status)
    SELECT ${network}, f.txid, f.log_index, f.height, f.block_time, f.wallet, f.sender, f.recipient, f.currency,
      f.amount, f.fee, CASE
        WHEN f.status = 'open' AND f.wallet = 'hot'
          AND f.recipient = (SELECT w.cold_wallet FROM hub.wallet w WHERE w.network = ${network})
          AND NOT EXISTS (
            SELECT FROM book.attempt a WHERE a.txid = f.txid AND a.network = ${network}
              AND ${movedNothing(sql)})
          AND NOT EXISTS (
            SELECT FROM book.outgoing o WHERE o.network = ${network} AND (o.status = 'queued' OR o.status = 'signed')
              AND o.kind <> 'cold' AND o.destination = f.recipient)
          THEN 'cold'
        ELSE f.status
      END
    FROM ${foundShape.rows(sql, "f", found)}
    WHERE (NOT EXISTS (
        SELECT FROM book.attempt a WHERE a.txid = f.txid AND a.network = ${network}
          AND NOT ${movedNothing(sql)})
        -- of several transfers one has ended without it all the same
        OR EXISTS (SELECT FROM book.attempt a WHERE a.txid = f.txid AND a.network = ${network}
          AND ${movedNothing(sql)}))
      AND f.height > coalesce((
        SELECT c.began_height FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid'), -1)
    ON CONFLICT DO NOTHING RETURNING txid, log_index, status, currency
    ), given_up AS (
      UPDATE book.outgoing o
      SET status = 'void', reason = 'a transfer to the cold wallet has left already', lease_until = NULL, updated_at = now()
      WHERE o.network = ${network} AND o.kind = 'cold' AND o.status = 'queued'
        AND o.currency IN (SELECT s.currency FROM stored s WHERE s.status = 'cold')
    )
    SELECT txid, log_index AS "logIndex", status FROM stored`;
  const fresh = new Map(rows.map((row) => [`${row.txid}/${row.logIndex}`, row.status]));
  return spends.flatMap(({ isHarmless: _, ...spend }) => {
    const status = fresh.get(`${spend.txid}/${spend.logIndex}`);
    return status === undefined ? [] : [{ network, ...spend, status }];
  });
}

function storable(amount: Amount): Amount {
  return amount < LARGEST_BALANCE_BY_HAND ? amount : LARGEST_BALANCE_BY_HAND;
}

/**
 * Transfers on the list that a living attempt stands for by now: their blocks have to be read again,
 * so that the attempt ends by them. One whose attempt has ended without it ends by an administrator's verdict. Those in
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
    LEFT JOIN hub.unreadable_block u ON u.network = s.network AND u.view = 'again' AND u.height = s.height
    WHERE s.network = ${network} AND s.status IN ('open', 'listed', 'cold', 'unproven', 'not_ours')
      AND NOT ${isBelied(sql)}
      AND (u.height IS NULL OR u.next_try_at <= now()
        OR u.next_try_at > now() + make_interval(secs => ${LONGEST_PAUSE_MS}::float8 / 1000))
    GROUP BY s.txid, s.height, u.next_try_at
    ORDER BY u.next_try_at NULLS FIRST, s.height LIMIT ${limit}`;
  return rows.map(({ txid, height }) => ({ txid, height: Number(height) }));
}

/**
 * Takes transfers off the list whose attempt has ended by the block that they are in. What an administrator has said of one
 * before is in the audit: it is decided by its attempt now, and by no person.
 */
export async function closeKnownSpends(sql: Sql, network: Network): Promise<readonly string[]> {
  const rows = await sql<{ txid: string }[]>`
    UPDATE hub.unknown_spend s SET status = 'known', decided_at = now(), actor = NULL
    FROM book.attempt a
    WHERE s.network = ${network} AND s.status IN ('open', 'listed', 'cold', 'unproven', 'not_ours')
      AND a.txid = s.txid AND a.network = s.network AND a.outcome IS NOT NULL AND NOT ${
    isBelied(sql)
  }
    RETURNING s.txid`;
  return rows.map(({ txid }) => txid);
}

/** Rows of a list that are shown. */
const MOST = 1_000;

/**
 * Transfers that the books do not know, with what they may have paid: those that wait for a verdict
 * first, then unknown sweeps and transfers to the cold wallet; each oldest first.
 */
export async function listUndecided(
  sql: Sql,
): Promise<readonly (UnknownSpend & { readonly candidates: readonly Candidate[] })[]> {
  const spends = spendShape.all(
    await sql`
    SELECT ${
      columns(sql)
    } FROM hub.unknown_spend s WHERE s.status IN ('open', 'listed', 'cold', 'unproven')
    ORDER BY s.status <> 'open', s.network, s.height, s.txid, s.log_index LIMIT ${MOST}`,
  );
  const candidates = await listCandidates(sql);
  return spends.map((spend) => ({ ...spend, candidates: candidates.get(spendKey(spend)) ?? [] }));
}

/** The transfers of a transaction that wait for an administrator's verdict. */
export async function findUndecided(sql: Sql, txid: string): Promise<readonly UnknownSpend[]> {
  return spendShape.all(
    await sql`
    SELECT ${columns(sql)} FROM hub.unknown_spend s
    WHERE s.txid = ${txid} AND s.status = 'open'
      -- what took a nonce is adopted, whatever its transfers are
      AND s.log_index >= 0
      AND NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = s.txid AND a.network = s.network
        AND NOT ${isBelied(sql)})
    ORDER BY s.network, s.log_index`,
  );
}

const candidateShape = shape({
  withdrawalId: text(),
  merchantId: text(),
  referenceId: orNull(text()),
  /**
   * `queued`: it can be matched; `signed`: bytes of it may still come to a block, and when they have
   * expired it is queued; `approval`: an administrator has to let it go first.
   */
  state: text<"queued" | "signed" | "approval">(),
  /** Block time until which signed bytes may come to a block, Unix milliseconds; null: they never expire, or none are known. */
  expiresAt: orNull(time()),
});
/** A withdrawal that is not paid yet, and that an unknown transfer may have paid. */
export type Candidate = RowOf<typeof candidateShape>;

/** The most that are named beside one transfer. */
const MOST_CANDIDATES = 5;

/** The withdrawals that would be paid beside the unknown transfers of a transaction, oldest first. */
export async function findCandidates(
  sql: AnySql,
  { network, txid }: Pick<UnknownSpend, "network" | "txid">,
): Promise<readonly Candidate[]> {
  return candidateShape.all(
    await sql`
    SELECT DISTINCT withdrawal_id, merchant_id, reference_id, state, expires_at
    FROM hub.spend_candidate WHERE network = ${network} AND txid = ${txid}
    ORDER BY withdrawal_id LIMIT ${MOST_CANDIDATES}`,
  );
}

const keyShape = shape({ network: text(), txid: text(), logIndex: integer() });

function spendKey({ network, txid, logIndex }: RowOf<typeof keyShape>): string {
  return `${network}/${txid}/${logIndex}`;
}

/** The candidates of all undecided transfers, oldest first. */
async function listCandidates(sql: AnySql): Promise<ReadonlyMap<string, readonly Candidate[]>> {
  const listed = new Map<string, Candidate[]>();
  const rows = await sql`
    SELECT * FROM (
      SELECT c.*, row_number() OVER (PARTITION BY network, txid, log_index ORDER BY withdrawal_id) AS place
      FROM hub.spend_candidate c) ranked
    WHERE place <= ${MOST_CANDIDATES} ORDER BY place`;
  for (const row of rows) {
    const key = spendKey(keyShape.decode(row));
    listed.set(key, [...listed.get(key) ?? [], candidateShape.decode(row)]);
  }
  return listed;
}
