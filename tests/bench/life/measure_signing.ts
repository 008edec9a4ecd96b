/**
 * Signing alone: the signer as the service runs it, with its limits, its memory and its builder, on
 * one core; only the intents come from memory instead of the database.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import process from "node:process";
import type { Intent } from "../../../chains/signer.ts";
import { createSigner } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import { makeEnvelope } from "../../../chains/tron/pay/envelope.ts";
import { createTronTransferBuilder } from "../../../chains/tron/pay/transfer_builder.ts";
import { networkKeys, signingKey } from "../../../chains/wallet/network_keys.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import { someAddress } from "../../faults/support/chain_audit.ts";
import { requestOf } from "../../support/sign_request.ts";

const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
/** As the treasury asks for them. */
const BATCH = 100;
const WARM_UP = 500;

/** Signatures per second of processor time. @param count how many are made */
export async function measureSigning(count: number): Promise<number> {
  const keys = networkKeys(
    HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32))),
    "TRX",
  );
  const hot = signingKey(keys, "TRX", "hot");
  const intents = new Map<string, Intent>();
  const signer = createSigner({
    keys: { walletId: "bench", key: () => hot, address: () => hot.address, lock: () => {} },
    intents: {
      read: (ids) => Promise.resolve(ids.flatMap((id) => intents.get(id) ?? [])),
      readUsed: () => Promise.resolve([]),
    },
    builders: [createTronTransferBuilder({
      network: "TRX",
      contracts: { USDT },
      longestLifetimeMs: 600_000,
      highestFeeLimitSun: 150_000_000,
      clockToleranceMs: null,
    })],
    spending: new SpendingLimits({}),
    now: Date.now,
  });
  const solid = {
    height: 1_000,
    parentHeight: 999,
    hash: "0".repeat(13) + "3e8" + "ab".repeat(24),
    time: Date.now(),
  };
  const fee = { fee: amountOf("13.4"), limit: amountOf("16") };
  const envelope = makeEnvelope(
    "TRX",
    { ...solid, parentHash: "0".repeat(64), tick: solid.time },
    fee,
    300_000,
  );
  const sign = async (first: number, most: number) => {
    for (let from = first; from < first + most; from += BATCH) {
      const ids = Array.from({ length: BATCH }, (_, n) => `out_${from + n}`);
      const answers = await signer.sign(ids.map((outgoingId) => requestOf(outgoingId, envelope)));
      const refused = answers.find((answer) => "refused" in answer);
      if (refused !== undefined) throw new Error(`Cannot measure as ${JSON.stringify(refused)}`);
    }
  };
  for (let n = 0; n < WARM_UP + count; n++) {
    const outgoingId = `out_${n}`;
    intents.set(outgoingId, {
      outgoingId,
      kind: "payout",
      network: "TRX",
      currency: "USDT",
      amount: amountOf("10"),
      destination: someAddress(),
      destinationIndex: null,
      isDestinationClosed: false,
      wallet: "hot",
      payer: "hot",
      status: "queued",
      nonce: null,
      usedNonces: [],
    });
  }
  await sign(0, WARM_UP);
  const began = process.cpuUsage();
  await sign(WARM_UP, count);
  const { user, system } = process.cpuUsage(began);
  return count / (user + system) * 1_000_000;
}
