/**
 * Estimates the gas of transactions by letting a node try them with their real senders and receivers.
 *
 * @module
 */

import { toTokenUnits } from "../../../ledger/money/amount.ts";
import type { Movement } from "../../fees.ts";
import { COIN_DECIMALS } from "../pay/envelope.ts";
import { transferData } from "../token_contracts.ts";
import { quantitySchema } from "./answers.ts";
import type { GasNeed } from "./fee_market.ts";
import { readFresh } from "./newest_heads.ts";
import type { TokenContract } from "./read_balance.ts";
import { type EvmSource, quantityOf, rpc } from "./source.ts";

/** The receiver's storage, and switches of the token, may change until the transaction runs. */
const LIMIT_NUMERATOR = 12n;
const LIMIT_DENOMINATOR = 10n;

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

/** The limit for an estimate: with room for what may change until it runs. */
function withMargin(gas: bigint): bigint {
  return (gas * LIMIT_NUMERATOR + LIMIT_DENOMINATOR - 1n) / LIMIT_DENOMINATOR;
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
  return { expected: gas, limit: withMargin(gas) };
}
