import type { Sql } from "postgres";
import type { SliceChanges, SliceMiss } from "./batch.ts";

/**
 * Finds the living withdrawals that hold references which a batch wants for new ones. What the
 * batch itself releases does not count.
 *
 * @returns one miss for each reference that is taken
 */
export async function findReferenceHolders(
  sql: Sql,
  slices: readonly SliceChanges[],
): Promise<readonly SliceMiss[]> {
  const wanted = slices.flatMap((slice) =>
    slice.newWithdrawals.flatMap(({ merchantId, referenceId }) =>
      referenceId === null ? [] : [{ merchantId, referenceId }]
    )
  );
  const released = slices.flatMap((slice) =>
    slice.withdrawals.flatMap(({ id, status }) =>
      status === "FAILED" || status === "CANCELLED" ? [id] : []
    )
  );
  const rows = await sql<{ merchant_id: string; reference_id: string; id: string }[]>`
    SELECT w.merchant_id, w.reference_id, w.id
    FROM unnest(${wanted.map((one) => one.merchantId)}::text[],
                ${wanted.map((one) => one.referenceId)}::text[]) AS k(merchant_id, reference_id)
    JOIN book.withdrawal w ON w.merchant_id = k.merchant_id AND w.reference_id = k.reference_id
    WHERE w.status NOT IN ('FAILED','CANCELLED') AND w.id <> ALL (${released}::text[])`;
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    reason: "reference",
    referenceId: row.reference_id,
    withdrawalId: row.id,
  }));
}
