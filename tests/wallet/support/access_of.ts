import type { SignerSettings } from "../../../chains/signer/signer_settings.ts";
import { type DatabaseAccess, databaseAccess } from "../../../ledger/database/database_url.ts";

/** The access to its database that a worker gets for these settings. */
export function accessOf({ databaseUrl }: SignerSettings): DatabaseAccess {
  const access = databaseAccess(databaseUrl);
  if (access === null) throw new Error("Cannot go on as the test has no database's URL");
  return access;
}
