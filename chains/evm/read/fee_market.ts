/**
 * Prices that blocks ask for gas now (EIP-1559), and those that a transaction offers.
 *
 * @module
 */

import { type Amount, toTokenUnits } from "../../../ledger/money/amount.ts";
import { ChainUnavailable } from "../../chain.ts";
import type { FeeEstimate } from "../../fees.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { COIN_DECIMALS, envelopeTerms, weiAmount } from "../pay/envelope.ts";
import { feeHistorySchema, quantitySchema } from "./answers.ts";
import { type AnswerAt, answerAt, confirmedHeight } from "./newest_heads.ts";
import { type EvmSource, quantityOf, rpc } from "./source.ts";

/** Blocks whose tips are looked at. */
const BLOCKS = 10;
/** Of the tips in a block, the one that half of its gas paid less than. */
const MEDIAN = 50;
/** Below this blocks are not sure to take a transaction, whatever few others paid: 0.01 gwei. */
const LEAST_TIP = 10_000_000n;

/** Prices of a unit of gas, wei. */
export interface GasPrices {
  /** Asked by the next block, and burnt. */
  readonly base: bigint;
  /** Offered on top of it. */
  readonly tip: bigint;
}

/** Nodes that are asked for prices. */
const NODES_ASKED = 3;
/** Time for which the others' prices are waited for once one node has answered, milliseconds. */
const OTHERS_MS = 1_000;

/**
 * Reads what the next block asks. Several nodes are asked at once, of which those that are behind do not count, and
 * the middle of their prices is taken, of two the lower one: a price that is too low is raised while the transaction waits,
 * what was paid too much is gone. Where no other node answers in a second one alone decides: what it can make a transaction
 * cost is bounded by the network's cap.
 *
 * @throws {ChainUnavailable} when no node can be read
 */
export async function readGasPrices(source: EvmSource, signal?: AbortSignal): Promise<GasPrices> {
  const answers = await source.pool.readSeveral(
    (node, bound) => answerAt(source, node, pricesOf, bound),
    { signal, most: NODES_ASKED, othersMs: OTHERS_MS },
  );
  const near = answers.filter(({ head }) => source.heads.isNear(head));
  const believed = near.length > 0 ? near : furthestOf(answers);
  return {
    base: middle(believed.map(({ answer }) => answer.base)),
    tip: middle(believed.map(({ answer }) => answer.tip)),
  };
}

/** Answers of the nodes that are furthest; of three or more at least two. */
function furthestOf<T>(answers: readonly AnswerAt<T>[]): readonly AnswerAt<T>[] {
  const heights = answers.map(({ head }) => head.height);
  const least = confirmedHeight(heights) ?? Math.max(...heights);
  return answers.filter(({ head }) => head.height >= least);
}

/** The middle one, of two the lower. */
function middle(prices: readonly bigint[]): bigint {
  return prices.toSorted(compare)[(prices.length - 1) >> 1] ?? 0n;
}

/**
 * Prices as one node sees them. Where nothing is burnt, as on BNB Smart Chain, the tip is the whole price, and at
 * least what the node itself would offer.
 */
async function pricesOf(node: ChainNode, signal: AbortSignal): Promise<GasPrices> {
  const call = { method: "eth_feeHistory", params: [quantityOf(BLOCKS), "latest", [MEDIAN]] };
  const { baseFeePerGas, reward } = await rpc.ask(node, call, feeHistorySchema, signal);
  const base = baseFeePerGas.at(-1) ?? 0n;
  const tips = reward.flatMap(([tip]) => tip === undefined ? [] : [tip]).toSorted(compare);
  const paid = tips[Math.floor(tips.length / 2)] ?? 0n;
  const offered = base > 0n
    ? LEAST_TIP
    : await rpc.ask(node, { method: "eth_gasPrice", params: [] }, quantitySchema, signal);
  return { base, tip: paid > offered ? paid : offered };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Prices that a transaction offers, wei for a unit of gas. */
export interface Offer {
  readonly maxFee: bigint;
  readonly tip: bigint;
}

/** Gas that a transaction is expected to use, and the most that it may. */
export interface GasNeed {
  readonly expected: bigint;
  readonly limit: bigint;
  /** Down to this the limit gives way to a cap; absent: it does not. */
  readonly least?: bigint;
  /** See `EnvelopeFields.authorize`. */
  readonly authorize?: string;
}

/** The estimate of a transaction with an offer. */
export function feeOf(
  { expected, limit, authorize }: GasNeed,
  prices: GasPrices,
  offer: Offer,
): FeeEstimate {
  const { maxFee, tip } = offer;
  const terms = envelopeTerms({
    gas: Number(limit),
    maxFeePerGas: maxFee,
    maxPriorityFeePerGas: tip,
    ...(authorize === undefined ? {} : { authorize }),
  });
  const most = weiAmount(limit * maxFee);
  const asked = prices.base + tip;
  const price = asked < maxFee ? asked : maxFee;
  return { fee: weiAmount(expected * price), limit: most, atMost: most, terms };
}

/**
 * As much of the limit as the cap allows at a price.
 *
 * @throws {ChainUnavailable} `above-cap` when that is less than the least
 */
function limitWithin({ limit, least = limit }: GasNeed, price: bigint, feeCap: Amount): bigint {
  const most = toTokenUnits(feeCap, COIN_DECIMALS);
  if (limit * price <= most) return limit;
  if (least * price <= most) return most / price;
  throw new ChainUnavailable(
    "above-cap",
    `Cannot estimate a transaction as it would cost more than the cap: ${least} gas at ${price} wei`,
  );
}

/**
 * The estimate of a transaction at today's prices. Its offer stays good while the base fee doubles, which takes six blocks at
 * least; where the cap is below that, it is as much as the cap allows.
 *
 * @throws {ChainUnavailable} `above-cap` when what the next block asks is more than the cap
 */
export function pricedWithin(need: GasNeed, prices: GasPrices, feeCap: Amount): FeeEstimate {
  const { base, tip } = prices;
  const limit = limitWithin(need, base + tip, feeCap);
  const most = toTokenUnits(feeCap, COIN_DECIMALS) / limit;
  const wanted = 2n * base + tip;
  return feeOf({ ...need, limit }, prices, { maxFee: wanted < most ? wanted : most, tip });
}

/**
 * The same of a transaction that several intents share: the cap has to leave room for a base fee that doubles, as it would
 * keep the transaction from being replaced long before it does that to one of a single intent.
 *
 * @throws {ChainUnavailable} `above-cap` when fewer of them may fit
 */
export function pricedWithRoom(need: GasNeed, prices: GasPrices, feeCap: Amount): FeeEstimate {
  const { base, tip } = prices;
  const maxFee = 2n * base + tip;
  return feeOf({ ...need, limit: limitWithin(need, maxFee, feeCap) }, prices, { maxFee, tip });
}
