import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Intent } from "../../chains/signer.ts";
import {
  destinationFault,
  SpendingLimits,
  type WalletAddresses,
} from "../../chains/signer/signing_rules.ts";
import { amountOf, ZERO } from "../../ledger/money/amount.ts";
import { TRANSFER_KINDS } from "../../ledger/money/transfer_kinds.ts";

/** The keys as far as this rule is concerned: an address is named after its place. */
const own: WalletAddresses = {
  address: (network, wallet) => network === "TRX" ? `own-${wallet}` : null,
};
const cold = { TRX: "cold" };

const PAYOUT: Intent = {
  outgoingId: "out_1",
  kind: "payout",
  network: "TRX",
  currency: "USDT",
  amount: amountOf("1"),
  destination: "stranger",
  destinationIndex: null,
  isDestinationClosed: false,
  wallet: "hot",
  payer: "hot",
  status: "queued",
  nonce: null,
  usedNonces: [],
};
const SWEEP: Partial<Intent> = { kind: "sweep", wallet: 3, destination: "own-hot" };
const GAS: Partial<Intent> = {
  kind: "gas",
  currency: "native",
  destination: "own-7",
  destinationIndex: 7,
};
const SETUP: Partial<Intent> = {
  kind: "setup",
  currency: "native",
  amount: ZERO,
  destination: "contract",
};
const COLD: Partial<Intent> = { kind: "cold", destination: "cold" };

const allowed: Record<string, Partial<Intent>> = {
  "a payout to somebody else": {},
  "a settlement to somebody else": { kind: "settlement" },
  "a payout to a deposit address of another account": { destinationIndex: 3 },
  "a sweep of tokens to the hot wallet": SWEEP,
  "a sweep of the coin to the hot wallet": { ...SWEEP, currency: "native" },
  "gas for an address of ours": GAS,
  "energy lent to an address of ours": { ...GAS, kind: "delegation" },
  "energy taken back from an address of ours": { ...GAS, kind: "reclaim" },
  "a cold transfer to the configured address": COLD,
  "a cold transfer of the coin": { ...COLD, currency: "native" },
  "the set-up that the chain's own builder names": SETUP,
};
for (const [what, changes] of Object.entries(allowed)) {
  Deno.test(`the signer signs ${what}`, () => {
    assertEquals(destinationFault({ ...PAYOUT, ...changes }, own, cold, "contract"), null);
  });
}

const refused: Record<string, { readonly of: Partial<Intent>; readonly says: string }> = {
  "a payout to the hot wallet": { of: { destination: "own-hot" }, says: "is our own" },
  "a payout to the cold wallet": { of: { destination: "cold" }, says: "is our own" },
  "a payout to a deposit address of the account that pays": {
    of: { destinationIndex: 3, isDestinationClosed: true },
    says: "is our own",
  },
  "a payout from a deposit address": { of: { wallet: 3 }, says: "leaves the hot wallet" },
  "a payout of the coin": { of: { currency: "native" }, says: "moves tokens" },
  "a settlement to the hot wallet": {
    of: { kind: "settlement", destination: "own-hot" },
    says: "is our own",
  },
  "a sweep to a stranger": { of: { ...SWEEP, destination: "thief" }, says: "hot wallet only" },
  "a sweep to another deposit address": {
    of: { ...SWEEP, destination: "own-4", destinationIndex: 4 },
    says: "hot wallet only",
  },
  "a sweep out of the hot wallet": { of: { ...SWEEP, wallet: "hot" }, says: "deposit address" },
  "a sweep on a network without keys": {
    of: { ...SWEEP, network: "TRX_SHASTA" },
    says: "hot wallet only",
  },
  "gas for a stranger": {
    of: { ...GAS, destination: "thief", destinationIndex: null },
    says: "of our own keys",
  },
  "gas for an address that the database calls ours and the keys do not": {
    of: { ...GAS, destination: "thief" },
    says: "of our own keys",
  },
  "gas in tokens": { of: { ...GAS, currency: "USDT" }, says: "moves the chain's coin" },
  "energy lent to a stranger": {
    of: { ...GAS, kind: "delegation", destination: "thief" },
    says: "of our own keys",
  },
  "energy lent by a deposit address": {
    of: { ...GAS, kind: "delegation", wallet: 3 },
    says: "leaves the hot wallet",
  },
  "a cold transfer to a stranger": { of: { ...COLD, destination: "thief" }, says: "to cold only" },
  "a cold transfer where no cold address is configured": {
    of: { ...COLD, network: "TRX_SHASTA" },
    says: "no cold address",
  },
  "a cold transfer out of a deposit address": {
    of: { ...COLD, wallet: 3 },
    says: "leaves the hot wallet",
  },
  "a set-up of another contract": {
    of: { ...SETUP, destination: "thief" },
    says: "is for contract only",
  },
  "a set-up out of a deposit address": {
    of: { ...SETUP, wallet: 3 },
    says: "leaves the hot wallet",
  },
  "a set-up in tokens": { of: { ...SETUP, currency: "USDT" }, says: "moves the chain's coin" },
};
for (const [what, { of: changes, says }] of Object.entries(refused)) {
  Deno.test(`the signer refuses ${what}`, () => {
    const fault = destinationFault({ ...PAYOUT, ...changes }, own, cold, "contract");
    assertStringIncludes(fault ?? "", says);
  });
}

Deno.test("the signer refuses a set-up on a network that needs none", () => {
  assertEquals(
    destinationFault({ ...PAYOUT, ...SETUP }, own, cold, null),
    "TRX needs no setup",
  );
});

Deno.test("what stays with us does not count against the caps", () => {
  const counted = TRANSFER_KINDS.filter((kind) =>
    new SpendingLimits({}).count([{ ...PAYOUT, kind }], 0)
  );
  assertEquals(counted, ["payout", "settlement", "gas"]);
  const capped = new SpendingLimits({ "USDT/TRX": { perTransaction: amountOf("0.5") } });
  assertEquals(
    TRANSFER_KINDS.filter((kind) => capped.fault([{ ...PAYOUT, kind }], 0) !== null),
    counted,
  );
});
