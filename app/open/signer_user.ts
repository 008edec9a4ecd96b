/**
 * Two system users: the service must not be able to read what only the signer may, so that an
 * intruder in the service has no way to the keys.
 *
 * @module
 */

import { WalletFault } from "../../chains/wallet/secret_file.ts";
import type { Config } from "../config/config.ts";

/**
 * The reason why the service must not run as this user beside a signer; null where it may.
 *
 * @param user number of the service's user; null where the system has none
 * @param owner number of the user that owns the signer's socket; null while there is none
 */
export function sharedUser(user: number | null, owner: number | null): string | null {
  if (user === null) return null;
  if (user === 0) return "the service runs as root, which can read the signer's passphrase";
  return user === owner
    ? "the service runs as the signer's user, which can read its passphrase"
    : null;
}

/** True if a file can be read by this process. */
async function canRead(path: string): Promise<boolean> {
  try {
    (await Deno.open(path, { read: true })).close();
    return true;
  } catch (error) {
    const { NotFound, PermissionDenied, NotCapable, NotADirectory } = Deno.errors;
    const kinds = [NotFound, PermissionDenied, NotCapable, NotADirectory];
    if (kinds.some((kind) => error instanceof kind)) return false;
    throw error;
  }
}

/** Number of the user that owns the signer's socket; null while there is none. */
export async function socketOwner(path: string): Promise<number | null> {
  try {
    return (await Deno.lstat(path)).uid;
  } catch (error) {
    const { NotFound, PermissionDenied } = Deno.errors;
    if (error instanceof NotFound || error instanceof PermissionDenied) return null;
    throw error;
  }
}

/** Facts that show whether the service is apart from its signer. */
export interface Apartness {
  /** The signer's socket. */
  readonly socket: string;
  /** Files of the signer that the service knows of, as its environment names them. */
  readonly secrets: readonly string[];
  /** Number of the service's user. */
  readonly user: number | null;
}

/**
 * Refuses to go on where the service can read what only the signer may.
 *
 * @throws {WalletFault} naming what to change
 */
export async function requireApart({ socket, secrets, user }: Apartness): Promise<void> {
  for (const path of secrets) {
    if (!await canRead(path)) continue;
    throw new WalletFault(
      `Cannot run as the service can read what only the signer may, give it to the signer's user with mode 600: ${path}`,
    );
  }
  const fault = sharedUser(user, await socketOwner(socket));
  if (fault === null) return;
  throw new WalletFault(
    `Cannot run as ${fault}: give each a system user of its own (docs/operations.md, "Users and groups")`,
  );
}

/**
 * Refuses to serve where the service can read what only its signer may; in development it is free to.
 *
 * @param passphraseFile the configured or the usual one; one that the environment names is tried too
 * @throws {WalletFault} naming what to change
 */
export async function requireOwnUser(config: Config, passphraseFile: string): Promise<void> {
  const { socket } = config.signer;
  if (config.environment === "development" || socket === null) return;
  const named = Deno.env.get("WALLET_PASSPHRASE_FILE");
  const secrets = [passphraseFile, ...(named === undefined ? [] : [named])];
  await requireApart({ socket, secrets, user: Deno.uid() });
}
