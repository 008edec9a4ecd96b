/**
 * Composition root of the signer worker: the wallet's keys, the intents over a connection of its
 * own, and the builders of the networks it signs for.
 *
 * @module
 */

import { createSigner } from "../chains/signer/create_signer.ts";
import { type RunningSigner, serveSigner } from "../chains/signer/serve_signer.ts";
import type { SignerSettings } from "../chains/signer/worker_protocol.ts";
import { createTronTransferBuilder } from "../chains/tron/tron_transfer_builder.ts";
import { readPassphraseFile } from "../chains/wallet/secret_file.ts";
import { unlockWallet } from "../chains/wallet/unlock_wallet.ts";
import { connect } from "../ledger/database/connect.ts";
import { createIntentSource } from "../ledger/queries/read_intents.ts";

/** Well below the time-out of a signature. */
const STATEMENT_TIMEOUT_MS = 5_000;

/** Composes a signer. */
async function start(settings: SignerSettings, isPaused: () => boolean): Promise<RunningSigner> {
  const keys = await unlockWallet(
    settings.walletFile,
    await readPassphraseFile(settings.passphraseFile),
  );
  const sql = connect(settings.databaseUrl, {
    max: 2,
    applicationName: "signer",
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const signer = createSigner({
    keys,
    intents: createIntentSource(sql),
    builders: settings.networks.map(createTronTransferBuilder),
    ...(settings.limits === undefined ? {} : { limits: settings.limits }),
    isPaused,
    now: Date.now,
  });
  return {
    signer,
    walletId: keys.walletId,
    async close() {
      keys.lock();
      await sql.end({ timeout: 3 });
    },
  };
}

serveSigner(start);
