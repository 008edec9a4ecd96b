import type { Sql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";

/** The reason kept with a transfer whose nonce a transaction that moves nothing has used. */
export const NONCE_TAKEN = "its nonce was taken out of use";

/** Reasons why a transfer cannot be taken out of use; nothing was changed. */
export type CancelRefused =
  /** There is no such transfer. */
  | "unknown"
  /** It is not signed, or its chain counts no nonces: there is nothing that could be replaced. */
  | "not_numbered"
  /** A block shows it already. */
  | "seen"
  /** It was asked for before. */
  | "asked";

/** Undoes the transaction in which a refusal was found. */
class Undone extends Error {
  constructor(readonly refused: CancelRefused) {
    super(`Cannot take a transfer out of use: ${refused}`);
  }
}

/**
 * Asks to take a signed transfer out of use, with its audit: the next turn of its lane replaces its transaction by one that
 * moves nothing. Whichever of the two a solid block shows decides.
 *
 * @param id of the transfer, or of the withdrawal that it pays
 * @returns why not; null where it is asked for
 */
export async function askToCancel(
  sql: Sql,
  id: string,
  audit: HubAudit,
): Promise<CancelRefused | null> {
  try {
    await sql.begin(async (tx) => {
      const [found] = await tx<
        {
          id: string;
          network: string;
          payer: string;
          nonce: string | null;
          status: string;
          seen: boolean;
        }[]
      >`
        SELECT o.id, o.network, book.payer_of(o.wallet, o.fee_payer) AS payer, o.nonce, o.status,
          EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
            AND a.outcome IS NULL AND a.seen_height > (
              SELECT c.height FROM hub.cursor c WHERE c.network = a.network AND c.view = 'solid')) AS seen
        FROM (
          -- two look-ups by key: with an OR all transfers that ever left would be read
          SELECT p.id, p.merchant_id FROM book.outgoing p WHERE p.id = ${id}
          UNION SELECT w.outgoing_id, w.merchant_id FROM book.withdrawal w WHERE w.id = ${id}
        ) named JOIN book.outgoing o ON o.id = named.id AND o.merchant_id = named.merchant_id
        FOR NO KEY UPDATE OF o`;
      if (found === undefined) throw new Undone("unknown");
      if (found.nonce === null || found.status !== "signed") throw new Undone("not_numbered");
      if (found.seen) throw new Undone("seen");
      const { count } = await tx`
        UPDATE book.lane_nonce SET cancel_by = ${audit.actor}
        WHERE network = ${found.network} AND payer = ${found.payer} AND nonce = ${found.nonce}
          AND used_by IS NULL AND cancel_by IS NULL`;
      if (count === 0) throw new Undone("asked");
      await writeAudit(tx, audit);
    });
    return null;
  } catch (error) {
    if (error instanceof Undone) return error.refused;
    throw error;
  }
}
