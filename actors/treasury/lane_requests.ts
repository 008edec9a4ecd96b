/**
 * From the steps of a lane's turn to what the signer is asked for.
 *
 * @module
 */

import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readLaneRows } from "../../ledger/lanes/lane_rows.ts";
import { logEvent } from "../../log/log_event.ts";
import type { LaneStep, OpenNonce } from "./lane_turn.ts";
import { priceOf } from "./prices.ts";
import type { NumberedRequest } from "./sign_nonces.ts";

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

/**
 * Prices a nonce's transfers again.
 *
 * @returns `would fail`: they must not be signed as things stand; null: there is no price at the moment
 */
export async function priceAgain(
  sql: Sql,
  chain: Chain,
  payer: string,
  { nonce, intents }: OpenNonce,
): Promise<NumberedRequest | "would fail" | null> {
  const { network } = chain;
  const ids = intents.map(({ outgoingId }) => outgoingId);
  const [first, ...others] = await readLaneRows(sql, ids);
  if (first === undefined) return null;
  try {
    const { fee } = await priceOf(chain, [first, ...others]);
    return { payer, nonce, intents, purpose: "pay", fee };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    if (error.category === "reverted") return "would fail";
    logEvent("treasury.nonce_waits", { network, nonce, reason: error.message });
    return null;
  }
}
