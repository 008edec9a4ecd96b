/**
 * Estimates the gas of transactions by letting a node try them with their real senders and receivers.
 *
 * @module
 */

import { toTokenUnits } from "../../../ledger/money/amount.ts";
import type { Movement } from "../../fees.ts";
import { COIN_DECIMALS, PLAIN_GAS } from "../pay/envelope.ts";
import { transferData } from "../token_contracts.ts";
import { quantitySchema } from "./answers.ts";
import type { GasNeed } from "./fee_market.ts";
import { readFresh } from "./newest_heads.ts";
import type { TokenContract } from "./read_balance.ts";
import { type EvmSource, quantityOf, rpc } from "./source.ts";

/** Room for what may change until the transaction runs, switches of the token for example. */
const LIMIT_NUMERATOR = 12n;
const LIMIT_DENOMINATOR = 10n;
/**
 * A receiver that holds the token at the estimate and is emptied before the transaction runs costs 17,100 gas more (a
 * storage slot that is filled from zero), which many exchanges do with each payment, and anybody may do on purpose.
 */
const EMPTIED_GAS = 25_000n;
/**
 * Gas of a transfer of tokens to another holder beyond one to the sender itself, which touches one balance instead of two:
 * the second one is reached (2,100, EIP-2929) and changed (2,900).
 */
const SECOND_BALANCE_GAS = 5_000n;

/** Content of a transaction that moves one thing. */
export interface Call {
  readonly from: string;
  readonly to: string;
  /** Wei. */
  readonly value: bigint;
  readonly data: string;
}

/** The transaction of one movement. @param token null: the chain's own coin */
export function callOf({ from, to, amount }: Movement, token: TokenContract | null): Call {
  if (token === null) return { from, to, value: toTokenUnits(amount, COIN_DECIMALS), data: "0x" };
  const data = transferData(to, toTokenUnits(amount, token.decimals));
  return { from, to: token.contract, value: 0n, data };
}

function withMargin(gas: bigint): bigint {
  return (gas * LIMIT_NUMERATOR + LIMIT_DENOMINATOR - 1n) / LIMIT_DENOMINATOR;
}

/**
 * The need of a transfer of tokens: gas that is not used costs nothing, so that its limit has room for a receiver that is
 * emptied. That room alone gives way where a cap has none for it.
 *
 * @param least the limit without that room
 */
export function withEmptied(expected: bigint, least: bigint): GasNeed {
  const room = expected + EMPTIED_GAS;
  return { expected, limit: room > least ? room : least, least };
}

/** The need of a transfer of tokens to another holder, by that of one to the sender itself. */
export function toAnother({ expected }: GasNeed): GasNeed {
  const gas = expected + SECOND_BALANCE_GAS;
  return withEmptied(gas, withMargin(gas));
}

/**
 * Gas that a transaction with such a limit is expected to use: of one that was signed before, the limit is all that is left
 * of its estimate.
 */
export function expectedOf(limit: bigint): bigint {
  const gas = limit * LIMIT_DENOMINATOR / LIMIT_NUMERATOR;
  const roomless = limit - EMPTIED_GAS;
  return roomless < PLAIN_GAS || gas < roomless ? gas : roomless;
}

/**
 * Gas of one transaction.
 *
 * @throws {ChainUnavailable} `reverted` when it would fail as things stand
 */
export async function estimateGas(
  source: EvmSource,
  { from, to, value, data }: Call,
  signal?: AbortSignal,
): Promise<GasNeed> {
  const params = [{ from, to, value: quantityOf(value), ...(data === "0x" ? {} : { data }) }];
  const call = { method: "eth_estimateGas", params };
  const gas = await readFresh(
    source,
    (node, bound) => rpc.ask(node, call, quantitySchema, bound),
    signal,
  );
  const limit = withMargin(gas);
  return data === "0x" ? { expected: gas, limit } : withEmptied(gas, limit);
}
