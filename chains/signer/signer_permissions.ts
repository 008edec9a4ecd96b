/**
 * What a signer worker may touch.
 *
 * @module
 */

import type { SignerSettings } from "./worker_protocol.ts";

/** What the PostgreSQL client looks for in the environment, used or not; no value is a secret. */
const POSTGRES_NAMES = [
  "PGAPPNAME",
  "PGBACKOFF",
  "PGDEBUG",
  "PGIDLE_TIMEOUT",
  "PGKEEP_ALIVE",
  "PGMAX_LIFETIME",
  "PGMAX_PIPELINE",
  "PGPREPARE",
  "PGPUBLICATIONS",
  "PGSSL",
  "PGSSLNEGOTIATION",
  "PGTARGETSESSIONATTRS",
  "PGTARGET_SESSION_ATTRS",
];

/**
 * The least a signer worker can run with: its database, its two files, its own code, and the names
 * that the PostgreSQL client reads from the environment. Everything else is denied.
 *
 * @param codeRoot directory of the service's code
 */
export function signerPermissions(
  settings: SignerSettings,
  codeRoot: URL,
): Deno.PermissionOptionsObject {
  const database = new URL(settings.databaseUrl);
  return {
    net: [`${database.hostname}:${database.port === "" ? "5432" : database.port}`],
    read: [settings.walletFile, settings.passphraseFile, codeRoot],
    env: POSTGRES_NAMES,
    write: false,
    run: false,
    ffi: false,
    sys: false,
    import: false,
  };
}
