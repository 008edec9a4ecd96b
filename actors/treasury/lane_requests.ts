/**
 * From the steps of a lane's turn to what the signer is asked for.
 *
 * @module
 */

import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readLaneRows } from "../../ledger/lanes/lane_rows.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import type { InFlight } from "../../ledger/treasury/in_flight.ts";
import { WOULD_FAIL } from "../../ledger/treasury/unlucky_sweeps.ts";
import { logEvent } from "../../log/log_event.ts";
import { ABOVE_CAP, type LaneStep, type OpenNonce } from "./lane_turn.ts";
import { priceOf } from "./prices.ts";
import type { NumberedRequest, NumberedTransaction } from "./sign_nonces.ts";

/** A step, with the payer of its lane. */
export interface PayerStep<Step extends LaneStep = LaneStep> {
  readonly payer: string;
  readonly step: Step;
}

type Priced = Extract<LaneStep, { readonly do: "fill" | "replace" }>;

/** The steps of one kind. */
export function stepsOf<Kind extends LaneStep["do"]>(
  steps: readonly PayerStep[],
  kind: Kind,
): readonly PayerStep<Extract<LaneStep, { readonly do: Kind }>>[] {
  const isOf = (step: LaneStep): step is Extract<LaneStep, { readonly do: Kind }> =>
    step.do === kind;
  return steps.flatMap(({ payer, step }) => isOf(step) ? [{ payer, step }] : []);
}

/** The request of a step that has its terms. */
export function requestOf({ payer, step }: PayerStep<Priced>): NumberedRequest {
  const { nonce, intents } = step.nonce;
  const purpose = step.do === "fill" ? "cancel" : step.purpose;
  return { payer, nonce, intents, purpose, fee: step.fee };
}

/** Nonces whose transfers are priced at once. */
const PRICED_AT_ONCE = 8;

/** A nonce whose transfers must not be signed as things stand. */
interface PriceRefusal {
  readonly payer: string;
  readonly nonce: number;
  /** As the operator sees it. */
  readonly reason: string;
  /** Thrown where the program or its configuration is at fault; null: the chain would not take the transfer. */
  readonly error: unknown;
}

/** Nonces that are to be signed for the first time, with their prices. */
export interface PricedAgain {
  readonly requests: readonly NumberedRequest[];
  readonly refused: readonly PriceRefusal[];
}

/**
 * Prices the transfers of promised nonces, a few at once and each apart: one that cannot be priced at all is refused and stops
 * no other. What has no price at the moment is left out, as is what was not begun before the signal.
 *
 * @returns in the order of the steps
 */
export async function pricesAgain(
  sql: Sql,
  chain: Chain,
  steps: readonly PayerStep<Extract<LaneStep, { readonly do: "sign" }>>[],
  signal: AbortSignal,
): Promise<PricedAgain> {
  const requests: (NumberedRequest | null)[] = steps.map(() => null);
  const refused: PriceRefusal[] = [];
  const left = [...steps.entries()];
  const price = async () => {
    for (let next = left.shift(); next !== undefined && !signal.aborted; next = left.shift()) {
      const [place, { payer, step: { nonce } }] = next;
      const found = await priceAgain(sql, chain, payer, nonce, signal);
      if (found !== null && "reason" in found) refused.push(found);
      else requests[place] = found;
    }
  };
  await Promise.all(Array.from({ length: PRICED_AT_ONCE }, price));
  return { requests: requests.filter((one) => one !== null), refused };
}

/** Prices one nonce; null: there is no price at the moment. @throws when the database does not answer */
async function priceAgain(
  sql: Sql,
  chain: Chain,
  payer: string,
  { nonce, intents }: OpenNonce,
  signal: AbortSignal,
): Promise<NumberedRequest | PriceRefusal | null> {
  const { network } = chain;
  const ids = intents.map(({ outgoingId }) => outgoingId);
  const [first, ...others] = await readLaneRows(sql, ids);
  if (first === undefined) return null;
  try {
    const { fee, cost, coin = cost } = await priceOf(chain, [first, ...others], signal);
    if (coin >= cost) return { payer, nonce, intents, purpose: "pay", fee };
    // signed, it would stand beyond its address' coin: no node takes it, and nothing dearer can replace it while fees are lower
    const has = `its address has ${formatAmount(coin)} of ${formatAmount(cost)} coin`;
    logEvent("treasury.nonce_waits", { network, nonce, reason: has });
    return null;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) {
      // a configuration that was changed may have made it impossible: thrown, it would stop every lane for ever
      const words = error instanceof Error ? error.message : String(error);
      return { payer, nonce, reason: `it cannot be priced: ${words}`, error };
    }
    if (error.category === "reverted") {
      return { payer, nonce, reason: WOULD_FAIL, error: null };
    }
    // sweeps that share it are planned again, fewer together: what stands behind them need not wait for lower fees
    if (error.category === "above-cap" && intents.length > 1) {
      return { payer, nonce, reason: ABOVE_CAP, error: null };
    }
    logEvent("treasury.nonce_waits", { network, nonce, reason: error.message });
    return null;
  }
}

/** Open nonces by their payers, the hot wallet's first: merchants' payouts wait for those. */
export function lanesOf(
  promised: readonly PromisedNonce[],
): ReadonlyMap<string, readonly PromisedNonce[]> {
  const lanes = Map.groupBy(promised, ({ payer }) => payer);
  const hot = lanes.get("hot");
  lanes.delete("hot");
  return hot === undefined ? lanes : new Map([["hot", hot], ...lanes]);
}

/** A transaction that was committed, as it is sent. */
export function sendable({ txid, bytes, request }: NumberedTransaction): InFlight {
  const { outgoingId = "" } = request.intents[0] ?? {};
  return { outgoingId, paymentId: null, txid, bytes, expiresAt: null };
}

/**
 * Transactions to be sent again: those of nonces that no block shows and that were not signed with just now, the hot
 * wallet's first, each nonce's newest first. What an administrator has taken out of use is paid by none that is sent from then on,
 * also while its cancel waits for lower fees.
 *
 * @param closed payers of whose lanes nothing is sent
 * @param signed nonces that were signed with just now, as `payer/nonce`
 * @param isDue true where a transaction was not sent for a while
 * @param believedBelow nonces of the hot wallet below it are believed to be in a block
 */
export function unsentOf(
  promised: readonly PromisedNonce[],
  closed: ReadonlyMap<string, string>,
  signed: ReadonlySet<string>,
  isDue: (txid: string) => boolean,
  believedBelow: number,
): readonly InFlight[] {
  const inOrder = [...lanesOf(promised).values()].flat();
  return inOrder.flatMap(({ payer, nonce, attempts, intents, isCancelAsked }) => {
    const isSeen = attempts.some((attempt) => attempt.isSeen) ||
      payer === "hot" && nonce < believedBelow;
    if (isSeen || closed.has(payer) || signed.has(`${payer}/${nonce}`)) return [];
    const outgoingId = intents[0]?.outgoingId ?? "";
    const sent = attempts.filter(({ purpose }) => purpose === "cancel" || !isCancelAsked);
    return sent.filter(({ txid }) => isDue(txid)).map(({ txid, bytes }) => ({
      outgoingId,
      paymentId: null,
      txid,
      bytes,
      expiresAt: null,
    }));
  });
}
