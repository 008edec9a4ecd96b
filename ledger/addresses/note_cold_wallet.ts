import type { Sql } from "postgres";
import type { Network } from "../pair.ts";

/**
 * Keeps which cold wallet a network has, as it is configured now. By it a transfer of the hot wallet that
 * the books do not know is recognised as one that has stayed in the house. What was found before stays
 * what it was: no address that is configured later lets signing continue.
 *
 * @param address null: none is configured
 * @throws {PostgresError} `check_violation` when it is the hot wallet
 */
export async function noteColdWallet(
  sql: Sql,
  network: Network,
  address: string | null,
): Promise<void> {
  await sql`
    UPDATE hub.wallet SET cold_wallet = ${address}
    WHERE network = ${network} AND cold_wallet IS DISTINCT FROM ${address}`;
}
