/**
 * A chain that says what a test tells it to, for rules of the actors that no real chain brings
 * about on demand, and a signer that signs everything.
 *
 * @module
 */

import { addressFromLogHex, addressToLogHex, tronAddress } from "../../chains/tron/address.ts";
import type { BlockRef, BroadcastOutcome, Chain } from "../../chains/chain.ts";
import type { GasPort } from "../../chains/fees.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { amount } from "./books.ts";

/** The newest block of a chain on paper, in both views. */
export const PAPER_BLOCK: BlockRef = {
  height: 7,
  parentHeight: 6,
  hash: "7",
  parentHash: "6",
  time: 1_700_000_000_000,
  tick: 1_700_000_000_000,
};

/** A chain on paper; what a test does not replace is calm, rich and accepts everything. */
export function paperChain(network: Network, replaced: Partial<Chain> = {}): Chain {
  const solid = PAPER_BLOCK;
  const accepted: BroadcastOutcome = { category: "accepted", retryable: true };
  return {
    network,
    capabilities: {
      currencies: ["USDT", "USDC"],
      life: { kind: "expires", ticks: 60_000, ms: 60_000 },
      sweepsAtOnce: 1,
      blockMs: 3_000,
    },
    hotWallet: "hot-wallet",
    address: (text) => text,
    addressOf: (event) => /^[0-9a-f]{40}$/.test(event) ? addressFromLogHex(event) : event,
    eventAddress: eventAddressOf,
    transactionId: (text) => text,
    deriveAddress: (index) => `address-${index}`,
    head: () => Promise.resolve(solid),
    // of the chain that it is called on, whose head and lane a test may have replaced
    async furthest(signal) {
      const { life } = this.capabilities;
      const nonce = life.kind === "nonce"
        ? await life.lane.next(this.hotWallet, "head", signal)
        : null;
      return { ...await this.head(signal), behindMs: 0, nonce };
    },
    solid: () => Promise.resolve(solid),
    block: (height) => Promise.resolve({ kind: "missing", height }),
    async *blocks() {},
    transaction: (txid) => Promise.resolve({ kind: "missing", txid }),
    estimateFee: () => Promise.resolve({ fee: amount("1"), limit: amount("2") }),
    envelope: ({ time }) => ({
      network,
      fields: {},
      diesAfter: time + 60_000,
      nonce: null,
      expiresAt: time + 60_000,
    }),
    termsOf: (bytes, near) => ({
      beginning: near,
      diesAfter: diesAfterOf(bytes),
      nonce: null,
      feeLimit: amount("2"),
    }),
    broadcast: () => Promise.resolve(accepted),
    balanceOf: () => Promise.resolve(amount("1000000")),
    tokenSwitches: () =>
      Promise.resolve({ isPaused: false, keepsPart: false, successor: null, isBlocked: false }),
    ...replaced,
  };
}

/** Needs of sweeps on paper: coin is there, nothing is staked. */
export function paperGas(replaced: Partial<GasPort> = {}): GasPort {
  return {
    sweepCosts: () =>
      Promise.resolve({
        isActive: true,
        coin: amount("100"),
        fee: { fee: amount("1"), limit: amount("2") },
        cost: amount("1"),
        enough: amount("2"),
        costAtMost: amount("2"),
        costDelegated: amount("0"),
        stakeNeeded: null,
        costByCoin: amount("1"),
        costByDelegation: amount("1"),
      }),
    delegatable: () => Promise.resolve(amount("0")),
    delegatedTo: () => Promise.resolve(amount("0")),
    ...replaced,
  };
}

/** The last tick of bytes that {@linkcode paperSigner} has signed; its ticks are milliseconds. */
function diesAfterOf(bytes: string): number {
  return Number(/^\{"expiresAt":(\d+)\}$/.exec(bytes)?.[1] ?? 1_800_000_000_000);
}

/** A receiver as events would carry it: an address of TRON as hex, a made-up one as it is. */
export function eventAddressOf(address: string): string {
  return tronAddress(address) === null ? address : addressToLogHex(address);
}

/** A signer without keys; every intent gets a transaction id of its own, at every signer another. */
export function paperSigner(): Signer {
  const own = crypto.randomUUID().replaceAll("-", "");
  let signed = 0;
  return {
    sign: (requests) =>
      Promise.resolve(requests.map(({ outgoingIds, envelope: { expiresAt } }) => {
        const txid = own + (++signed).toString(16).padStart(64 - own.length, "0");
        return { outgoingIds, signed: { txid, bytes: JSON.stringify({ expiresAt }), expiresAt } };
      })),
  };
}
