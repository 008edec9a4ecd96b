import type { Sql } from "postgres";
import type { Network } from "../pair.ts";

/** One network of a wallet, as the database knows it. */
export interface WalletIdentity {
  /** `wal_<uuid>`. */
  readonly walletId: string;
  /** Address that payouts leave from. */
  readonly hotWallet: string;
  /** Digest of the network's public part, 64 hexadecimal digits. */
  readonly fingerprint: string;
}

/**
 * Why a wallet must not be used with a database: `another` is registered there; it is the same one
 * by name, but not by its public keys (`changed`); the one registered there is of the old form (`old-form`).
 */
export type WalletMismatch = "another" | "changed" | "old-form";

/**
 * Registers the wallet that a network's addresses are derived from, or compares it with the one that is.
 *
 * @returns null where the wallet is the database's own
 */
export async function registerWallet(
  sql: Sql,
  network: Network,
  { walletId, hotWallet, fingerprint }: WalletIdentity,
): Promise<WalletMismatch | null> {
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint)
    VALUES (${network}, ${walletId}, ${hotWallet}, ${fingerprint})
    ON CONFLICT DO NOTHING`;
  const [row] = await sql<{ wallet_id: string; hot_wallet: string; fingerprint: string | null }[]>`
    SELECT wallet_id, hot_wallet, fingerprint FROM hub.wallet WHERE network = ${network}`;
  if (row === undefined) throw new Error(`Cannot register a wallet as its row is gone: ${network}`);
  if (row.fingerprint === null) return "old-form";
  if (row.wallet_id !== walletId) return "another";
  return row.hot_wallet === hotWallet && row.fingerprint === fingerprint ? null : "changed";
}
