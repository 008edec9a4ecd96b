import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, integer, orNull, type RowOf, text, texts } from "../table.ts";
import type { SigningTurn } from "../treasury/pull_queued.ts";

const wantedShape = shape({
  /** Place of the transaction among those that are asked for; transfers of one place share it. */
  place: integer(),
  outgoingId: text(),
  merchantId: text(),
  /** The first nonce of a deposit address that has had none; null: the payer has a lane. */
  first: orNull(bigint()),
});
/** A transfer that is to be signed with a nonce. */
export type WantedNonce = RowOf<typeof wantedShape>;

const promisedShape = shape({ payer: text(), nonce: bigint(), intents: texts() });
/** A nonce, and the transfers that it is promised to. */
export type NewPromise = RowOf<typeof promisedShape>;

/**
 * Promises the next nonces to queued transfers before anything is signed with them, in one statement: from then on
 * nothing else takes them. Transfers that were given up, are held by another transaction or whose merchant is suspended get
 * none, nor does what was to share a transaction with them.
 *
 * @param turn the turn they were pulled in; it moves on by one
 * @returns the promises; null, and there is none, where something else was signed since the turn began, or signing
 *   was stopped
 * @throws a connection error: unknown; what was promised is found among the open nonces later
 */
export async function promiseNonces(
  sql: Sql,
  network: Network,
  wanted: readonly WantedNonce[],
  turn: SigningTurn,
): Promise<readonly NewPromise[] | null> {
  if (wanted.length === 0) return [];
  const [answer] = await sql<{ held: boolean; promised: Record<string, unknown>[] }[]>`
    WITH turn AS (
      UPDATE book.signing_turn SET batches = batches + 1
      WHERE network = ${network} AND batches = ${String(turn.batches)}::bigint
        AND (SELECT hub.signing_stop(${network})) IS NULL RETURNING 1
    ), input AS (
      SELECT * FROM ${wantedShape.rows(sql, "i", wanted)}
    ), locked AS (
      SELECT o.id, book.payer_of(o.wallet, o.fee_payer) AS payer, i.place, i.first
      FROM book.outgoing o JOIN input i ON i.outgoing_id = o.id AND i.merchant_id = o.merchant_id
      WHERE EXISTS (SELECT FROM turn) AND o.network = ${network} AND o.status = 'queued' AND o.nonce IS NULL
        AND NOT EXISTS (
          SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')
      ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    ), whole AS (
      SELECT l.place, min(l.payer) AS payer, min(l.first) AS first, array_agg(l.id ORDER BY l.id) AS intents
      FROM locked l GROUP BY l.place
      HAVING count(*) = (SELECT count(*) FROM input i WHERE i.place = l.place) AND min(l.payer) = max(l.payer)
    ), numbered AS (
      SELECT w.payer, w.intents, row_number() OVER (PARTITION BY w.payer ORDER BY w.place) - 1 + coalesce(
        (SELECT max(n.nonce) + 1 FROM book.lane_nonce n WHERE n.network = ${network} AND n.payer = w.payer),
        CASE w.payer WHEN 'hot' THEN (SELECT h.first_nonce FROM hub.wallet h WHERE h.network = ${network})
          ELSE w.first END) AS nonce
      FROM whole w
    ), promised AS (
      INSERT INTO book.lane_nonce (network, payer, nonce, intents)
      SELECT ${network}, payer, nonce, intents FROM numbered WHERE nonce IS NOT NULL ORDER BY payer, nonce
      RETURNING payer, nonce, intents
    ), moved AS (
      UPDATE book.outgoing o SET nonce = p.nonce, updated_at = now()
      FROM promised p WHERE o.network = ${network} AND o.id = ANY (p.intents)
      RETURNING o.id
    )
    SELECT EXISTS (SELECT FROM turn) AS held, (SELECT count(*) FROM moved) AS moved,
      (SELECT coalesce(jsonb_agg(p ORDER BY p.payer, p.nonce), '[]') FROM promised p) AS promised`;
  if (answer === undefined) throw new Error("Cannot promise nonces as the answer has no row");
  return answer.held ? promisedShape.all(answer.promised) : null;
}
