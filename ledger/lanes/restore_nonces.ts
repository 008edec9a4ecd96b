/**
 * Nonces that a lost history has promised, brought back from what the signer remembers of them while a hold is open.
 *
 * @module
 */

import type { Fragment, Sql, TransactionSql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { type Amount, formatAmount, ZERO } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { isToldOf, type ToldNonce } from "./told_nonces.ts";

/** One transaction that the signer remembers to have signed with a nonce. */
export interface LostAttempt {
  readonly txid: string;
  readonly bytes: string;
  readonly purpose: "pay" | "cancel";
  /** The most coin that each of its transfers takes of the hot wallet, in their order. */
  readonly feeLimits: readonly Amount[];
}

/** A nonce, the transfers that a signer gave it to, and what is known to be signed with it. */
export interface LostNonce extends ToldNonce {
  /** Oldest first; none where only another node's signer has them. */
  readonly attempts: readonly LostAttempt[];
}

/** The end of bringing one nonce back. */
export type Restored =
  /** It is promised to its transfers, and its transactions are attempts of them. */
  | "restored"
  /** It was so before. */
  | "known"
  /** The books have promised or used it for others: the signer gives its transfers another one when it is used. */
  | "elsewhere"
  /** Lower ones are not promised yet. */
  | "gap"
  /** Its transfers do not all wait to be paid. */
  | "not_waiting"
  /** One of its transfers has an earlier nonce still: the block that ends that one is to be read again. */
  | "not_ended"
  /** Another transaction holds one of its transfers, so that nothing is known of it. */
  | "held";

/** Undoes the transaction in which it was found that nothing can be done. */
class Undone extends Error {
  constructor(readonly why: Restored) {
    super(`Cannot bring a nonce back: ${why}`);
  }
}

/**
 * Promises a nonce to the transfers that the signer gave it to, and stores what was signed with it: what lands of it is
 * known then, and nothing else takes it. Only while a hold is open, in which nothing is signed.
 *
 * @throws where another transaction holds a row for longer than the session's `lock_timeout`
 */
export async function restoreNonce(
  sql: Sql,
  network: Network,
  lost: LostNonce,
): Promise<Restored> {
  const { payer, nonce, intents, attempts } = lost;
  try {
    return await sql.begin(async (tx) => {
      await requireWaiting(tx, network, lost);
      const own = await tx<{ id: string; merchant_id: string }[]>`
        SELECT o.id, o.merchant_id FROM book.outgoing o WHERE ${waits(tx, network, lost)}
        ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED`;
      // as they waited a moment ago, a row that is missing is held, or was changed since: it is looked at again
      if (own.length < intents.length) throw new Undone("held");
      let isNew = await promise(tx, network, payer, nonce, intents.toSorted());
      const merchants = new Map(own.map((row) => [row.id, row.merchant_id]));
      for (const attempt of attempts) {
        const isStored = await storeAttempt(tx, network, nonce, attempt, intents, merchants);
        isNew ||= isStored;
      }
      return isNew ? "restored" as const : "known" as const;
    });
  } catch (error) {
    if (error instanceof Undone) return error.why;
    throw error;
  }
}

/**
 * The condition of transfers `o` that wait to be paid with a nonce, or with none so far, while a hold is open. What the
 * signer knows was made before it, whatever their times say: those are of another machine's clock.
 */
function waits(sql: AnySql, network: Network, { payer, nonce, intents }: LostNonce): Fragment {
  return sql`o.id = ANY (${[...intents]}::text[]) AND o.network = ${network}
    AND (o.nonce = ${nonce} AND o.status IN ('queued', 'signed') OR o.nonce IS NULL AND o.status = 'queued')
    AND book.payer_of(o.wallet, o.fee_payer) = ${payer}
    AND EXISTS (SELECT FROM hub.failover_network n WHERE n.network = o.network AND n.compared_at IS NULL)`;
}

/** Finds out, without a lock, whether transfers wait to be paid with a nonce. @throws {Undone} where they do not */
async function requireWaiting(
  tx: TransactionSql,
  network: Network,
  lost: LostNonce,
): Promise<void> {
  const { nonce, payer, intents } = lost;
  const [found] = await tx<{ waiting: number; earlier: number; is_used: boolean }[]>`
    SELECT (SELECT count(*)::int FROM book.outgoing o WHERE ${waits(tx, network, lost)}) AS waiting,
      (SELECT count(*)::int FROM book.outgoing o
       WHERE o.id = ANY (${[...intents]}::text[]) AND o.network = ${network} AND o.nonce < ${nonce}
         AND o.status IN ('queued', 'signed')) AS earlier,
      EXISTS (SELECT FROM book.lane_nonce n WHERE n.network = ${network} AND n.payer = ${payer}
        AND n.nonce = ${nonce} AND n.used_by IS NOT NULL) AS is_used`;
  if (found === undefined) throw new Error("Cannot look for transfers as the answer has no row");
  if (found.waiting === intents.length) return;
  throw new Undone(found.earlier > 0 && !found.is_used ? "not_ended" : "not_waiting");
}

/**
 * Promises a nonce that follows the last one; one that is promised to the same transfers stays as it is.
 *
 * @returns whether it is a new promise
 */
async function promise(
  tx: TransactionSql,
  network: Network,
  payer: string,
  nonce: number,
  intents: readonly string[],
): Promise<boolean> {
  const [promised] = await tx<{ is_open: boolean }[]>`
    SELECT n.used_by IS NULL AND n.intents = ${[
    ...intents,
  ]}::text[] AS is_open FROM book.lane_nonce n
    WHERE n.network = ${network} AND n.payer = ${payer} AND n.nonce = ${nonce}`;
  if (promised !== undefined) {
    if (!promised.is_open) throw new Undone("elsewhere");
    return false;
  }
  // the lane of a deposit address begins with the first nonce that is promised, that of the hot wallet where the chain said
  const next = await nextNonce(tx, network, payer) ?? (payer === "hot" ? null : nonce);
  if (next === null || nonce > next) throw new Undone("gap");
  if (nonce < next) throw new Undone("elsewhere");
  await tx`
    INSERT INTO book.lane_nonce (network, payer, nonce, intents)
    VALUES (${network}, ${payer}, ${nonce}, ${[...intents]}::text[])`;
  await tx`
    UPDATE book.outgoing SET nonce = ${nonce}, updated_at = now()
    WHERE id = ANY (${[...intents]}::text[]) AND network = ${network}`;
  return true;
}

/** The nonce that is promised next to a wallet; null: none was promised to it, and it has no beginning. */
async function nextNonce(
  tx: TransactionSql,
  network: Network,
  payer: string,
): Promise<number | null> {
  const [row] = await tx<{ next: string | null }[]>`
    SELECT coalesce(
      (SELECT max(n.nonce) + 1 FROM book.lane_nonce n WHERE n.network = ${network} AND n.payer = ${payer}),
      (SELECT w.first_nonce FROM hub.wallet w WHERE w.network = ${network} AND ${payer} = 'hot')) AS next`;
  const next = row?.next ?? null;
  return next === null ? null : Number(next);
}

/**
 * A payment whose nonce an administrator has asked to take out of use meanwhile may be in a block all the same: it is kept, and
 * never sent from here.
 *
 * @returns whether it was not known
 */
async function storeAttempt(
  tx: TransactionSql,
  network: Network,
  nonce: number,
  { txid, bytes, purpose, feeLimits }: LostAttempt,
  intents: readonly string[],
  merchants: ReadonlyMap<string, string>,
): Promise<boolean> {
  const [known] = await tx`
    SELECT FROM book.attempt WHERE network = ${network} AND txid = ${txid} LIMIT 1`;
  if (known !== undefined) return false;
  for (const [place, id] of intents.entries()) {
    const merchantId = merchants.get(id) ?? "";
    const [row] = await tx<{ attempts: number }[]>`
      UPDATE book.outgoing SET attempts = attempts + 1, reason = NULL, updated_at = now(),
        status = CASE WHEN ${purpose} = 'pay' THEN 'signed' ELSE status END
      WHERE id = ${id} AND merchant_id = ${merchantId} RETURNING attempts`;
    await tx`
      INSERT INTO book.attempt
        (outgoing_id, number, merchant_id, network, txid, bytes, nonce, purpose, place, intents, created_at, fee_limit,
         known_height, adopted)
      VALUES (${id}, ${
      row?.attempts ?? 0
    }, ${merchantId}, ${network}, ${txid}, ${bytes}, ${nonce}, ${purpose},
        ${place}, ${intents.length}, now(), ${formatAmount(feeLimits[place] ?? ZERO)}::numeric,
        (SELECT c.height FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid'),
        ${purpose} = 'pay' AND EXISTS (
          SELECT FROM book.outgoing o JOIN book.lane_nonce n ON n.network = o.network
            AND n.payer = book.payer_of(o.wallet, o.fee_payer) AND n.nonce = o.nonce
          WHERE o.id = ${id} AND o.merchant_id = ${merchantId} AND n.cancel_by IS NOT NULL))`;
  }
  return true;
}

/** Transfers of a network that wait to be paid, or for the end of what was signed with a nonce, in the order of their ids. */
export async function readUnderWay(
  sql: Sql,
  network: Network,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM book.outgoing
    WHERE network = ${network} AND status IN ('queued', 'signed') AND id > ${after} ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/** The least that a transfer moves; one that takes a nonce out of use is never signed. */
const LEAST = "0.000000000000000001";
/** The reason of a transfer that was made to take a nonce out of use. */
const OUT_OF_USE = "what had its nonce is lost: the nonce is taken out of use";

/**
 * Promises the hot wallet's next nonce to a transfer that is given up at once, so that its lane fills it with a transfer of
 * nothing, and those that have later nonces can follow. It is a new transfer, which no signer can have signed: one that
 * waits may have another nonce from the signer of another node, and would be paid with both. Only while a hold is open;
 * nothing is signed before it is over.
 *
 * @param outgoingId id of the new transfer
 * @param below only a nonce below this one is taken
 * @returns false where no hold is open, the lane has no beginning, the nonce is not below, or a signer has told of it
 * @throws where another one has promised the same nonce at the same time
 */
export async function fillGap(
  sql: Sql,
  network: Network,
  outgoingId: string,
  below: number,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const next = await nextNonce(tx, network, "hot");
    if (next === null || next >= below || await isToldOf(tx, network, "hot", next)) return false;
    const made = await tx`
      INSERT INTO book.outgoing
        (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
      SELECT ${outgoingId}, ${PLATFORM_ACCOUNT}, 'gas', w.network, 'native', ${LEAST}::text::numeric, w.hot_wallet,
        'queued', now(), now()
      FROM hub.wallet w WHERE w.network = ${network} AND EXISTS (
        SELECT FROM hub.failover_network n WHERE n.network = w.network AND n.compared_at IS NULL)
      RETURNING 1`;
    if (made.length === 0) return false;
    await tx`
      INSERT INTO book.lane_nonce (network, payer, nonce, intents)
      VALUES (${network}, 'hot', ${next}, ${[outgoingId]}::text[])`;
    await tx`UPDATE book.outgoing SET nonce = ${next} WHERE id = ${outgoingId}`;
    await tx`
      UPDATE book.outgoing SET status = 'void', reason = ${OUT_OF_USE} WHERE id = ${outgoingId}`;
    return true;
  });
}
