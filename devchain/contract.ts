/**
 * Contracts in the chain's state. There is no virtual machine: a contract is one of two built-in
 * kinds, a TRC-20 token or the faucet's script.
 *
 * @module
 */

import type { HexAddress } from "./address.ts";
import type { Overlay, StateReader } from "./overlay.ts";

/** A TRC-20 token. */
export interface TokenContract {
  readonly kind: "token";
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Whole supply in the token's smallest unit, decimal text. */
  readonly supply: string;
  readonly origin: HexAddress;
  /** Result of `transfer`: TRON's USDT moves the money and returns false. */
  readonly transferReturns: boolean;
  /** Fee of the contract's own, in 1/10,000 of the amount, taken from what the receiver gets. */
  readonly feeBasisPoints: number;
  /** Switches of its issuer (see token_switches.ts); absent: as usual. */
  readonly maximumFee?: string;
  readonly paused?: boolean;
  readonly upgradedTo?: HexAddress | null;
  readonly blocked?: readonly HexAddress[];
}

/** The contract that carries out a list of steps for the faucet (see script.ts). */
export interface ScriptContract {
  readonly kind: "script";
  readonly origin: HexAddress;
}

/** Any contract. */
export type Contract = TokenContract | ScriptContract;

/** One log of a receipt. */
export interface Log {
  /** 20 bytes as hex, without `41`. */
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** Result of a call. */
export type CallResult =
  | {
    readonly ok: true;
    readonly output: string;
    readonly energy: number;
    /** The part of `energy` that dynamic pricing added. */
    readonly penalty: number;
    readonly logs: readonly Log[];
  }
  | { readonly ok: false; readonly output: string; readonly energy: number };

/** The contract at an address. */
export function readContract(state: StateReader, address: HexAddress): Contract | null {
  const text = state.get(`contract/${address}`);
  return text === undefined ? null : JSON.parse(text);
}

/** Stores a contract. */
export function writeContract(state: Overlay, address: HexAddress, contract: Contract): void {
  state.set(`contract/${address}`, JSON.stringify(contract));
}
