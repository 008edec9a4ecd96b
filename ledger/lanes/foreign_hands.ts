/**
 * Transactions of the hot wallet that the service did not sign, each with a nonce that it took: listed, and
 * adopted by an administrator. They are kept beside transfers that left wallets unknown to the books, and stop
 * signing as those do.
 *
 * @module
 */

import type { Sql, TransactionSql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { amount, bigint, type RowOf, text, time } from "../table.ts";
import { endNonces } from "./end_nonces.ts";

const handShape = shape({
  txid: text(),
  height: bigint(),
  /** Time of its block, Unix milliseconds. */
  blockTime: time(),
  /** Charged by the chain for it, in the chain's coin. */
  fee: amount(),
});
/** A transaction in a solid block that no attempt stands for, and that a node calls one of the hot wallet. */
export type ForeignHand = RowOf<typeof handShape>;

/**
 * Stores transactions that nodes call the hot wallet's and that no attempt stands for, as unproven: that stops nothing.
 * Blocks up to the one at which the scan began say nothing about these books.
 *
 * @returns ids of those that were not known before
 */
export async function recordForeignHands(
  sql: Sql,
  network: Network,
  hotWallet: string,
  hands: readonly ForeignHand[],
): Promise<readonly string[]> {
  if (hands.length === 0) return [];
  const rows = await sql<{ txid: string }[]>`
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, fee, status)
    SELECT ${network}, f.txid, -1, f.height, f.block_time, 'hot', ${hotWallet}, ${hotWallet}, 'native', 0, f.fee, 'unproven'
    FROM ${handShape.rows(sql, "f", hands)}
    WHERE NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = f.txid AND a.network = ${network})
      AND f.height > coalesce((
        SELECT c.began_height FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid'), -1)
    ON CONFLICT DO NOTHING RETURNING txid`;
  return rows.map(({ txid }) => txid);
}

/** Transactions of one look: a node that lies about each block must not hide the one that is true. */
const MOST_UNPROVEN = 1_000;

/** Transactions of a network that a node calls the hot wallet's without proof yet, the oldest first. */
export async function readUnprovenHands(
  sql: Sql,
  network: Network,
): Promise<readonly { readonly txid: string; readonly height: number }[]> {
  const rows = await sql<{ txid: string; height: string }[]>`
    SELECT txid, height FROM hub.unknown_spend
    WHERE network = ${network} AND status = 'unproven' ORDER BY height, txid LIMIT ${MOST_UNPROVEN}`;
  return rows.map(({ txid, height }) => ({ txid, height: Number(height) }));
}

/**
 * Lists a transaction as the hot wallet's whose signature proves that: from then on nothing is signed for the network
 * until it is adopted.
 *
 * @returns false where another one was faster
 */
export async function openForeignHand(sql: Sql, network: Network, txid: string): Promise<boolean> {
  const { count } = await sql`
    UPDATE hub.unknown_spend SET status = 'open'
    WHERE network = ${network} AND txid = ${txid} AND log_index = -1 AND status = 'unproven'`;
  return count > 0;
}

/**
 * Takes a transaction off the list that is not the hot wallet's.
 *
 * @param audit of the administrator who says so; null: its signature says so
 * @returns false where it is on no list, or another one was faster
 */
export async function disownHand(
  sql: Sql,
  network: Network,
  txid: string,
  reason: string,
  audit: HubAudit | null,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const { count } = await tx`
      UPDATE hub.unknown_spend SET status = 'not_ours', decided_at = now(), reason = ${reason},
        actor = ${audit?.actor ?? null}
      WHERE network = ${network} AND txid = ${txid} AND log_index = -1 AND status IN ('open', 'unproven')`;
    if (count > 0 && audit !== null) await writeAudit(tx, audit);
    return count > 0;
  });
}

/** A transaction that is listed, or was, as the hot wallet's. */
export interface ListedHand {
  readonly height: number;
  /** False while it waits for a decision; one that was called another's may still be adopted by its proof. */
  readonly isDecided: boolean;
}

/** A transaction that a node has called the hot wallet's; null: none of that id. */
export async function findForeignHand(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<ListedHand | null> {
  const [row] = await sql<{ height: string; is_decided: boolean }[]>`
    SELECT height, status NOT IN ('open', 'unproven', 'not_ours') AS is_decided FROM hub.unknown_spend
    WHERE network = ${network} AND txid = ${txid} AND log_index = -1`;
  return row === undefined ? null : { height: Number(row.height), isDecided: row.is_decided };
}

/** True where a payer's lane has begun. */
export async function hasLane(sql: Sql, network: Network, payer: string): Promise<boolean> {
  const rows = await sql`
    (SELECT 1 FROM book.lane_nonce WHERE network = ${network} AND payer = ${payer} LIMIT 1)
    UNION ALL
    SELECT 1 FROM hub.wallet WHERE network = ${network} AND ${payer} = 'hot' AND first_nonce IS NOT NULL`;
  return rows.length > 0;
}

/** Transfers that a payer's nonce is promised to: what the service has signed for them ends by an adoption. */
export async function readPromisedTo(
  sql: Sql,
  network: Network,
  payer: string,
  nonce: number,
): Promise<readonly string[]> {
  const [row] = await sql<{ intents: string[] }[]>`
    SELECT intents FROM book.lane_nonce
    WHERE network = ${network} AND payer = ${payer} AND nonce = ${nonce} AND used_by IS NULL`;
  return row?.intents ?? [];
}

/** A transaction to be adopted, as a solid block shows it. */
export interface Adoption {
  readonly network: Network;
  /** `hot`, or the derivation index of the deposit address that has sent it. */
  readonly payer: string;
  readonly txid: string;
  readonly height: number;
  /** The block's hash. */
  readonly hash: string;
  /** The block's time, Unix milliseconds. */
  readonly blockTime: number;
  /** Charged by the chain for it, in the chain's coin. */
  readonly fee: Amount;
  readonly nonce: number;
  /** Its own, which prove sender and nonce. */
  readonly bytes: string;
  /** The reason that the administrator gives for it. */
  readonly reason: string;
}

/** Reasons why a transaction is not adopted; nothing was changed. */
export type AdoptionRefused =
  /** It has taken no nonce of the lane that is not known, or another administrator was faster. */
  | "decided"
  /** Its nonce does not follow the last one: what took those between is adopted first. */
  | "later";

/** Undoes the transaction in which a refusal was found. */
class Undone extends Error {
  constructor(readonly refused: AdoptionRefused) {
    super(`Cannot adopt a transaction: ${refused}`);
  }
}

/**
 * Adopts a transaction that the service did not sign, with its audit: its nonce is used, what the service has signed with that is
 * over, and its transfers are queued again. What it moved is decided apart.
 *
 * @returns why not, or the merchants with a new inbox row
 * @throws where another transaction holds a row of it for longer than the session's `lock_timeout`
 */
export async function adoptForeignHand(
  sql: Sql,
  adoption: Adoption,
  audit: HubAudit,
): Promise<{ readonly refused: AdoptionRefused } | { readonly notified: readonly string[] }> {
  const { network, payer, txid, nonce, height, hash, bytes } = adoption;
  try {
    return await sql.begin(async (tx) => {
      const isListed = payer === "hot"
        ? await writeOffHand(tx, adoption, audit.actor)
        : await takeOffList(tx, adoption, audit.actor);
      const end = { payer, nonce, usedBy: txid, height, hash, foreignBytes: bytes };
      const { ended, notified } = await endNonces(tx, network, [{ ...end, intents: [] }]);
      const isTaken = ended.length > 0 || await takeNonce(tx, adoption);
      // one that was on no list and has used no nonce of the service's changes nothing
      if (!isTaken && !isListed) throw new Undone("decided");
      await writeAudit(tx, audit);
      return { notified };
    });
  } catch (error) {
    if (error instanceof Undone) return { refused: error.refused };
    throw error;
  }
}

/**
 * Writes a transaction of the hot wallet off, which explains the coin that it has cost; one that was on no list is on it then.
 *
 * @returns whether it was listed
 */
async function writeOffHand(
  tx: TransactionSql,
  { network, txid, height, blockTime, fee, reason }: Adoption,
  actor: string,
): Promise<boolean> {
  const [row] = await tx<{ is_new: boolean }[]>`
    INSERT INTO hub.unknown_spend AS s (network, txid, log_index, height, block_time, wallet, sender, recipient, currency,
      amount, fee, status, decided_at, actor, reason)
    SELECT w.network, ${txid}, -1, ${height}::bigint, ${new Date(
    blockTime,
  )}::timestamptz, 'hot', w.hot_wallet, w.hot_wallet,
      'native', 0, ${formatAmount(fee)}::text::numeric, 'written_off', now(), ${actor}, ${reason}
    FROM hub.wallet w WHERE w.network = ${network}
    ON CONFLICT (network, txid, log_index) DO UPDATE
      SET status = 'written_off', decided_at = now(), actor = excluded.actor, reason = excluded.reason
      WHERE s.status IN ('open', 'unproven', 'not_ours')
    RETURNING xmax = 0 AS is_new`;
  if (row === undefined) throw new Undone("decided");
  return !row.is_new;
}

/** Takes a transaction of a deposit address off the list, where a node has called it the hot wallet's. @returns whether one has */
async function takeOffList(
  tx: TransactionSql,
  { network, txid, reason }: Adoption,
  actor: string,
): Promise<boolean> {
  const { count } = await tx`
    UPDATE hub.unknown_spend SET status = 'written_off', decided_at = now(), actor = ${actor}, reason = ${reason}
    WHERE network = ${network} AND txid = ${txid} AND log_index = -1
      AND status IN ('open', 'unproven', 'not_ours')`;
  return count > 0;
}

/**
 * Adds a nonce to the lane that nothing was promised for.
 *
 * @returns false where it is below the lane's beginning, and none of it
 */
async function takeNonce(
  tx: TransactionSql,
  { network, payer, nonce, txid, height, bytes }: Adoption,
): Promise<boolean> {
  const [lane] = await tx<{ first: string | null; next: string | null; used_by: string | null }[]>`
    SELECT f.first, coalesce(
        (SELECT max(n.nonce) + 1 FROM book.lane_nonce n WHERE n.network = w.network AND n.payer = ${payer}), f.first) AS next,
      (SELECT n.used_by FROM book.lane_nonce n
       WHERE n.network = w.network AND n.payer = ${payer} AND n.nonce = ${nonce}) AS used_by
    FROM hub.wallet w CROSS JOIN LATERAL (SELECT CASE ${payer} WHEN 'hot' THEN w.first_nonce ELSE (
      SELECT min(n.nonce) FROM book.lane_nonce n WHERE n.network = w.network AND n.payer = ${payer}) END AS first) f
    WHERE w.network = ${network}`;
  if (lane === undefined || lane.first === null || nonce < Number(lane.first)) return false;
  if (lane.used_by === txid) throw new Undone("decided");
  if (lane.used_by !== null) {
    throw new Error(
      `Cannot adopt a transaction as another one has its nonce: ${nonce}, ${lane.used_by}`,
    );
  }
  if (nonce !== Number(lane.next)) throw new Undone("later");
  await tx`
    INSERT INTO book.lane_nonce (network, payer, nonce, intents, used_by, height, foreign_hand, foreign_bytes)
    VALUES (${network}, ${payer}, ${nonce}, '{}', ${txid}, ${height}, true, ${bytes})`;
  return true;
}
