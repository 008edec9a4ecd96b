import type { Sql } from "postgres";
import type { SliceChanges, SliceMiss } from "./batch.ts";

/** A reference that a merchant wants for a new withdrawal. */
export interface WantedReference {
  readonly merchantId: string;
  readonly referenceId: string;
}

/** A living withdrawal that holds a wanted reference. */
export interface ReferenceHolder extends WantedReference {
  readonly withdrawalId: string;
}

/** Which of the wanted references living withdrawals hold, by unique index. */
export async function findReferences(
  sql: Sql,
  wanted: readonly WantedReference[],
): Promise<readonly ReferenceHolder[]> {
  return await sql<ReferenceHolder[]>`
    SELECT w.merchant_id AS "merchantId", w.reference_id AS "referenceId", w.id AS "withdrawalId"
    FROM unnest(${wanted.map((one) => one.merchantId)}::text[],
                ${wanted.map((one) => one.referenceId)}::text[]) AS k(merchant_id, reference_id)
    JOIN book.withdrawal w ON w.merchant_id = k.merchant_id AND w.reference_id = k.reference_id
    WHERE w.status NOT IN ('FAILED','CANCELLED')`;
}

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
  const released = new Set(
    slices.flatMap((slice) =>
      slice.withdrawals.flatMap(({ id, status }) =>
        status === "FAILED" || status === "CANCELLED" ? [id] : []
      )
    ),
  );
  const holders = await findReferences(sql, wanted);
  return holders.filter((holder) => !released.has(holder.withdrawalId))
    .map((holder) => ({ ...holder, reason: "reference" }));
}
