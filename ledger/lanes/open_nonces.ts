import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, boolean, json, type RowOf, text } from "../table.ts";

/** A transfer that an open nonce is promised to. */
export interface PromisedIntent {
  readonly outgoingId: string;
  readonly merchantId: string;
  readonly status: string;
  /** False while its merchant is suspended: it is not paid then. */
  readonly isActive: boolean;
}

/** A signed transaction of an open nonce. */
export interface LivingAttempt {
  readonly txid: string;
  readonly purpose: "pay" | "cancel";
  /** Empty where a block shows one of its nonce: nothing is sent or replaced then, and hours of them may wait to be final. */
  readonly bytes: string;
  /** A block that is not solid yet shows it. */
  readonly isSeen: boolean;
  /** Time since it was signed, milliseconds. */
  readonly ageMs: number;
}

const openShape = shape({
  /** `hot`, or the derivation index of the deposit address whose nonce it is. */
  payer: text(),
  nonce: bigint(),
  /** Time since it was promised, milliseconds. */
  ageMs: bigint(),
  isCancelAsked: boolean(),
  intents: json<readonly PromisedIntent[]>(),
  attempts: json<readonly LivingAttempt[]>(),
});
/** A nonce that is promised and that no solid block has used, with what was signed with it, the newest first. */
export type PromisedNonce = RowOf<typeof openShape>;

/**
 * Nonces of a network that are promised and that no solid block has used, the lowest of each payer first. In one
 * statement: what a block ends in between would be half of each.
 */
export async function readOpenNonces(
  sql: Sql,
  network: Network,
): Promise<readonly PromisedNonce[]> {
  return openShape.all(
    await sql`
    SELECT n.payer, n.nonce, n.cancel_by IS NOT NULL AS is_cancel_asked,
      (extract(epoch FROM now() - n.promised_at) * 1000)::bigint AS age_ms,
      (SELECT jsonb_agg(jsonb_build_object('outgoingId', o.id, 'merchantId', o.merchant_id, 'status', o.status,
          'isActive', NOT EXISTS (
            SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')) ORDER BY o.id)
       FROM book.outgoing o WHERE o.id = ANY (n.intents)) AS intents,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('txid', s.txid, 'purpose', s.purpose,
          'bytes', CASE WHEN s.one_is_seen THEN '' ELSE s.bytes END, 'isSeen', s.is_seen,
          'ageMs', s.age_ms) ORDER BY s.number DESC), '[]')
       FROM (
         SELECT a.txid, a.purpose, a.bytes, a.number, seen.is_seen, bool_or(seen.is_seen) OVER () AS one_is_seen,
           (extract(epoch FROM now() - a.created_at) * 1000)::bigint AS age_ms
         -- each of its transactions carries all of its transfers, so that the first one's tell them all
         FROM book.attempt a, LATERAL (
           -- a block that our own scan has passed without it was taken back
           SELECT coalesce(a.seen_height > (
             SELECT c.height FROM hub.cursor c WHERE c.network = a.network AND c.view = 'solid'), false) AS is_seen
         ) seen
         WHERE a.outgoing_id = n.intents[1] AND a.nonce = n.nonce AND a.outcome IS NULL
       ) s) AS attempts
    FROM book.lane_nonce n
    WHERE n.network = ${network} AND n.used_by IS NULL
    ORDER BY n.payer, n.nonce`,
  );
}

/** The nonce above all that were ever promised to a payer; 0: none was. */
export async function readNextNonce(
  sql: Sql,
  network: Network,
  payer: string,
): Promise<number> {
  const [row] = await sql<{ next: string }[]>`
    SELECT coalesce(max(nonce) + 1, 0) AS next FROM book.lane_nonce WHERE network = ${network} AND payer = ${payer}`;
  return Number(row?.next ?? 0);
}
