/**
 * What a transfer will cost.
 *
 * @module
 */

import { type Amount, fromTokenUnits } from "../../ledger/amount.ts";
import { ChainUnavailable, type FeeEstimate } from "../chain.ts";
import { accountSchema } from "./answers.ts";
import type { ChainPrices } from "./chain_parameters.ts";
import { constantCall } from "./constant_call.ts";
import { SALT_SUN } from "./envelope.ts";
import { type NodePool, readFrom } from "./node_pool.ts";
import { TRX_DECIMALS } from "./parse_block.ts";
import { transferArguments } from "./transfer_transaction.ts";

/** A signed USDT transfer as the chain counts it (345 measured, a little more with long varints). */
export const TOKEN_TRANSFER_BYTES = 350;
/** A signed TRX transfer (267 observed in receipts, a little more for large amounts). */
export const NATIVE_TRANSFER_BYTES = 275;
/** The penalty factor and the receiver's storage may change until the transfer runs. */
const LIMIT_NUMERATOR = 12;
const LIMIT_DENOMINATOR = 10;

/** Sun as an amount. */
function sun(count: number): Amount {
  return fromTokenUnits(BigInt(count), TRX_DECIMALS);
}

/** A token transfer to price; addresses are 42 hex digits. */
export interface TokenTransferCall {
  readonly owner: string;
  readonly contract: string;
  readonly to: string;
  readonly units: bigint;
}

/**
 * Energy of a token transfer, simulated with the real sender and receiver: a receiver that holds
 * none of the token yet costs twice as much.
 *
 * @throws {ChainUnavailable} `reverted` when the transfer would fail now
 */
export async function simulateTransfer(
  pool: NodePool,
  call: TokenTransferCall,
  signal?: AbortSignal,
): Promise<number> {
  const answer = await constantCall(
    pool,
    {
      owner: call.owner,
      contract: call.contract,
      selector: "transfer(address,uint256)",
      parameter: transferArguments(call.to, call.units),
    },
    "head",
    signal,
  );
  return answer.energy_used;
}

/** Energy with room for the penalty factor and the receiver's storage, which may change. */
export function energyWithMargin(energy: number): number {
  return Math.ceil(energy * LIMIT_NUMERATOR / LIMIT_DENOMINATOR);
}

/**
 * What a token transfer of so much energy costs.
 *
 * @param highestLimit the most that one transaction may burn, in sun
 * @throws {ChainUnavailable} `malformed` when the energy alone costs more than the highest limit, so
 *   that the transfer would burn it in vain
 */
export function tokenTransferFee(
  energy: number,
  prices: ChainPrices,
  highestLimit: number,
): FeeEstimate {
  const energyCost = energy * prices.energy;
  if (energyCost > highestLimit) {
    throw new ChainUnavailable(
      "malformed",
      `Cannot estimate a transfer as it would burn ${energyCost} sun, above the limit: ${highestLimit}`,
    );
  }
  const limit = Math.min(energyWithMargin(energyCost), highestLimit);
  const bytes = TOKEN_TRANSFER_BYTES * prices.byte;
  return {
    fee: sun(energyCost + bytes),
    limit: sun(limit),
    // the limit is for energy alone, and salted: another attempt is another transaction
    atMost: sun(limit + SALT_SUN + bytes),
  };
}

/**
 * Estimates a token transfer by simulating it.
 *
 * Staked energy and free bandwidth are not subtracted. They are shared by everything the wallet
 * sends, so two transfers would both count on them; the estimate stays on the safe side.
 *
 * @throws {ChainUnavailable} see {@linkcode simulateTransfer}, {@linkcode tokenTransferFee}
 */
export async function estimateTokenTransfer(
  pool: NodePool,
  prices: ChainPrices,
  call: TokenTransferCall,
  highestLimit: number,
  signal?: AbortSignal,
): Promise<FeeEstimate> {
  return tokenTransferFee(await simulateTransfer(pool, call, signal), prices, highestLimit);
}

/**
 * Estimates a transfer of TRX: bandwidth, and the activation when the receiver has no account.
 *
 * @param to 42 hex digits
 */
export async function estimateNativeTransfer(
  pool: NodePool,
  prices: ChainPrices,
  to: string,
  signal?: AbortSignal,
): Promise<FeeEstimate> {
  const request = { path: "/wallet/getaccount", body: { address: to } };
  const account = await pool.read(
    (node, bound) => readFrom(node, request, accountSchema, bound),
    signal,
  );
  const activation = account.address === undefined ? prices.activation : 0;
  const fee = sun(NATIVE_TRANSFER_BYTES * prices.byte + activation);
  return { fee, limit: fee };
}
