/**
 * A network's turn to sign, and the queued transfers that are taken in it.
 *
 * @module
 */

import type { Fragment, Sql } from "postgres";
import type { Network, OutgoingAsset } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { type OutgoingRow, outgoingTable } from "../rows.ts";
import type { FeePayer } from "./intents.ts";

/**
 * A node's turn to sign for a network. The node and the time in the row are a hint that keeps two
 * nodes from working in vain. The number of batches is the safety: a batch is made from what the
 * wallet had reserved at the turn's beginning, and is committed only while nothing was signed since.
 */
export interface SigningTurn {
  readonly network: Network;
  /** Batches that were committed before it. */
  readonly batches: bigint;
}

/** Gives a turn up in which nothing was signed: another node may have what this one lacks. */
export async function passTurn(sql: Sql, network: Network, node: string): Promise<void> {
  await sql`
    UPDATE book.signing_turn SET until = now()
    WHERE network = ${network} AND node = ${node} AND until > now()`;
}

/** The transfers that are taken: those that carry merchants' payments, or internal ones. */
export type QueueOf = "merchants" | "internal";

/** Transfers to be pulled, and the node that pulls them. */
export interface Pull {
  readonly network: Network;
  /** Name of the node; one that starts again under its name goes on with its own turn. */
  readonly node: string;
  /** Time for which no other node signs for the network, by the database's clock. */
  readonly turnMs: number;
  readonly limit: number;
  readonly of: QueueOf;
  /** Assets of which nothing is taken now; default none. */
  readonly held?: readonly OutgoingAsset[];
  /** Payers (`hot`, or a derivation index) whose lanes have no room now; default none. */
  readonly full?: readonly string[];
}

/** A transfer to be signed. */
export interface QueuedRow extends OutgoingRow {
  readonly feePayer: FeePayer;
}

/** Transfers to be signed, in the order of their turns, at least one. */
export interface Pulled {
  readonly rows: readonly QueuedRow[];
  readonly turn: SigningTurn;
}

/** Rows that another transaction holds which a pull looks behind. */
const PASSED_BY = 50;
/** Transactions under way that are counted of a merchant at most; those with more go by their age. */
const MOST_COUNTED = 100;

/**
 * Takes the turn to sign for a network and the next queued transfers, but for those of merchants
 * that are suspended, which wait, and those whose rows another transaction holds, which are taken
 * as soon as they can be locked. Merchants take turns: the one of whom fewer transactions are under way
 * goes first, then the one that has waited for longer, so that the thousand payouts of one keep no other waiting; each
 * merchant's own leave oldest first. The node that holds the turn takes it again with every pull; of a
 * node that died with it the next takes it when it runs out.
 *
 * @returns null where nothing can be signed now, something stops signing (`hub.signing_stop`), or
 *   another node is at it
 */
export async function pullQueued(sql: Sql, pull: Pull): Promise<Pulled | null> {
  const { network, node, turnMs, limit, of, held = [], full = [] } = pull;
  const most = limit + PASSED_BY;
  const waits = sql`q.network = ${network} AND q.status = 'queued'
    -- what has a nonce is its lane's affair
    AND q.nonce IS NULL`;
  const canLeave = sql`
    -- no pause is as long as a quarter of an hour: then a clock was wrong
    (q.lease_until IS NULL OR q.lease_until < now() OR q.lease_until > now() + interval '15 minutes')
    AND q.currency <> ALL (${[...held]}::text[])
    -- what would find no room would be taken again and again before what stands behind it
    AND (${full.length === 0} OR book.payer_of(q.wallet, q.fee_payer) <> ALL (${[
    ...full,
  ]}::text[]))`;
  // read in order, as far as is needed: the planner, which knows little of these rules, would gather all rows and sort them
  const ordered = (merchantId: Fragment) =>
    sql`(
      SELECT q.* FROM book.outgoing q WHERE ${waits} AND q.merchant_id = ${merchantId}
      ORDER BY q.created_at, q.id OFFSET 0) q`;
  // an idle queue, and a turn of another node, are found out without a write
  const rows = await sql`
    WITH RECURSIVE owner AS (
      (SELECT q.merchant_id FROM book.outgoing q
       WHERE ${waits} AND (SELECT hub.signing_stop(${network})) IS NULL
         -- what another node signs for is not locked either, as its commit would pass it over
         AND NOT EXISTS (
           SELECT FROM book.signing_turn t WHERE t.network = ${network} AND t.node <> ${node} AND t.until > now())
       ORDER BY q.merchant_id LIMIT 1)
      UNION ALL
      SELECT n.merchant_id FROM owner o CROSS JOIN LATERAL (
        SELECT q.merchant_id FROM book.outgoing q WHERE ${waits} AND q.merchant_id > o.merchant_id
        ORDER BY q.merchant_id LIMIT 1) n
    ), merchant AS MATERIALIZED (
      -- no more of them have a transfer among the first, and each of them none in the place of those before it
      SELECT o.merchant_id, u.under_way,
        row_number() OVER (ORDER BY u.under_way, oldest.created_at, oldest.id) - 1 AS before
      FROM owner o
      CROSS JOIN LATERAL (
        SELECT q.created_at, q.id FROM ${ordered(sql`o.merchant_id`)} WHERE ${canLeave}
        ORDER BY q.created_at, q.id LIMIT 1) oldest
      CROSS JOIN LATERAL (
        SELECT count(*) AS under_way FROM (
          SELECT FROM book.outgoing s
          WHERE s.network = ${network} AND s.status = 'signed' AND s.merchant_id = o.merchant_id LIMIT ${MOST_COUNTED}) s) u
      WHERE (o.merchant_id = ${PLATFORM_ACCOUNT}) = ${of === "internal"}
        AND NOT EXISTS (SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')
      ORDER BY before LIMIT ${most}
    ), candidate AS MATERIALIZED (
      SELECT q.id, q.merchant_id, q.created_at,
        m.under_way + row_number() OVER (PARTITION BY m.merchant_id ORDER BY q.created_at, q.id) AS place
      FROM merchant m CROSS JOIN LATERAL (
        SELECT q.id, q.merchant_id, q.created_at FROM ${
    ordered(sql`m.merchant_id`)
  } WHERE ${canLeave}
        ORDER BY q.created_at, q.id LIMIT ${most} - m.before) q
      ORDER BY place, q.created_at, q.id LIMIT ${most}
    ), next AS (
      SELECT q.*, c.place FROM candidate c JOIN book.outgoing q ON q.id = c.id AND q.merchant_id = c.merchant_id
      WHERE ${waits} AND ${canLeave}
      ORDER BY c.place, c.created_at, c.id LIMIT ${limit} FOR NO KEY UPDATE OF q SKIP LOCKED
    ), first AS (
      INSERT INTO book.signing_turn (network, node, until)
      SELECT ${network}, ${node}, now() + make_interval(secs => ${turnMs / 1_000})
      WHERE EXISTS (SELECT FROM next)
        AND NOT EXISTS (SELECT FROM book.signing_turn WHERE network = ${network})
      ON CONFLICT DO NOTHING RETURNING batches
    ), taken AS (
      UPDATE book.signing_turn
      SET node = ${node}, until = now() + make_interval(secs => ${turnMs / 1_000})
      WHERE network = ${network} AND (node = ${node} OR until <= now()) AND EXISTS (SELECT FROM next)
      RETURNING batches
    )
    SELECT next.*, turn.batches AS turn_batches
    FROM next CROSS JOIN (SELECT batches FROM first UNION ALL SELECT batches FROM taken) turn
    ORDER BY next.place, next.created_at, next.id`;
  const [first] = rows;
  if (first === undefined) return null;
  const turn = { network, batches: BigInt(first.turn_batches) };
  return {
    rows: rows.map((row) => ({ ...outgoingTable.decode(row), feePayer: row.fee_payer })),
    turn,
  };
}
