/**
 * What a signer worker may touch.
 *
 * @module
 */

import type { SignerSettings } from "./worker_protocol.ts";

/** The PostgreSQL client looks for its defaults under these names and fails where it may not. */
const POSTGRES_NAMES = "PG*";

/**
 * The `host:port` pairs of a connection string; PostgreSQL allows several, separated by commas.
 *
 * @throws {TypeError} when it names no host; the value is withheld, it holds a password
 */
export function databaseHosts(databaseUrl: string): string[] {
  const hosts = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#@]+)/.exec(databaseUrl)?.[1];
  if (hosts === undefined) {
    throw new TypeError("Cannot restrict the signer as its database URL names no host");
  }
  return hosts.split(",").map((host) => (/:\d+$/.test(host) ? host : `${host}:5432`));
}

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
  return {
    net: databaseHosts(settings.databaseUrl),
    read: [settings.walletFile, settings.passphraseFile, codeRoot],
    env: [POSTGRES_NAMES],
    write: false,
    run: false,
    ffi: false,
    sys: false,
    import: false,
  };
}
