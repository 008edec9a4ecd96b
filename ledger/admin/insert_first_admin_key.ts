import type { AnySql, Sql } from "../database/connect.ts";
import { type NewKey, putKey } from "./insert_api_key.ts";
import { writeAudit } from "./write_audit.ts";

/** Advisory lock under which the administrators' keys are counted. */
export const KEYS_LOCK = "4021993307761200146";

/**
 * Keeps the first key of an administrator.
 *
 * @returns false when there is a usable one already: nothing was changed
 */
export async function insertFirstAdminKey(
  sql: Sql,
  key: NewKey,
  auditId: string,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${KEYS_LOCK}::bigint)`;
    const [present] = await tx`
      SELECT 1 FROM hub.api_key WHERE role = 'ADMIN' AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > now()) LIMIT 1`;
    if (present !== undefined) return false;
    await putFirst(tx, key, auditId);
    return true;
  });
}

/** Keeps the first key of another administrator, who approves what the others make. */
export async function insertAnotherAdminKey(
  sql: Sql,
  key: NewKey,
  auditId: string,
): Promise<boolean> {
  await sql.begin((tx) => putFirst(tx, key, auditId));
  return true;
}

async function putFirst(sql: AnySql, key: NewKey, auditId: string): Promise<void> {
  await putKey(sql, key);
  await writeAudit(sql, {
    id: auditId,
    merchantId: null,
    actor: "bootstrap",
    action: "api-key.create",
    subject: key.id,
    before: null,
    after: { role: key.role, permissions: key.permissions },
    requestId: null,
  });
}
