import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

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
 * Reasons why a wallet must not be used with a database: `another` is registered there; it is the same one
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

/** Networks whose wallet no signer has attested yet. */
export async function readUnattested(
  sql: Sql,
  networks: readonly Network[],
): Promise<readonly Network[]> {
  const rows = await sql<{ network: Network }[]>`
    SELECT network FROM hub.wallet
    WHERE network = ANY (${[...networks]}::text[]) AND attested_at IS NULL`;
  return rows.map(({ network }) => network);
}

/**
 * Stores that a signer has the keys of the wallet; a repeated call changes nothing.
 *
 * @param fingerprint digest of the network's public part that the signer was compared with
 */
export async function attestWallet(
  sql: Sql,
  network: Network,
  fingerprint: string,
): Promise<void> {
  await sql`
    UPDATE hub.wallet SET attested_at = now()
    WHERE network = ${network} AND fingerprint = ${fingerprint} AND attested_at IS NULL`;
}

/**
 * Stores which cold wallet a network has, as it is configured now. By it a transfer of the hot wallet that
 * the books do not know is recognised as one that has stayed with the service. What was found before stays
 * what it was: no address that is configured later lets signing continue.
 *
 * @param address null: none is configured
 * @throws {PostgresError} `check_violation` when it is the hot wallet
 */
export async function storeColdWallet(
  sql: Sql,
  network: Network,
  address: string | null,
): Promise<void> {
  await sql`
    UPDATE hub.wallet SET cold_wallet = ${address}
    WHERE network = ${network} AND cold_wallet IS DISTINCT FROM ${address}`;
}
