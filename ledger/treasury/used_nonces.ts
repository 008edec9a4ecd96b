import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, boolean, orNull, type RowOf, text } from "../table.ts";

/** A place in the order of a sender's transactions. */
interface Place {
  readonly network: Network;
  readonly payer: "hot" | number;
  readonly nonce: number;
}

const placeShape = shape({ network: text<Network>(), payer: text(), nonce: bigint() });
const usedShape = shape({
  network: text<Network>(),
  payer: text(),
  nonce: bigint(),
  /** The transaction in a solid block that has it. */
  txid: text(),
  /** Its bytes; null: they are not known. */
  bytes: orNull(text()),
  /** True where the service did not sign it, and an administrator has adopted that. */
  isForeign: boolean(),
});
/** A nonce that a solid block shows in use. */
export interface UsedNonceRow extends Omit<RowOf<typeof usedShape>, "payer"> {
  readonly payer: "hot" | number;
}

/**
 * Those of some nonces that are used, over the signer's own connection: no more than its role is granted, see
 * `ledger/database/grant_signer_role.ts`.
 */
export async function readUsedNonces(
  sql: Sql,
  places: readonly Place[],
): Promise<readonly UsedNonceRow[]> {
  if (places.length === 0) return [];
  const wanted = places.map((place) => ({ ...place, payer: String(place.payer) }));
  const rows = usedShape.all(
    await sql`
    SELECT DISTINCT n.network, n.payer, n.nonce, n.used_by AS txid, coalesce(n.foreign_bytes, a.bytes) AS bytes,
      n.foreign_bytes IS NOT NULL AS is_foreign
    FROM ${placeShape.rows(sql, "p", wanted)}
    JOIN book.lane_nonce n ON n.network = p.network AND n.payer = p.payer AND n.nonce = p.nonce
    LEFT JOIN book.attempt a ON a.txid = n.used_by AND a.nonce = n.nonce
    WHERE n.used_by IS NOT NULL`,
  );
  return rows.map((row) => ({ ...row, payer: row.payer === "hot" ? "hot" : Number(row.payer) }));
}
