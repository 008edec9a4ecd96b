/**
 * What a signer worker may touch.
 *
 * @module
 */

import type { SignerSettings } from "./worker_protocol.ts";

/** The PostgreSQL client looks for its defaults under these names and fails where it may not. */
const POSTGRES_NAMES = "PG*";

/**
 * The least a signer worker can run with: its database, its two files, its own code, and what
 * the PostgreSQL client reads from the environment. Everything else is denied.
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
    env: [POSTGRES_NAMES],
    write: false,
    run: false,
    ffi: false,
    sys: false,
    import: false,
  };
}
