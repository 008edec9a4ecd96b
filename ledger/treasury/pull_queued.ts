import type { Sql } from "postgres";
import type { Network, OutgoingAsset } from "../money/pair.ts";
import { type OutgoingRow, outgoingTable } from "../rows.ts";
import { PLATFORM_ACCOUNT } from "./platform_account.ts";
import type { SigningTurn } from "./signing_turn.ts";

/** Whose transfers are taken: those that carry merchants' payments, or the house's own. */
export type QueueOf = "merchants" | "house";

/** What is to be pulled, and by whom. */
export interface Pull {
  readonly network: Network;
  /** Name of the node; one that starts again under its name goes on with its own turn. */
  readonly node: string;
  /** How long no other node signs for the network, by the database's clock. */
  readonly turnMs: number;
  readonly limit: number;
  readonly of: QueueOf;
  /** Assets of which nothing is taken now; default none. */
  readonly held?: readonly OutgoingAsset[];
}

/** Transfers to be signed, oldest first, at least one. */
export interface Pulled {
  readonly rows: readonly OutgoingRow[];
  readonly turn: SigningTurn;
}

/**
 * Takes the turn to sign for a network and the oldest queued transfers, but for those of merchants
 * that are suspended, which wait, and those whose rows another transaction holds, which are taken
 * as soon as they can be locked. Whoever holds the turn takes it again with every pull; a node that
 * died with it is followed when it runs out.
 *
 * @returns null where nothing can be signed now, something stops signing (`hub.signing_stop`), or
 *   another node is at it
 */
export async function pullQueued(sql: Sql, pull: Pull): Promise<Pulled | null> {
  const { network, node, turnMs, limit, of, held = [] } = pull;
  // an idle queue, and a turn of another node, are found out without a write
  const rows = await sql`
    WITH next AS (
      SELECT q.* FROM book.outgoing q
      WHERE q.network = ${network} AND q.status = 'queued'
        -- no pause is as long as a quarter of an hour: then a clock was wrong
        AND (q.lease_until IS NULL OR q.lease_until < now() OR q.lease_until > now() + interval '15 minutes')
        AND NOT EXISTS (SELECT FROM book.merchant m WHERE m.merchant_id = q.merchant_id AND m.status <> 'ACTIVE')
        AND (q.merchant_id = ${PLATFORM_ACCOUNT}) = ${of === "house"}
        AND q.currency <> ALL (${[...held]}::text[])
        AND (SELECT hub.signing_stop(${network})) IS NULL
        -- what another node signs for is not locked either, as its commit would pass it over
        AND NOT EXISTS (
          SELECT FROM book.signing_turn t WHERE t.network = ${network} AND t.node <> ${node} AND t.until > now())
      ORDER BY q.id LIMIT ${limit} FOR NO KEY UPDATE OF q SKIP LOCKED
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
    ORDER BY next.id`;
  const [oldest] = rows;
  if (oldest === undefined) return null;
  const turn = { network, batches: BigInt(oldest.turn_batches) };
  return { rows: rows.map((row) => outgoingTable.decode(row)), turn };
}
