/**
 * Blocks that are asked of one node together, whatever its dialect.
 *
 * @module
 */

import { type BlockAnswer, ChainUnavailable, type Finality } from "../chain.ts";

/** Calls for the contents of blocks that are under way at once within a range. */
const CONTENT_CALLS = 4;

/** Blocks that are asked for together. */
export interface BlockRange {
  readonly from: number;
  /** The last one. */
  readonly to: number;
  readonly finality: Finality;
}

/** Blocks that were read of a range, and the failure that ended it before its end. */
export interface Reading {
  readonly answers: readonly BlockAnswer[];
  readonly failure: ChainUnavailable | null;
}

/** True if an answer is worth asking no further node. */
export function isWhole(answer: BlockAnswer): boolean {
  return answer.kind === "block";
}

/** Steps in which one node is read. Each throws {@linkcode ChainUnavailable} where it cannot be done. */
export interface RangeSteps<Head> {
  /** The heads of a range's blocks by their heights without a gap, as far as the node has them. */
  readonly heads: (range: BlockRange) => Promise<readonly Head[]>;
  /** The block of a head with its receipts. */
  readonly complete: (head: Head) => Promise<BlockAnswer>;
  /** One block, both steps together. */
  readonly one: (height: number) => Promise<BlockAnswer>;
}

/**
 * Reads the blocks of a range in order, up to the first that the node does not have whole, or at which
 * the node failed. Where one of them makes the whole answer malformed, it is read block by block: the
 * others must not wait for it.
 *
 * @throws {ChainUnavailable} when not even the first can be read; then the node may be at fault
 */
export async function readInSteps<Head>(
  range: BlockRange,
  steps: RangeSteps<Head>,
): Promise<Reading> {
  try {
    return await together(range, steps);
  } catch (error) {
    if (!isMalformed(error) || range.from === range.to) throw error;
    return await readOneByOne(range, steps);
  }
}

async function together<Head>(range: BlockRange, steps: RangeSteps<Head>): Promise<Reading> {
  const { from, to } = range;
  const heads = await steps.heads(range);
  const answers: BlockAnswer[] = [];
  for (let i = 0; i < heads.length && answers.every(isWhole); i += CONTENT_CALLS) {
    const group = heads.slice(i, i + CONTENT_CALLS);
    const read = await Promise.allSettled(group.map((head) => steps.complete(head)));
    for (const [k, one] of read.entries()) {
      if (one.status === "fulfilled") answers.push(one.value);
      else if (answers.length === 0) throw one.reason;
      else if (isMalformed(one.reason)) {
        answers.push({ kind: "incomplete", height: from + i + k, reason: one.reason.message });
        return { answers, failure: null };
      } else if (one.reason instanceof ChainUnavailable) return { answers, failure: one.reason };
      else throw one.reason;
    }
  }
  const height = from + answers.length;
  if (answers.every(isWhole) && height <= to) answers.push({ kind: "missing", height });
  return { answers, failure: null };
}

/**
 * The same, each block by itself: one that is long must not be waited for by those before it.
 *
 * @throws {ChainUnavailable} when not even the first can be read
 */
export async function readOneByOne(
  { from, to }: BlockRange,
  { one }: Pick<RangeSteps<never>, "one">,
): Promise<Reading> {
  const answers: BlockAnswer[] = [];
  for (let height = from; height <= to && answers.every(isWhole); height++) {
    try {
      answers.push(await one(height));
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || height === from) throw error;
      if (!isMalformed(error)) return { answers, failure: error };
      answers.push({ kind: "incomplete", height, reason: error.message });
    }
  }
  return { answers, failure: null };
}

function isMalformed(error: unknown): error is ChainUnavailable {
  return error instanceof ChainUnavailable && error.category === "malformed";
}
