/**
 * Estimates one transaction: a transfer, a collection from several addresses, or the creation of what collects.
 *
 * @module
 */

import { type Amount, toTokenUnits } from "../../ledger/money/amount.ts";
import { type Currency, type Network, tokenDecimals } from "../../ledger/money/pair.ts";
import { type Asset, ChainUnavailable } from "../chain.ts";
import type { FeeEstimate, Movement } from "../fees.ts";
import { PLAIN_GAS, weiAmount } from "./pay/envelope.ts";
import { callOf, estimateGas, toAnother } from "./read/estimate_fee.ts";
import { estimateSweep } from "./read/estimate_sweep.ts";
import {
  type GasNeed,
  type GasPrices,
  pricedWithin,
  pricedWithRoom,
  readGasPrices,
} from "./read/fee_market.ts";
import type { TokenContract } from "./read/read_balance.ts";
import type { EvmSource } from "./read/source.ts";
import { estimateCreation } from "./read/sweep_setup.ts";

/**
 * Gas that the first access to the token's contract and to the hot wallet's balance costs more in a transaction (EIP-2929);
 * other storage that a token reads for each transfer comes on top.
 */
const FIRST_ACCESS_GAS = 7_000n;

/** Settings and state that the parts of one adapter share. */
export interface Parts extends EvmSource {
  readonly network: Network;
  readonly contracts: ReadonlyMap<Currency, string>;
  readonly chainId: number;
  readonly hotWallet: string;
  readonly feeCap: Amount | null;
  /** The contract by which the hot wallet sweeps; null where addresses do it themselves. */
  readonly delegate: string | null;
  /** See `Capabilities.sweepsAtOnce`. */
  readonly sweepsAtOnce: number;
}

/** The contract of an asset; null for the chain's own coin. @throws {TypeError} when the network has none of it */
export function tokenOf({ contracts, network }: Parts, asset: Asset): TokenContract | null {
  if (asset === "native") return null;
  const contract = contracts.get(asset);
  if (contract !== undefined) return { contract, decimals: tokenDecimals(asset, network) };
  throw new TypeError(`Cannot use ${asset} as it has no contract configured on: ${network}`);
}

/** See `Chain.estimateFee`. */
export async function estimateFee(
  parts: Parts,
  movements: readonly Movement[],
  signal?: AbortSignal,
): Promise<FeeEstimate> {
  if (parts.feeCap === null) {
    throw new ChainUnavailable("above-cap", "Cannot estimate a transaction as none is made here");
  }
  const [need, prices] = await Promise.all([
    gasOf(parts, movements, signal),
    readGasPrices(parts, signal),
  ]);
  if (movements.length > 1) return pricedWithRoom(need, prices, parts.feeCap);
  const fee = pricedWithin(need, prices, parts.feeCap);
  return isShared(parts, movements) ? { ...fee, share: shareOf(parts, need, prices) } : fee;
}

/** True of one sweep that others may share a transaction with. */
function isShared({ delegate, hotWallet, sweepsAtOnce }: Parts, movements: readonly Movement[]) {
  const [movement] = movements;
  return delegate !== null && sweepsAtOnce > 1 && movements.length === 1 &&
    movement?.to === hotWallet && movement.from !== hotWallet;
}

/** Cost of one sweep in a full transaction: its own gas, and its part of the gas that all of them use once. */
function shareOf({ sweepsAtOnce }: Parts, { expected }: GasNeed, { base, tip }: GasPrices): Amount {
  const others = BigInt(sweepsAtOnce - 1);
  const saved = (PLAIN_GAS + FIRST_ACCESS_GAS) * others / BigInt(sweepsAtOnce);
  return weiAmount((expected - saved) * (base + tip));
}

/** Gas of one transaction with these movements. @throws {RangeError} where one cannot carry them */
async function gasOf(
  parts: Parts,
  movements: readonly Movement[],
  signal?: AbortSignal,
): Promise<GasNeed> {
  const { chainId, hotWallet, delegate, sweepsAtOnce } = parts;
  const [movement] = movements;
  // nothing else ever goes there
  if (delegate !== null && movement?.to === delegate) {
    return await estimateCreation(parts, hotWallet, signal);
  }
  if (movement !== undefined && delegate !== null && movement.from !== hotWallet) {
    const token = tokenOf(parts, movement.asset);
    const areAlike = movements.every(({ asset }) => asset === movement.asset);
    if (token !== null && areAlike && movements.length <= sweepsAtOnce) {
      const swept = movements.map(({ from, amount }) => ({
        from,
        units: toTokenUnits(amount, token.decimals),
      }));
      const call = { chainId, hotWallet, delegate, token: token.contract, swept };
      return await estimateSweep(parts, call, signal);
    }
  }
  if (movement === undefined || movements.length > 1) {
    throw new RangeError(`Cannot put ${movements.length} such movements into one transaction`);
  }
  const token = tokenOf(parts, movement.asset);
  const need = await estimateGas(parts, callOf(movement, token), signal);
  return token !== null && movement.from === movement.to ? toAnother(need) : need;
}
