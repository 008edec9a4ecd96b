import { registerWallet } from "../../ledger/addresses/wallets.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** Registers a wallet of a test that a signer has attested. */
export async function addWallet(
  sql: Sql,
  network: Network,
  hotWallet: string,
  walletId = "wal_test",
): Promise<void> {
  await registerWallet(sql, network, { walletId, hotWallet, fingerprint: "0".repeat(64) });
  await sql`UPDATE hub.wallet SET attested_at = now() WHERE network = ${network}`;
}
