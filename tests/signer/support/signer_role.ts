import { grantSignerRole } from "../../../ledger/database/grant_signer_role.ts";
import type { Sql } from "../../../ledger/database/connect.ts";

/** A role that may do what the signer may. */
export interface SignerRole extends AsyncDisposable {
  readonly name: string;
  /** Connection string of the database as this role. */
  readonly url: string;
}

/**
 * Makes a role as an operator would.
 *
 * @param url of the same database, as any role
 */
export async function signerRole(sql: Sql, url: string): Promise<SignerRole> {
  const name = `signer_${crypto.randomUUID().replaceAll("-", "")}`;
  await sql.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`);
  const fault = await grantSignerRole(sql, name);
  if (fault !== null) throw new Error(fault);
  const own = new URL(url);
  own.username = own.password = name;
  return {
    name,
    url: own.href,
    async [Symbol.asyncDispose]() {
      await sql.unsafe(`DROP OWNED BY ${name}`);
      await sql.unsafe(`DROP ROLE ${name}`);
    },
  };
}
