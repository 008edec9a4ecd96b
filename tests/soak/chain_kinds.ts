import type { FaultKind } from "../../devchain/faults.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { BNB_RIG, ETH_RIG } from "../faults/support/rig_evm.ts";
import type { RigFamily } from "../faults/support/rig_family.ts";
import { TRON_RIG } from "../faults/support/rig_tron.ts";

/** A fault as the development chain is asked for it. */
export interface Fault {
  readonly path: string;
  readonly kind: FaultKind;
  readonly probability: number;
  readonly late?: boolean;
  readonly forget?: boolean;
  readonly perSecond?: number;
  readonly suspendSeconds?: number;
  readonly behind?: number;
}

/** A fault that is drawn: its probability, and true or false for what may be either. */
export interface Drawn {
  readonly probability: number;
  readonly isEither: boolean;
}

/** A kind of chains as a soak goes by it. */
export interface SoakKind {
  readonly family: RigFamily;
  /** Paths of reads, of which faults are put on one. */
  readonly reads: readonly string[];
  /** The faults of which one is drawn, on a path of reads. */
  faults(read: string, drawn: Drawn): readonly Fault[];
  /** Allowed to the development chain's process besides. */
  readonly permissions: readonly string[];
  /** Coin that the hot wallet is given: far more than thousands of payouts burn. */
  readonly coin: string;
}

const TRON_BROADCAST = TRON_RIG.paths.broadcast;

const TRON: SoakKind = {
  family: TRON_RIG,
  reads: ["*", "/wallet/*", "/walletsolidity/*", "/walletsolidity/getblock"],
  permissions: [],
  coin: "5000000",
  faults: (read, { probability, isEither: late }) => [
    { path: read, kind: "error-500", probability, late },
    { path: read, kind: "busy-429", probability: probability / 2, late },
    { path: "*", kind: "limit-per-second", probability: 1, perSecond: 60, suspendSeconds: 2 },
    { path: read, kind: "lite-node", probability: probability / 2 },
    { path: read, kind: "closed-api", probability: probability / 2 },
    { path: read, kind: "call-exception", probability },
    { path: "/walletsolidity/*", kind: "two-nodes", probability: 1, behind: 2 },
    { path: read, kind: "timeout", probability: probability / 20, late },
    { path: "*", kind: "lagging-receipts", probability, late },
    { path: TRON_BROADCAST, kind: "error-500", probability, late },
    { path: TRON_BROADCAST, kind: "timeout", probability: probability / 10, late },
    { path: TRON_BROADCAST, kind: "lost-broadcast", probability: Math.min(1, probability * 2) },
    { path: TRON_BROADCAST, kind: "silent-accept", probability },
    { path: TRON_BROADCAST, kind: "duplicate", probability, forget: late },
    { path: TRON_BROADCAST, kind: "revert", probability: probability / 10 },
    { path: TRON_BROADCAST, kind: "out-of-energy", probability: probability / 10 },
  ],
};

function evm(family: RigFamily): SoakKind {
  const { broadcast } = family.paths;
  return {
    family,
    reads: ["*", "eth_getBlockByNumber", "eth_getBlockReceipts", "eth_call", "eth_estimateGas"],
    permissions: ["--allow-run", "--allow-env"],
    coin: "1000",
    faults: (read, { probability, isEither }) => [
      { path: read, kind: "error-500", probability, late: isEither },
      { path: read, kind: "busy-429", probability: probability / 2, late: isEither },
      { path: read, kind: "timeout", probability: probability / 20, late: isEither },
      { path: "*", kind: "lagging-receipts", probability, late: isEither },
      { path: "*", kind: "receipts-null", probability },
      { path: "*", kind: "receipts-short", probability },
      { path: "*", kind: "log-missing", probability },
      { path: "*", kind: "receipts-of-another", probability },
      { path: "eth_getBlockByNumber", kind: "finality-back", probability, behind: 3 },
      { path: "*", kind: "finality-stands", probability: 1 },
      { path: broadcast, kind: "error-500", probability, late: isEither },
      { path: broadcast, kind: "timeout", probability: probability / 10, late: isEither },
      { path: broadcast, kind: "lost-broadcast", probability: Math.min(1, probability * 2) },
      { path: broadcast, kind: "silent-accept", probability },
      { path: broadcast, kind: "duplicate", probability, forget: isEither },
      { path: broadcast, kind: "nonce-too-low", probability, forget: isEither },
      { path: broadcast, kind: "underpriced", probability, forget: isEither },
      { path: broadcast, kind: "revert", probability: probability / 10 },
      { path: broadcast, kind: "out-of-gas", probability: probability / 10 },
    ],
  };
}

const KINDS: Readonly<Partial<Record<Network, SoakKind>>> = {
  TRX: TRON,
  ETH: evm(ETH_RIG),
  BNB: evm(BNB_RIG),
};

/** The kind of chains that a network is of. @throws {TypeError} when no soak knows one */
export function kindOf(network: Network): SoakKind {
  const { family } = PROFILES[network];
  const kind = KINDS[network] ??
    Object.values(KINDS).find((one) => PROFILES[one.family.network].family === family);
  if (kind !== undefined) return kind;
  throw new TypeError(`Cannot soak a network of another kind: ${network}`);
}
