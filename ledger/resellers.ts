import { requireApproval } from "./api_key_changes.ts";
import { type HubAudit, writeAudit } from "./audit.ts";
import type { Sql } from "./database/connect.ts";
import { type Page, type PageRequest, readCountedPage } from "./lists/list_page.ts";
import type { Network } from "./money/pair.ts";
import { shape } from "./shape.ts";
import { type RowOf, text, time } from "./table.ts";

const resellerShape = shape({
  id: text(),
  merchantId: text(),
  name: text(),
  withdrawalAddress: text(),
  network: text<Network>(),
  createdAt: time(),
  updatedAt: time(),
});
/** A reseller: a merchant account of its own, and the one address its withdrawals may go to. */
export type ResellerRecord = RowOf<typeof resellerShape>;

/** The address that a reseller's withdrawals go to. */
export interface RegisteredDestination {
  readonly address: string;
  readonly network: Network;
}

/** The registered destination of the reseller that owns a merchant account, or `null`. */
export async function findReseller(
  sql: Sql,
  merchantId: string,
): Promise<RegisteredDestination | null> {
  const [row] = await sql<RegisteredDestination[]>`
    SELECT withdrawal_address AS address, network FROM hub.reseller WHERE merchant_id = ${merchantId}`;
  return row ?? null;
}

/** One reseller; `null` where there is none of that id. */
export async function findResellerById(
  sql: Sql,
  resellerId: string,
): Promise<ResellerRecord | null> {
  return resellerShape.first(await sql`SELECT * FROM hub.reseller WHERE id = ${resellerId}`);
}

/**
 * One page of resellers, newest first.
 *
 * @param merchantId only the reseller that owns this account; null: all
 */
export async function listResellers(
  sql: Sql,
  merchantId: string | null,
  request: PageRequest,
): Promise<Page<ResellerRecord>> {
  const matching = sql`
    FROM hub.reseller ${merchantId === null ? sql`` : sql`WHERE merchant_id = ${merchantId}`}`;
  return await readCountedPage(sql, sql`*`, matching, sql`id DESC`, request, resellerShape.decode);
}

/**
 * Stores a new reseller, with its entry in the audit. Keys that its account has from administrators have no payout
 * right until another one has approved them.
 *
 * @returns false when the merchant account belongs to a reseller already: nothing was changed
 */
export async function insertReseller(
  sql: Sql,
  reseller: ResellerRecord,
  audit: HubAudit,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const { id, merchantId, name, withdrawalAddress, network, createdAt } = reseller;
    const at = new Date(createdAt);
    const inserted = await tx`
      INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network, created_at, updated_at)
      VALUES (${id}, ${merchantId}, ${name}, ${withdrawalAddress}, ${network}, ${at}, ${at})
      ON CONFLICT (merchant_id) DO NOTHING RETURNING 1`;
    if (inserted.length === 0) return false;
    // what a reseller earns, one administrator sets: the account's keys behind one pay it out with a second word alone
    await tx`SELECT hub.living_keys(${merchantId})`;
    await requireApproval(tx, merchantId, null);
    await writeAudit(tx, audit);
    return true;
  });
}

/** Fields that are changed; absent ones stay. */
export interface ResellerPatch {
  readonly name?: string | undefined;
  readonly withdrawalAddress?: string | undefined;
  readonly network?: Network | undefined;
}

/**
 * Changes a reseller, with the line of the audit. Withdrawals that exist keep their destination.
 *
 * @returns the reseller after the change; `null` where there is none of that id
 */
export async function updateReseller(
  sql: Sql,
  resellerId: string,
  patch: ResellerPatch,
  audit: Omit<HubAudit, "before" | "after">,
): Promise<ResellerRecord | null> {
  return await sql.begin(async (tx) => {
    const before = resellerShape.first(
      await tx`SELECT * FROM hub.reseller WHERE id = ${resellerId} FOR UPDATE`,
    );
    if (before === null) return null;
    const after = resellerShape.first(
      await tx`
      UPDATE hub.reseller SET name = ${patch.name ?? before.name},
        withdrawal_address = ${patch.withdrawalAddress ?? before.withdrawalAddress},
        network = ${patch.network ?? before.network}, updated_at = now()
      WHERE id = ${resellerId} RETURNING *`,
    );
    if (after === null) throw new Error(`Cannot change a reseller as it is gone: ${resellerId}`);
    await writeAudit(tx, { ...audit, before: imageOf(before), after: imageOf(after) });
    return after;
  });
}

function imageOf({ name, withdrawalAddress, network }: ResellerRecord) {
  return { name, withdrawalAddress, network };
}
