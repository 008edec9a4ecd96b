import type { Sql } from "postgres";
import type { Network } from "../pair.ts";

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
 * Keeps that a signer has the keys of the wallet; a repeated call changes nothing.
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
