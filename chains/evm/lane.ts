/**
 * The lane of a sender's nonces: what they are by blocks, and what replaces a transaction that is in none.
 *
 * @module
 */

import { type Amount, min, toTokenUnits } from "../../ledger/money/amount.ts";
import { ChainUnavailable, type Checkpoint, type Finality } from "../chain.ts";
import type { FeeEstimate } from "../fees.ts";
import type { LaneAsk, LanePort } from "../lane.ts";
import { COIN_DECIMALS, PLAIN_GAS } from "./pay/envelope.ts";
import { readTerms, type TransactionTerms } from "./pay/signed_terms.ts";
import { authorizeOf } from "./pay/transfer_transaction.ts";
import { wholeSchema } from "./read/answers.ts";
import { readFinal } from "./read/contract_call.ts";
import { expectedOf } from "./read/estimate_fee.ts";
import { feeOf, type GasNeed, type GasPrices, readGasPrices } from "./read/fee_market.ts";
import { type NumberedSource, readSender } from "./read/read_transaction.ts";
import { type EvmSource, rpc } from "./read/source.ts";

/**
 * Nodes take a replacement only where both its prices are a tenth above those that it replaces; an eighth is
 * above that however it is rounded.
 */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;

export interface LaneBounds {
  readonly mostUnseen: number;
  readonly bumpAfterMs: number;
}

function bumped(price: bigint): bigint {
  return (price * BUMP_NUMERATOR + BUMP_DENOMINATOR - 1n) / BUMP_DENOMINATOR;
}

function largest(values: readonly bigint[]): bigint {
  return values.reduce((most, value) => value > most ? value : most, 0n);
}

/**
 * Terms above all earlier ones, and no less than what the next block asks; null where that is above the cap.
 *
 * @param earlier of the transactions that they replace
 */
function termsAbove(
  earlier: readonly TransactionTerms[],
  need: GasNeed,
  prices: GasPrices,
  feeCap: Amount,
): FeeEstimate | null {
  const tip = largest([
    prices.tip,
    ...earlier.map(({ maxPriorityFeePerGas }) => bumped(maxPriorityFeePerGas)),
  ]);
  const least = largest([
    prices.base + tip,
    ...earlier.map(({ maxFeePerGas }) => bumped(maxFeePerGas)),
  ]);
  const most = toTokenUnits(feeCap, COIN_DECIMALS) / need.limit;
  if (least > most) return null;
  const wanted = largest([least, 2n * prices.base + tip]);
  return feeOf(need, prices, { maxFee: wanted < most ? wanted : most, tip });
}

/**
 * The chain's present prices, for the decisions of one turn.
 *
 * @param coin that the sender has, where that is known: no node keeps a transaction that may cost more, so that such a one
 *   does not have to be outbid
 */
function askOf(prices: GasPrices, feeCap: Amount, coin?: Amount): LaneAsk {
  const isKept = ({ gas, maxFeePerGas, value }: TransactionTerms) =>
    coin === undefined || gas * maxFeePerGas + value <= toTokenUnits(coin, COIN_DECIMALS);
  return {
    isPassedOver: (bytes) => readTerms(bytes).maxFeePerGas < prices.base + prices.tip,
    replacing(bytes) {
      const earlier = bytes.map(readTerms);
      const limit = largest(earlier.map(({ gas }) => gas));
      const authorize = bytes[0] === undefined ? null : authorizeOf(bytes[0]);
      const need = {
        expected: expectedOf(limit),
        limit,
        ...(authorize === null ? {} : { authorize }),
      };
      return termsAbove(earlier.filter(isKept), need, prices, feeCap);
    },
    cancelling(bytes) {
      const need = { expected: PLAIN_GAS, limit: PLAIN_GAS };
      return termsAbove(bytes.map(readTerms).filter(isKept), need, prices, feeCap);
    },
    within: (held) => askOf(prices, min(held, feeCap), held),
  };
}

/** The number of transactions that an address has in the blocks of a view. */
async function readNonce(
  source: EvmSource,
  address: string,
  view: Finality,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
): Promise<number> {
  const method = "eth_getTransactionCount";
  if (view === "head") {
    const call = { method, params: [address, "latest"] };
    return await source.pool.read(
      (node, bound) => rpc.ask(node, call, wholeSchema, bound),
      { signal, checkpoint },
    );
  }
  return await readFinal(
    source,
    (node, state, bound) => rpc.ask(node, { method, params: [address, state] }, wholeSchema, bound),
    signal,
    checkpoint,
  );
}

/**
 * Makes the port.
 *
 * @param feeCap the most that one transaction may cost; null where none is made
 */
export function evmLane(
  source: NumberedSource,
  feeCap: Amount | null,
  bounds: LaneBounds,
): LanePort {
  return {
    ...bounds,
    next: (address, view, signal, checkpoint) =>
      readNonce(source, address, view, signal, checkpoint),
    sent: (txid, signal, checkpoint) => readSender(source, txid, signal, checkpoint),
    async asks(signal) {
      if (feeCap === null) {
        throw new ChainUnavailable(
          "above-cap",
          "Cannot replace a transaction as none is made here",
        );
      }
      return askOf(await readGasPrices(source, signal), feeCap);
    },
  };
}
