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
import { type NodePool, readFrom } from "./node_pool.ts";
import { TRX_DECIMALS } from "./parse_block.ts";
import { transferArguments } from "./transfer_transaction.ts";

/** A signed USDT transfer as the chain counts it (345 measured, a little more with long varints). */
const TOKEN_TRANSFER_BYTES = 350;
/** A signed TRX transfer (267 observed in receipts, a little more for large amounts). */
const NATIVE_TRANSFER_BYTES = 275;
/** The penalty factor and the receiver's storage may change until the transfer runs. */
const LIMIT_NUMERATOR = 12;
const LIMIT_DENOMINATOR = 10;

/** Sun as an amount. */
function sun(count: number): Amount {
  return fromTokenUnits(BigInt(count), TRX_DECIMALS);
}

/**
 * Estimates a token transfer by simulating it with the real sender and receiver: a receiver that
 * holds none of the token yet costs twice the energy.
 *
 * Staked energy and free bandwidth are not subtracted. They are shared by everything the wallet
 * sends, so two transfers would both count on them; the estimate stays on the safe side.
 *
 * @param call addresses as 42 hex digits
 * @param highestLimit the most that one transaction may burn, in sun
 * @throws {ChainUnavailable} `reverted` when the transfer would fail now; `malformed` when the
 *   energy alone costs more than the highest limit, so that the transfer would burn it in vain
 */
export async function estimateTokenTransfer(
  pool: NodePool,
  prices: ChainPrices,
  call: {
    readonly owner: string;
    readonly contract: string;
    readonly to: string;
    readonly units: bigint;
  },
  highestLimit: number,
  signal?: AbortSignal,
): Promise<FeeEstimate> {
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
  const energyCost = answer.energy_used * prices.energy;
  if (energyCost > highestLimit) {
    throw new ChainUnavailable(
      "malformed",
      `Cannot estimate a transfer as it would burn ${energyCost} sun, above the limit: ${highestLimit}`,
    );
  }
  const withMargin = Math.ceil(energyCost * LIMIT_NUMERATOR / LIMIT_DENOMINATOR);
  return {
    fee: sun(energyCost + TOKEN_TRANSFER_BYTES * prices.byte),
    limit: sun(Math.min(withMargin, highestLimit)),
  };
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
