import type { Sql } from "postgres";

/** Everything that signing reads; anything else the role has is taken away. */
const READABLE = [
  ["book.outgoing", "id, kind, network, currency, amount, wallet, destination, status"],
  ["hub.address", "network, address, wallet_index"],
] as const;

/**
 * Reduces a role to what the signer reads: the columns of intents that decide who is paid how much,
 * under which index an address is known as ours, and whether a payout would go to its own payer. The
 * role has to exist; what else it may do in the book's schemas is revoked. Running it again changes
 * nothing.
 *
 * @param role name of an existing role
 * @throws when the role does not exist, or the caller may not grant
 */
export async function grantSignerRole(sql: Sql, role: string): Promise<void> {
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
    await tx`ALTER ROLE ${name} SET default_transaction_read_only = on`;
  });
}
