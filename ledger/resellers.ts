import type { Row } from "postgres";
import { requireApproval } from "./api_key_changes.ts";
import { type HubAudit, writeAudit } from "./audit.ts";
import type { Sql } from "./database/connect.ts";
import type { Page, PageRequest } from "./lists/list_page.ts";
import type { Network } from "./money/pair.ts";

/** A reseller: a merchant account of its own, and the one address its withdrawals may go to. */
export interface ResellerRecord {
  readonly id: string;
  readonly merchantId: string;
  readonly name: string;
  readonly withdrawalAddress: string;
  readonly network: Network;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Reads a row of hub.reseller. */
function resellerRecord(row: Row): ResellerRecord {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    name: row.name,
    withdrawalAddress: row.withdrawal_address,
    network: row.network,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  };
}

/** Where a reseller's withdrawals go. */
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
  const [row] = await sql`SELECT * FROM hub.reseller WHERE id = ${resellerId}`;
  return row === undefined ? null : resellerRecord(row);
}

/**
 * One page of resellers, newest first.
 *
 * @param merchantId only the reseller that owns this account; null: all
 */
export async function listResellers(
  sql: Sql,
  merchantId: string | null,
  { page, limit }: PageRequest,
): Promise<Page<ResellerRecord>> {
  const matching = sql`
    FROM hub.reseller ${merchantId === null ? sql`` : sql`WHERE merchant_id = ${merchantId}`}`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${matching}`,
    sql`SELECT * ${matching} ORDER BY id DESC
      OFFSET ${(page - 1) * limit}::bigint LIMIT ${limit}`,
  ]);
  return { total: Number(counted?.total ?? 0), rows: rows.map(resellerRecord) };
}

/**
 * Keeps a new reseller, with the line of the audit. Keys that its account has from administrators have no payout
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
    const [old] = await tx`SELECT * FROM hub.reseller WHERE id = ${resellerId} FOR UPDATE`;
    if (old === undefined) return null;
    const before = resellerRecord(old);
    const [row] = await tx`
      UPDATE hub.reseller SET name = ${patch.name ?? before.name},
        withdrawal_address = ${patch.withdrawalAddress ?? before.withdrawalAddress},
        network = ${patch.network ?? before.network}, updated_at = now()
      WHERE id = ${resellerId} RETURNING *`;
    if (row === undefined) throw new Error(`Cannot change a reseller as it is gone: ${resellerId}`);
    const after = resellerRecord(row);
    await writeAudit(tx, { ...audit, before: imageOf(before), after: imageOf(after) });
    return after;
  });
}

function imageOf({ name, withdrawalAddress, network }: ResellerRecord) {
  return { name, withdrawalAddress, network };
}
