import postgres, { type Sql } from "postgres";
import { assertMigrated } from "./migrate.ts";

/** Everything that signing reads; anything else the role has is taken away. */
const READABLE = [
  [
    "book.outgoing",
    "id, kind, network, currency, amount, wallet, fee_payer, destination, status, nonce",
  ],
  ["book.attempt", "outgoing_id, txid, nonce, outcome, bytes"],
  ["book.lane_nonce", "network, payer, nonce, used_by, foreign_bytes"],
  ["hub.address", "network, address, wallet_index"],
] as const;

/** SQLSTATE insufficient_privilege. */
const FORBIDDEN = "42501";
/** The setting that makes a role's transactions read-only unless they say otherwise. */
const READ_ONLY = "default_transaction_read_only=on";

/**
 * Reduces a role to what the signer reads: the columns of intents that decide who is paid how much,
 * which numbers are promised to them and which were used, under which index an address is known as ours, and whether a payout would go to its own payer. The
 * role has to exist; what else it may do in the book's schemas is revoked. Running it again changes
 * nothing.
 *
 * The owner of the tables may grant, but change a role only where it may make roles, so that the
 * role's setting is made by an administrator of the server where it lacks.
 *
 * @param role name of an existing role
 * @throws {MigrationMismatch} where the database and this version do not fit together
 * @returns null, or why nothing was changed and who mends it how, in one line for the operator
 */
export async function grantSignerRole(sql: Sql, role: string): Promise<string | null> {
  const [known] = await sql<{ settings: string[] }[]>`
    SELECT coalesce(rolconfig, '{}') AS settings FROM pg_roles WHERE rolname = ${role}`;
  if (known === undefined) {
    return `Cannot reduce a role that does not exist; as an administrator of the server: CREATE ROLE "${role}" LOGIN PASSWORD '...'`;
  }
  const [schema] = await sql<{ there: boolean }[]>`
    SELECT to_regclass('book.outgoing') IS NOT NULL AS there`;
  if (schema?.there !== true) {
    return "Cannot reduce a role before the database has its tables: deno task admin bootstrap, or the first start of the service, makes them";
  }
  await assertMigrated(sql);
  try {
    await sql.begin(async (tx) => {
      const name = tx(role);
      for (const schema of ["book", "hub"]) {
        await tx`REVOKE ALL ON ALL TABLES IN SCHEMA ${tx(schema)} FROM ${name}`;
        await tx`REVOKE ALL ON ALL SEQUENCES IN SCHEMA ${tx(schema)} FROM ${name}`;
        await tx`REVOKE ALL ON SCHEMA ${tx(schema)} FROM ${name}`;
        await tx`GRANT USAGE ON SCHEMA ${tx(schema)} TO ${name}`;
      }
      for (const [table, columns] of READABLE) {
        await tx`GRANT SELECT (${tx(columns.split(", "))}) ON ${tx(table)} TO ${name}`;
      }
      await tx`GRANT EXECUTE ON FUNCTION book.closed_destinations(text[]) TO ${name}`;
      if (known.settings.includes(READ_ONLY)) return;
      await tx`ALTER ROLE ${name} SET default_transaction_read_only = on`;
    });
    return null;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || error.code !== FORBIDDEN) throw error;
    return `Cannot reduce the role as the one of DATABASE_URL may not (${error.message}): let it own the tables, and give the setting as an administrator of the server: ALTER ROLE "${role}" SET default_transaction_read_only = on`;
  }
}
