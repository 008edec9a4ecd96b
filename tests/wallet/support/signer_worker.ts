/**
 * A signer worker whose intents lie in a file beside the wallet, with ids that make it misbehave.
 *
 * @module
 */

import { z } from "zod";
import { createSigner } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import { serveSigner } from "../../../app/workers/worker_signer.ts";
import type { Intent } from "../../../chains/signer.ts";
import { familyOf } from "../../../chains/families.ts";
import { readPassphraseFile } from "../../../chains/wallet/secret_file.ts";
import { unlockWallet } from "../../../chains/wallet/unlock_wallet.ts";
import { amountOf } from "../../../ledger/money/amount.ts";

const destinations = z.record(z.string(), z.string());

/** Crashes, hangs or fails with the state of a permission, as the ids say. */
async function misbehave(ids: readonly string[]): Promise<void> {
  if (ids.includes("crash")) {
    setTimeout(() => {
      throw new Error("the worker crashed");
    });
  }
  if (ids.includes("crash") || ids.includes("hang")) await new Promise(() => {});
  for (const descriptor of FORBIDDEN) {
    if (!ids.includes(descriptor.name)) continue;
    const { state } = await Deno.permissions.query(descriptor);
    throw new Error(`${descriptor.name} is ${state}`);
  }
}

const FORBIDDEN: Deno.PermissionDescriptor[] = [
  { name: "run" },
  { name: "write" },
  { name: "ffi" },
  { name: "sys" },
  { name: "net" },
  { name: "env" },
  { name: "read" },
];

serveSigner(async (settings) => {
  const keys = await unlockWallet(
    settings.walletFile,
    await readPassphraseFile(settings.passphraseFile),
  );
  const known = destinations.parse(
    JSON.parse(await Deno.readTextFile(`${settings.walletFile}.intents`)),
  );
  const read = async (ids: readonly string[]): Promise<Intent[]> => {
    await misbehave(ids);
    return ids.flatMap((outgoingId): Intent[] => {
      const destination = known[outgoingId];
      return destination === undefined ? [] : [{
        outgoingId,
        kind: "payout",
        network: "TRX",
        currency: "USDT",
        amount: amountOf("1"),
        destination,
        destinationIndex: null,
        isDestinationClosed: false,
        wallet: "hot",
        payer: "hot",
        status: "queued",
        nonce: null,
        usedNonces: [],
      }];
    });
  };
  return {
    signer: createSigner({
      keys,
      intents: { read, readUsed: () => Promise.resolve([]) },
      builders: await Promise.all(
        settings.networks.map((one) => familyOf(one.network).builder(one)),
      ),
      spending: new SpendingLimits({}),
      isPaused: () => false,
      now: Date.now,
    }),
    walletId: keys.walletId,
    close: () => Promise.resolve(keys.lock()),
  };
});
