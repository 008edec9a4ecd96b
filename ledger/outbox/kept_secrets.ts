import type { AnySql, Sql } from "../database/connect.ts";
import { classifyDatabaseError } from "../database/database_errors.ts";
import { ROW_WAIT } from "../database/write_apart.ts";

/** A merchant's callback secrets as they are stored. */
export interface KeptSecrets {
  readonly merchantId: string;
  readonly current: string;
  readonly previous: string | null;
  /** True if the previous one signs no longer. */
  readonly isPreviousOver: boolean;
}

/** Numbers of merchants' callback secrets that are stored under other keys than the newest. */
export interface SecretFigures {
  /** Merchants with an endpoint whose secret is under a key that is not known here. */
  readonly unreadable: number;
  /** Merchants with a secret under an earlier key that is known. */
  readonly earlier: number;
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
    SELECT merchant_id AS "merchantId", webhook_secret AS current, webhook_secret_previous AS previous,
      coalesce(webhook_previous_until <= now(), true) AS "isPreviousOver"
    FROM book.merchant
    WHERE merchant_id > ${after} AND (NOT starts_with(webhook_secret, ${prefix})
      OR NOT starts_with(coalesce(webhook_secret_previous, ${prefix}), ${prefix}))
    ORDER BY merchant_id LIMIT ${limit}`;
}

/** One kept secret under a key, to find out whether the key fits; null where there is none. */
export async function sampleSecret(
  sql: AnySql,
  prefix: string,
): Promise<Pick<KeptSecrets, "merchantId" | "current"> | null> {
  const [row] = await sql<Pick<KeptSecrets, "merchantId" | "current">[]>`
    SELECT merchant_id AS "merchantId", webhook_secret AS current FROM book.merchant
    WHERE starts_with(webhook_secret, ${prefix}) LIMIT 1`;
  return row ?? null;
}

/**
 * Counts the secrets that are not under the newest key.
 *
 * @param keyIds of all keys that are known, the newest first
 */
export async function countSecrets(
  sql: AnySql,
  keyIds: readonly string[],
): Promise<SecretFigures> {
  const earlier = keyIds.slice(1);
  const [row] = await sql<SecretFigures[]>`
    SELECT (count(*) FILTER (WHERE webhook_url IS NOT NULL AND current <> ALL (${[
    ...keyIds,
  ]}::text[])))::int AS unreadable,
      (count(*) FILTER (WHERE current = ANY (${earlier}::text[]) OR previous = ANY (${earlier}::text[])))::int AS earlier
    FROM (
      SELECT webhook_url,
        substring(webhook_secret FROM '^enc1:([0-9a-f]{16}):') AS current,
        substring(webhook_secret_previous FROM '^enc1:([0-9a-f]{16}):') AS previous
      FROM book.merchant) m`;
  return row ?? { unreadable: 0, earlier: 0 };
}

/**
 * Puts secrets in the place of others that say the same. What was changed meanwhile stays, and so does
 * what another transaction holds. The account's version moves on with it: a node that has the profile
 * in memory would write the old text back with its next change, which by then cannot be read.
 *
 * @returns whether they were replaced
 */
export async function replaceSecrets(
  sql: Sql,
  old: KeptSecrets,
  fresh: Pick<KeptSecrets, "current" | "previous">,
): Promise<boolean> {
  try {
    return await sql.begin(async (tx) => {
      await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
      // the account first, as the journal locks them
      await tx`
        UPDATE book.account SET version = version + 1, last_commit = gen_random_uuid()
        WHERE merchant_id = ${old.merchantId}`;
      const replaced = await tx`
        UPDATE book.merchant SET webhook_secret = ${fresh.current}, webhook_secret_previous = ${fresh.previous}
        WHERE merchant_id = ${old.merchantId} AND webhook_secret = ${old.current}
          AND webhook_secret_previous IS NOT DISTINCT FROM ${old.previous} RETURNING 1`;
      return replaced.length > 0;
    });
  } catch (error) {
    if (classifyDatabaseError(error) !== "serialization") throw error;
    return false;
  }
}
