import type { Sql } from "postgres";
import { ROW_WAIT, writeApart } from "../database/write_apart.ts";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { endInternalTransfers } from "../sweeps/steps.ts";
import type { Cursor } from "../watcher/cursor.ts";

/** Transfers whose transaction is proven expired, by their next state. */
export interface ExpiryOutcome {
  /** Put back into the queue for another attempt. */
  readonly requeued: readonly string[];
  /** Payouts that were given up; their merchants refund them. */
  readonly abandoned: readonly { readonly outgoingId: string; readonly merchantId: string }[];
}

/** Answer of a second, independent node about an expired transaction. */
export interface Testimony {
  /** Its host. */
  readonly node: string;
  /** The solid block of its own, later than the expiry, by which it does not know the transaction. */
  readonly height: number;
  readonly hash: string;
  /** Tick of the block before that one. */
  readonly previousTick: number;
  /** Time of the question, Unix milliseconds. */
  readonly askedAt: number;
}

/** The second opinion that large transfers need. */
export interface SecondProof {
  /** Transfers of more than this need one. */
  readonly above: Amount;
  /** Those that have it, by transaction id. */
  readonly testimonies: ReadonlyMap<string, Testimony>;
}

/** Evidence of an expiry besides the cursor. */
export interface ExpiryEvidence {
  /** The second opinion on large transfers, which stay signed without it; null: none is needed. */
  readonly second: SecondProof | null;
  /** The lowest block from which on all up to the cursor were read; null: not looked at. */
  readonly scannedFrom: number | null;
}

/**
 * Declares signed transactions expired whose last tick our own scan of solid blocks has passed without
 * meeting them. The scan records what it meets before its cursor moves, and a transaction can only
 * be in a block whose parent is not past its last tick: so the block before the cursor's being past
 * it is the proof, kept as evidence with the attempt. A node's answer never takes its place; for
 * large transfers a second node's testimony stands beside it; of transfers that share a transaction the
 * sum counts, and all of them expire or none does. A cursor that was read in another
 * history of the database proves nothing: this one may lack what was recorded before it moved.
 *
 * One whose rows another transaction holds stays signed until a later look; the others are declared
 * dead, merchants' payouts in a transaction of their own.
 *
 * @param solid the solid cursor as read before this call
 * @param attemptLimit after so many attempts a transfer is given up instead of queued again
 * @param proof what was signed before the first block of the unbroken scan stays signed as well
 */
export async function expireAttempts(
  sql: Sql,
  network: Network,
  solid: Cursor,
  attemptLimit: number,
  proof: ExpiryEvidence = { second: null, scannedFrom: null },
): Promise<ExpiryOutcome> {
  const work = { network, solid, attemptLimit, proof };
  const payouts = await expireTogether(sql, work, false, null);
  const internal: ExpiryOutcome[] = [];
  // what follows from the end of a sweep needs rows of several tables, each of which may be held
  const expire = async (only: readonly string[] | null) => {
    internal.push(await expireTogether(sql, work, true, only));
  };
  const missed = await writeApart([null], () => expire(null));
  if (missed.length > 0) {
    await writeApart(await readLateInternal(sql, work), (parts) => expire(parts.flat()));
  }
  return {
    requeued: [...payouts.requeued, ...internal.flatMap(({ requeued }) => requeued)],
    abandoned: payouts.abandoned,
  };
}

/** Transactions to be declared expired, and the proof. */
interface ExpiryWork {
  readonly network: Network;
  readonly solid: Cursor;
  readonly attemptLimit: number;
  readonly proof: ExpiryEvidence;
}

/** Transfers of the service whose expiry the scan has passed, whatever else they lack, by their transactions. */
async function readLateInternal(
  sql: Sql,
  { network, solid }: ExpiryWork,
): Promise<readonly (readonly string[])[]> {
  const rows = await sql<{ id: string; txid: string }[]>`
    SELECT o.id, a.txid FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
    WHERE o.network = ${network} AND o.status = 'signed' AND o.payment_id IS NULL
      AND a.dies_after < ${solid.previousTick} ORDER BY o.id`;
  return [...Map.groupBy(rows, ({ txid }) => txid).values()].map((one) => one.map(({ id }) => id));
}

/**
 * Declares dead what one transaction can hold.
 *
 * @param isInternal transfers of the service, or merchants' payouts
 * @param only these ids; null: all
 */
async function expireTogether(
  sql: Sql,
  { network, solid, attemptLimit, proof: { second, scannedFrom } }: ExpiryWork,
  isInternal: boolean,
  only: readonly string[] | null,
): Promise<ExpiryOutcome> {
  const testimonies = [...second?.testimonies ?? []];
  const above = second === null ? null : formatAmount(second.above);
  const evidence = JSON.stringify({
    height: solid.height,
    hash: solid.hash,
    previousTick: solid.previousTick,
    previousTime: new Date(solid.previousTime).toISOString(),
    ...(scannedFrom === null ? {} : { scannedFrom }),
  });
  return await sql.begin(async (tx) => {
    await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
    const dead = await tx<
      {
        id: string;
        merchant_id: string;
        payment_id: string | null;
        kind: string;
        settlement_id: string | null;
        attempts: number;
        txid: string;
        adopted: boolean;
      }[]
    >`
      WITH late AS (
        SELECT o.id, o.merchant_id, a.number, a.txid, a.intents, a.adopted, t.testimony FROM book.outgoing o
        JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
        LEFT JOIN unnest(${testimonies.map(([txid]) => txid)}::text[],
          ${testimonies.map(([, testimony]) => JSON.stringify(shown(testimony)))}::text[])
          AS t(txid, testimony) ON t.txid = a.txid
        WHERE o.network = ${network} AND o.status = 'signed' AND (o.payment_id IS NULL) = ${isInternal}
          AND (${only === null} OR o.id = ANY (${[...only ?? []]}::text[]))
          AND a.dies_after < ${solid.previousTick}
          AND (SELECT name FROM hub.scan_basis) = ${solid.history}
          AND EXISTS (SELECT FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid'
            AND c.previous_tick >= ${solid.previousTick}
            AND (c.height > ${solid.height} OR c.height = ${solid.height} AND c.hash = ${solid.hash}))
          AND (${scannedFrom}::bigint IS NULL OR a.since_height IS NULL OR a.since_height + 1 >= ${scannedFrom})
          -- blocks that were read before it was known here say nothing before they are read again
          AND (a.known_height IS NULL OR a.since_height IS NULL
            OR coalesce(a.reread_height, a.since_height) >= a.known_height)
          -- it was met in a block, by a scan that did not know it yet
          AND NOT EXISTS (SELECT FROM hub.unknown_spend s WHERE s.network = a.network AND s.txid = a.txid
            AND s.status IN ('open', 'listed', 'cold'))
          -- or by one that could not write it, and its block is read again
          AND NOT EXISTS (SELECT FROM book.late_outcome l WHERE l.outgoing_id = o.id AND l.number = a.number
            AND l.merchant_id = o.merchant_id)
          AND (${above}::text IS NULL OR o.currency = 'native' OR t.testimony IS NOT NULL
            OR CASE WHEN a.intents = 1 THEN o.amount ELSE book.sum_of_transaction(a.txid, a.network) END
              <= ${above}::text::numeric)
        ORDER BY o.id FOR NO KEY UPDATE OF o, a SKIP LOCKED
      ), whole AS (
        SELECT l.* FROM late l
        WHERE l.intents = 1 OR l.intents = (SELECT count(*) FROM late k WHERE k.txid = l.txid)
      ), attempt AS (
        UPDATE book.attempt a SET outcome = 'expired', evidence = ${evidence}::text::jsonb
          || CASE WHEN l.testimony IS NULL THEN '{}'::jsonb
             ELSE jsonb_build_object('second', l.testimony::jsonb) END
        FROM whole l WHERE a.outgoing_id = l.id AND a.number = l.number AND a.merchant_id = l.merchant_id
      )
      UPDATE book.outgoing o SET status = 'dead', reason = 'expired', updated_at = now()
      FROM whole l WHERE o.id = l.id AND o.merchant_id = l.merchant_id
      RETURNING o.id, o.merchant_id, o.kind, o.payment_id, o.attempts, l.txid, l.adopted,
        (SELECT w.settlement_id FROM book.withdrawal w
         WHERE w.id = o.payment_id AND w.merchant_id = o.merchant_id) AS settlement_id`;
    // bytes that were never sent from here are no try, and what the lost history sent may have paid
    const mayTry = (row: typeof dead[number]) => row.adopted || row.attempts < attemptLimit;
    const again = dead.filter(mayTry).map((row) => row.id);
    const over = dead.filter((row) => !mayTry(row));
    if (again.length > 0) {
      await tx`
        UPDATE book.outgoing SET status = 'queued', lease_until = NULL, updated_at = now()
        WHERE id = ANY (${again}::text[]) AND status = 'dead'`;
    }
    await endInternalTransfers(
      tx,
      network,
      over.filter((row) => row.payment_id === null).map((row) => ({
        outgoingId: row.id,
        kind: row.kind,
        result: "failed",
        reason: "expired",
      })),
    );
    const payouts = over.filter((row) => row.payment_id !== null);
    const data = payouts.map((row) =>
      JSON.stringify({
        outgoingId: row.id,
        withdrawalId: row.payment_id,
        settlementId: row.settlement_id,
        result: "abandoned",
        reason: "the network did not include the transaction before it expired",
        height: null,
      })
    );
    if (payouts.length > 0) {
      await tx`
        INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
        SELECT merchant_id, ${network}, txid, -1, 'outcome', data::jsonb
        FROM unnest(${payouts.map((row) => row.merchant_id)}::text[],
          ${payouts.map((row) => row.txid)}::text[], ${data}::text[]) AS f(merchant_id, txid, data)
        ON CONFLICT DO NOTHING`;
    }
    return {
      requeued: again,
      abandoned: payouts.map((row) => ({
        outgoingId: row.id,
        merchantId: row.merchant_id,
      })),
    };
  });
}

/** A testimony as evidence is written: times for people. */
function shown({ askedAt, ...rest }: Testimony) {
  return {
    ...rest,
    askedAt: new Date(askedAt).toISOString(),
  };
}
