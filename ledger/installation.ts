import type { AnySql } from "./database/connect.ts";

/** A database was begun in another environment; the message is one line for the operator. */
export class OtherEnvironment extends Error {
  override readonly name = "OtherEnvironment";
}

/**
 * Writes the environment into a database that is begun with it, and compares it with the one of any other.
 *
 * @throws {OtherEnvironment} where the database was begun in another one
 */
export async function requireEnvironment(sql: AnySql, environment: string): Promise<void> {
  await sql`
    INSERT INTO hub.installation (environment) VALUES (${environment}) ON CONFLICT DO NOTHING`;
  const [kept] = await sql<{ environment: string }[]>`SELECT environment FROM hub.installation`;
  if (kept === undefined || kept.environment === environment) return;
  throw new OtherEnvironment(
    `Cannot use this database for ${environment} as it was begun for ${kept.environment}: ` +
      `set ENVIRONMENT=${kept.environment}, or begin a new database in DATABASE_URL`,
  );
}

/** The environment that a database was begun in; null where it was not begun, or has no table for it yet. */
export async function readEnvironment(sql: AnySql): Promise<string | null> {
  const [table] = await sql<{ there: boolean }[]>`
    SELECT to_regclass('hub.installation') IS NOT NULL AS there`;
  if (table?.there !== true) return null;
  const [kept] = await sql<{ environment: string }[]>`SELECT environment FROM hub.installation`;
  return kept?.environment ?? null;
}
