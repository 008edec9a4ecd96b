/**
 * Settings of a signer, and the permissions that its worker needs for them.
 *
 * @module
 */

import type { SignerNetwork } from "../family.ts";
import type { ColdAddresses, Limits } from "./signing_rules.ts";

/** The PostgreSQL client looks for its defaults under these names and fails where it may not. */
const POSTGRES_NAMES = "PG*";

/** Network and files that the connection to the signer's database needs. */
interface DatabaseAccess {
  /** `host:port` of each server that is reached over the network. */
  readonly hosts: readonly string[];
  /** Unix sockets, as files. */
  readonly sockets: readonly string[];
  /** Files that are read: the certificates that are trusted. */
  readonly files: readonly string[];
}

/**
 * The least a signer worker can run with: its database, its two files, its own code, and what
 * the PostgreSQL client reads from the environment. Everything else is denied.
 *
 * @param codeRoot directory of the service's code
 * @param database what its connection string needs
 */
export function signerPermissions(
  settings: SignerSettings,
  codeRoot: URL,
  { hosts, sockets, files }: DatabaseAccess,
): Deno.PermissionOptionsObject {
  return {
    net: [...hosts, ...sockets.map((socket) => `unix:${socket}`)],
    read: [settings.walletFile, settings.passphraseFile, codeRoot, ...files, ...sockets],
    env: [POSTGRES_NAMES],
    write: sockets.length > 0 ? [...sockets] : false,
    run: false,
    ffi: false,
    sys: false,
    import: false,
  };
}

/** Settings of a signer, in a worker or in a process of its own. */
export interface SignerSettings {
  /** The signer's own connection, with a role that may only read intents. */
  readonly databaseUrl: string;
  readonly walletFile: string;
  readonly passphraseFile: string;
  readonly networks: readonly SignerNetwork[];
  readonly limits?: Limits;
  readonly coldAddresses?: ColdAddresses;
}
