/**
 * Transactions of the hot wallet that the service did not sign, each with a nonce that it took: listed, and
 * adopted by an administrator. They are kept beside transfers that left wallets unknown to the books, and stop
 * signing as those do.
 *
 * @module
 */

import type { Sql, TransactionSql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
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
/** A transaction of the hot wallet in a solid block that no attempt stands for. */
export type ForeignHand = RowOf<typeof handShape>;

/**
 * Stores transactions of the hot wallet that no attempt stands for; while one is open nothing is signed for the
 * network. Blocks up to the one at which the scan began say nothing about these books.
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
    SELECT ${network}, f.txid, -1, f.height, f.block_time, 'hot', ${hotWallet}, ${hotWallet}, 'native', 0, f.fee, 'open'
    FROM ${handShape.rows(sql, "f", hands)}
    WHERE NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = f.txid AND a.network = ${network})
      AND f.height > coalesce((
        SELECT c.began_height FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid'), -1)
    ON CONFLICT DO NOTHING RETURNING txid`;
  return rows.map(({ txid }) => txid);
}

/** The height of a transaction that waits to be adopted; null: none of that id does. */
export async function findForeignHand(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<number | null> {
  const [row] = await sql<{ height: string }[]>`
    SELECT height FROM hub.unknown_spend
    WHERE network = ${network} AND txid = ${txid} AND log_index = -1 AND status = 'open'`;
  return row === undefined ? null : Number(row.height);
}

/** A transaction to be adopted, as a solid block shows it. */
export interface Adoption {
  readonly network: Network;
  readonly txid: string;
  readonly height: number;
  /** The block's hash. */
  readonly hash: string;
  readonly nonce: number;
  /** The reason that the administrator gives for it. */
  readonly reason: string;
}

/** Reasons why a transaction is not adopted; nothing was changed. */
export type AdoptionRefused =
  /** It is on no list, or another administrator was faster. */
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
  const { network, txid, nonce, height, hash, reason } = adoption;
  try {
    return await sql.begin(async (tx) => {
      const { count } = await tx`
        UPDATE hub.unknown_spend SET status = 'written_off', decided_at = now(), actor = ${audit.actor}, reason = ${reason}
        WHERE network = ${network} AND txid = ${txid} AND log_index = -1 AND status = 'open'`;
      if (count === 0) throw new Undone("decided");
      const end = { payer: "hot", nonce, usedBy: txid, height, hash, foreignHand: true };
      const { ended, notified } = await endNonces(tx, network, [{ ...end, intents: [] }]);
      if (ended.length === 0) await takeNonce(tx, adoption);
      await writeAudit(tx, audit);
      return { notified };
    });
  } catch (error) {
    if (error instanceof Undone) return { refused: error.refused };
    throw error;
  }
}

/** Adds a nonce to the lane that nothing was promised for; one below its beginning is none of it. */
async function takeNonce(
  tx: TransactionSql,
  { network, nonce, txid, height }: Adoption,
): Promise<void> {
  const [lane] = await tx<{ first: string | null; next: string | null; used_by: string | null }[]>`
    SELECT w.first_nonce AS first, coalesce(
        (SELECT max(n.nonce) + 1 FROM book.lane_nonce n WHERE n.network = w.network AND n.payer = 'hot'), w.first_nonce) AS next,
      (SELECT n.used_by FROM book.lane_nonce n
       WHERE n.network = w.network AND n.payer = 'hot' AND n.nonce = ${nonce}) AS used_by
    FROM hub.wallet w WHERE w.network = ${network}`;
  if (lane === undefined || lane.first === null || nonce < Number(lane.first)) return;
  if (lane.used_by !== null) {
    throw new Error(
      `Cannot adopt a transaction as another one has its nonce: ${nonce}, ${lane.used_by}`,
    );
  }
  if (nonce !== Number(lane.next)) throw new Undone("later");
  await tx`
    INSERT INTO book.lane_nonce (network, payer, nonce, intents, used_by, height, foreign_hand)
    VALUES (${network}, 'hot', ${nonce}, '{}', ${txid}, ${height}, true)`;
}
