/**
 * Nonces that signers have told of while a hold is open and that wait for lower ones, kept so that no node whose signer
 * knows nothing of one promises it to others.
 *
 * @module
 */

import type { Fragment, Sql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, type RowOf, text, texts } from "../table.ts";

const toldShape = shape({
  /** `hot`, or a derivation index. */
  payer: text(),
  nonce: bigint(),
  /** Ids of transfers, in the order of their transactions. */
  intents: texts(),
});
/** A nonce, and the transfers that a signer gave it to. */
export type ToldNonce = RowOf<typeof toldShape>;

/** The condition of a nonce `t` whose transfers may still be paid with it, where it is promised to none. */
function isWaiting(sql: AnySql, network: Network): Fragment {
  return sql`t.network = ${network}
    AND NOT EXISTS (
      SELECT FROM book.lane_nonce n WHERE n.network = t.network AND n.payer = t.payer AND n.nonce = t.nonce)
    AND NOT EXISTS (
      SELECT FROM unnest(t.intents) i WHERE NOT EXISTS (
        SELECT FROM book.outgoing o WHERE o.id = i AND o.status IN ('queued', 'signed')))`;
}

/** Keeps what a signer has told of a nonce; what is kept already stays. */
export async function keepToldNonce(
  sql: Sql,
  network: Network,
  { payer, nonce, intents }: ToldNonce,
): Promise<void> {
  await sql`
    INSERT INTO book.told_nonce (network, payer, nonce, intents)
    VALUES (${network}, ${payer}, ${nonce}, ${intents.toSorted()}::text[]) ON CONFLICT DO NOTHING`;
}

/** Nonces that any signer has told of and that are promised to none yet, while their transfers may be paid with them. */
export async function readToldNonces(sql: Sql, network: Network): Promise<readonly ToldNonce[]> {
  return toldShape.all(
    await sql`
    SELECT t.payer, t.nonce, t.intents FROM book.told_nonce t WHERE ${isWaiting(sql, network)}
    ORDER BY t.payer, t.nonce`,
  );
}

/** True where a signer has told of a nonce that is promised to none yet. */
export async function isToldOf(
  sql: AnySql,
  network: Network,
  payer: string,
  nonce: number,
): Promise<boolean> {
  const rows = await sql`
    SELECT FROM book.told_nonce t
    WHERE ${isWaiting(sql, network)} AND t.payer = ${payer} AND t.nonce = ${nonce}`;
  return rows.length > 0;
}
