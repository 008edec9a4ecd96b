import type { AnySql, Sql } from "../database/connect.ts";

/** A merchant's callback secrets as they are kept. */
export interface KeptSecrets {
  readonly merchantId: string;
  readonly current: string;
  readonly previous: string | null;
}

/**
 * Merchants, in the order of their ids, some of whose callback secrets are not encrypted with a key.
 *
 * @param after continue after this merchant
 * @param prefix what a secret under that key begins with
 */
export async function listOtherSecrets(
  sql: AnySql,
  prefix: string,
  after: string,
  limit: number,
): Promise<readonly KeptSecrets[]> {
  return await sql<KeptSecrets[]>`
    SELECT merchant_id AS "merchantId", webhook_secret AS current, webhook_secret_previous AS previous
    FROM book.merchant
    WHERE merchant_id > ${after} AND (NOT starts_with(webhook_secret, ${prefix})
      OR NOT starts_with(coalesce(webhook_secret_previous, ${prefix}), ${prefix}))
    ORDER BY merchant_id LIMIT ${limit}`;
}

/** One kept secret under a key, to find out whether the key fits; null where there is none. */
export async function sampleSecret(sql: AnySql, prefix: string): Promise<KeptSecrets | null> {
  const [row] = await sql<KeptSecrets[]>`
    SELECT merchant_id AS "merchantId", webhook_secret AS current, NULL AS previous FROM book.merchant
    WHERE starts_with(webhook_secret, ${prefix}) LIMIT 1`;
  return row ?? null;
}

/**
 * Puts secrets in the place of others that say the same. What was changed meanwhile stays.
 *
 * @returns whether they were replaced
 */
export async function replaceSecrets(
  sql: Sql,
  old: KeptSecrets,
  fresh: KeptSecrets,
): Promise<boolean> {
  const replaced = await sql`
    UPDATE book.merchant SET webhook_secret = ${fresh.current}, webhook_secret_previous = ${fresh.previous}
    WHERE merchant_id = ${old.merchantId} AND webhook_secret = ${old.current}
      AND webhook_secret_previous IS NOT DISTINCT FROM ${old.previous} RETURNING 1`;
  return replaced.length > 0;
}
