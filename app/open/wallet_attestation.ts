import { logEvent } from "../../log/log_event.ts";
import type { SignerWallet } from "../../chains/signer/socket_client.ts";
import { networkFingerprint, type PublicWallet } from "../../chains/wallet/public_wallet.ts";
import { attestWallet, readUnattested } from "../../ledger/addresses/wallets.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** Pause between two polls of the signer before it has attested the wallet. */
const POLL_MS = 250;

/** The signer's word on the service's wallet. */
export interface WalletAttestation {
  /** Reason for which no address may be handed out; null while they may. */
  held(): string | null;
  close(): Promise<void>;
}

/**
 * Compares the service's wallet with the signer's. Until a signer has said once that it has the keys,
 * which is stored in the database, no address is handed out: the public file might have been exchanged
 * before the first start. Afterwards the signer may be away.
 *
 * @param signerWallet the signer's last word
 */
export async function openAttestation(
  sql: Sql,
  wallet: PublicWallet,
  networks: readonly Network[],
  signerWallet: () => SignerWallet,
): Promise<WalletAttestation> {
  let open = await readUnattested(sql, networks);
  let running: Promise<void> | null = null;
  const attest = async () => {
    if (signerWallet() !== "same") return;
    for (const network of open) {
      const fingerprint = networkFingerprint(wallet, network);
      if (fingerprint !== null) await attestWallet(sql, network, fingerprint);
    }
    open = await readUnattested(sql, networks);
  };
  await attest();
  const timer = open.length === 0 ? undefined : setInterval(() => {
    if (open.length === 0) return clearInterval(timer);
    running ??= attest()
      .catch((error: unknown) => logEvent("wallet.unattested", { error }))
      .finally(() => running = null);
  }, POLL_MS);
  return {
    held() {
      if (signerWallet() === "other") return "the signer has another wallet";
      if (open.length === 0) return null;
      return `no signer has said yet that it has the keys of this wallet: ${open.join(", ")}`;
    },
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
