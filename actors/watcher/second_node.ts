/**
 * A second, independent node: what it says of a block or a transaction stands beside the own scan,
 * and never takes its place.
 *
 * @module
 */

import { type BlockAnswer, type Chain, ChainUnavailable } from "../../chains/chain.ts";

/** Bound of one question. */
const QUESTION_MS = 10_000;

/** A node of another operator, asked by itself. */
export interface SecondNode {
  /** Its host, kept with the evidence. */
  readonly name: string;
  readonly chain: Pick<Chain, "block" | "transaction">;
}

/**
 * Puts a question to a node within a bound.
 *
 * @returns null where it does not answer
 */
export async function answerOf<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal = AbortSignal.timeout(QUESTION_MS),
): Promise<Answer | null> {
  try {
    return await ask(signal);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return null;
  }
}

/** A solid block as one node has it; null: it does not answer. */
export async function solidBlockOf(
  chain: Pick<Chain, "block">,
  height: number,
  signal?: AbortSignal,
): Promise<BlockAnswer | null> {
  return await answerOf((bound) => chain.block(height, "solid", bound), signal);
}
