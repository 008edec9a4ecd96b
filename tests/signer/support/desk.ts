/**
 * A signer with the service's own bounds over an intent that is always queued, as a treasury gone
 * wrong would find it.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import type { Envelope } from "../../../chains/chain.ts";
import type { Intent, SignAnswer, Signer } from "../../../chains/signer.ts";
import { createSigner, type SignerOptions } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import { makeEnvelope } from "../../../chains/tron/pay/envelope.ts";
import { createTronTransferBuilder } from "../../../chains/tron/pay/transfer_builder.ts";
import { networkKeys, signingKey } from "../../../chains/wallet/network_keys.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import { CLOCK_TOLERANCE_MS, LIFETIME_MS } from "../../../chains/tron/terms.ts";
import { requestOf } from "../../support/sign_request.ts";

/** Time at which its clock begins, Unix milliseconds. */
export const START = 1_750_000_000_000;

const tronKeys = networkKeys(HDKey.fromMasterSeed(new Uint8Array(32).fill(7)), "TRX");
const HOT = signingKey(tronKeys, "TRX", "hot");
/** A deposit address of its keys. */
export const OWN = { index: 7, address: signingKey(tronKeys, "TRX", 7).address } as const;

/** A signer with its clock and its intents. */
export interface Desk {
  readonly signer: Signer;
  /** Its clock, Unix milliseconds; a test moves it. */
  now: number;
  /** The parts of every intent besides its id. */
  intent: Omit<Intent, "outgoingId">;
  /** Asks for one signature. @param blockTime of the envelope, Unix milliseconds */
  ask(blockTime: number, outgoingId?: string): Promise<SignAnswer>;
}

/** An envelope on a block of a time. */
export function envelopeAt(blockTime: number): Envelope {
  const height = Math.floor(blockTime / 3_000);
  const hash = `${height.toString(16).padStart(16, "0")}${"5e".repeat(24)}`;
  const fee = { fee: amountOf("7"), limit: amountOf("8") };
  return makeEnvelope(
    "TRX",
    {
      height,
      parentHeight: height - 1,
      hash,
      parentHash: "00".repeat(32),
      time: blockTime,
      tick: blockTime,
    },
    fee,
    LIFETIME_MS,
  );
}

/** Opens one. @param clockToleranceMs `null`: blocks are made on demand, at any time */
export function openDesk(
  changes: Partial<SignerOptions> = {},
  clockToleranceMs: number | null = CLOCK_TOLERANCE_MS,
): Desk {
  const signer = createSigner({
    keys: {
      walletId: "wal_1",
      key: (_, wallet) => (wallet === "hot" ? HOT : null),
      address: (_, wallet) => (wallet === "hot" ? HOT.address : OWN.address),
      lock: () => {},
    },
    intents: {
      read: (ids) => Promise.resolve(ids.map((outgoingId) => ({ ...desk.intent, outgoingId }))),
      readUsed: () => Promise.resolve([]),
    },
    builders: [createTronTransferBuilder({
      network: "TRX",
      contracts: { USDT: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
      longestLifetimeMs: LIFETIME_MS,
      highestFeeLimitSun: 150_000_000,
      clockToleranceMs,
    })],
    spending: new SpendingLimits({}),
    now: () => desk.now,
    ...changes,
  });
  const desk: Desk = {
    signer,
    now: START,
    intent: {
      kind: "payout",
      network: "TRX",
      currency: "USDT",
      amount: amountOf("12.5"),
      destination: "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8",
      destinationIndex: null,
      isDestinationClosed: false,
      wallet: "hot",
      payer: "hot",
      status: "queued",
      nonce: null,
      usedNonces: [],
    },
    async ask(blockTime, outgoingId = "out_1") {
      const [answer] = await signer.sign([requestOf(outgoingId, envelopeAt(blockTime))]);
      if (answer === undefined) throw new Error("The signer did not answer");
      return answer;
    },
  };
  return desk;
}

/** The transaction of an answer. */
export function signedOf(answer: SignAnswer | undefined) {
  if (answer === undefined || "refused" in answer) {
    throw new Error(`The signer refused: ${JSON.stringify(answer)}`);
  }
  const { signed: { expiresAt, ...signed } } = answer;
  if (expiresAt === null) throw new Error("The signature has no time of expiry");
  return { ...signed, expiresAt };
}

/** A refusal and why; `null` when it signed. */
export function refusalOf(answer: SignAnswer | undefined): string | null {
  return answer !== undefined && "refused" in answer
    ? `${answer.refused}: ${answer.message}`
    : null;
}
