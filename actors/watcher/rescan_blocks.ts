import { logEvent } from "../../log/log_event.ts";
import { type Block, type Chain, ChainUnavailable, NotOurChain } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Cursor, markReadWithContracts, markScanned } from "../../ledger/watcher/cursor.ts";
import type { EndProofs } from "../../ledger/watcher/end_proofs.ts";
import { type BesideScan, type ChainInDoubt, orInDoubt, readBelieved } from "./chain_in_doubt.ts";
import { continues, heightsOf } from "./covered_heights.ts";
import { recordBlocks } from "./record_blocks.ts";

/** Blocks that are read and written together. */
const AT_ONCE = 20;

/** A chain whose blocks are read again. */
export interface RescanDeps extends
  BesideScan<
    Pick<
      Chain,
      | "blocks"
      | "hotWallet"
      | "deriveAddress"
      | "addressOf"
      | "eventAddress"
      | "feeOf"
      | "provenIds"
    >
  > {
  readonly network: Network;
  /** Proofs that ends of large transfers need; null, or absent: a node's word is enough. */
  readonly proofs?: EndProofs | null;
  /** Called with merchants whose inboxes have rows. */
  readonly wake: (merchantId: string) => void;
}

/** Blocks that were read again. */
export interface Rescanned {
  readonly kind: "read";
  /** Number of them, from the first one on without a gap. */
  readonly blocks: number;
  /** The last height that was read, from the first one on without a gap; below the first: none was. */
  readonly through: number;
  /** Merchants with something in them; most of it they know already. */
  readonly merchants: number;
  /** Reason for which the block after them could not be read; null: all of them were. */
  readonly failure: RescanFailure | null;
}

/** A block that no node gives. */
export interface RescanFailure {
  /** For operators. */
  readonly reason: string;
  /** Set where nodes could not be asked; null: they answered that they lack it, or a part of it. */
  readonly error: ChainUnavailable | null;
}

/** Reading again ended in doubt, after some blocks. */
export type RescanInDoubt = ChainInDoubt & Pick<Rescanned, "blocks" | "through">;

/**
 * Reads solid blocks again that the scan has passed, and writes what they say once more. The cursor
 * stays where it is, and what is known already changes nothing; so it may be done at any time.
 *
 * Only a node is read that has the scan's newest solid block, the blocks have to continue each other,
 * and those that reach it have to end in it: what is read again counts as proof.
 *
 * @throws {ChainUnavailable} when the chain cannot be read; what was read before is written
 * @throws {RangeError} when the scan has not passed all of them
 */
export async function rescanBlocks(
  deps: RescanDeps,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Rescanned | RescanInDoubt> {
  const outcome = await rescanUpToFailure(deps, from, to, signal);
  if (outcome.kind === "read" && outcome.failure?.error) throw outcome.failure.error;
  return outcome;
}

/**
 * The same, for blocks of which one must not hold up the others: a node's failure is a part of the answer.
 *
 * @throws {RangeError} when the scan has not passed all of them
 */
export async function rescanUpToFailure(
  deps: RescanDeps,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Rescanned | RescanInDoubt> {
  const { sql, network, stopped } = deps;
  const believed = await readBelieved(sql, network, stopped);
  if (believed.kind === "in_doubt") return { ...believed, blocks: 0, through: from - 1 };
  const { cursor } = believed;
  if (to > cursor.height) {
    throw new RangeError(`Cannot read again what was not read: ${to} is above ${cursor.height}`);
  }
  const rescan = new Rescan(deps, from, cursor);
  const doubt = await orInDoubt(rescan.read(to, signal));
  const { blocks, through, failure, merchants } = rescan;
  if (doubt !== null) {
    const { reason } = doubt;
    logEvent("chain.rescan_refused", { network, from, to, blocks, reason });
    return { ...doubt, blocks, through };
  }
  logEvent("chain.rescanned", { network, from, to, blocks });
  return { kind: "read", blocks, through, merchants: merchants.size, failure };
}

const LOST: ChainInDoubt = {
  kind: "in_doubt",
  reason: "the database continues another history, which may lack what was written: try again",
};

/** One reading of blocks that the scan has passed. */
class Rescan {
  readonly merchants = new Set<string>();
  blocks = 0;
  through: number;
  failure: RescanFailure | null = null;

  constructor(
    private readonly deps: RescanDeps,
    private readonly from: number,
    private readonly newest: Cursor,
  ) {
    this.through = from - 1;
  }

  /** Reads and writes, some blocks at a time. @returns why a block is not of this chain, or null */
  async read(to: number, signal: AbortSignal): Promise<ChainInDoubt | null> {
    const { chain, network } = this.deps;
    let last: Block | null = null;
    let unwritten: Block[] = [];
    try {
      for await (const answer of chain.blocks(this.from, to, "solid", signal, this.newest)) {
        if (answer.kind !== "block") {
          const reason = answer.kind === "incomplete" ? answer.reason : "no node has it";
          this.failure = { reason, error: null };
          break;
        }
        const { block } = answer;
        const reason = last === null && !covers(block, this.from)
          ? `block ${block.height} is not the first one from ${this.from} on`
          : doubtOf(block, last, this.newest);
        if (reason !== null) {
          logEvent("chain.rescan_stopped", { network, reason });
          return { kind: "in_doubt", reason };
        }
        last = block;
        unwritten.push(block);
        if (unwritten.length < AT_ONCE) continue;
        if (!await this.#write(unwritten)) return LOST;
        unwritten = [];
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || error instanceof NotOurChain) throw error;
      this.failure = { reason: error.message, error };
    }
    return unwritten.length > 0 && !await this.#write(unwritten) ? LOST : null;
  }

  /** @returns `false`: the database has another history than before */
  async #write(blocks: readonly Block[]): Promise<boolean> {
    const { sql, chain, network, proofs = null, wake } = this.deps;
    const { history } = this.newest;
    const merchants = await recordBlocks(sql, { ...chain, network }, blocks, "solid", proofs);
    const { covered, ...range } = heightsOf(blocks);
    if (!await markScanned(sql, network, range, covered, history)) return false;
    await markReadWithContracts(sql, network, range, history);
    for (const merchantId of merchants) {
      this.merchants.add(merchantId);
      wake(merchantId);
    }
    this.blocks += blocks.length;
    this.through = range.last;
    return true;
  }
}

/** True if a height is a block's own, or was passed by between the block and its parent. */
function covers({ height, parentHeight }: Block, asked: number): boolean {
  return parentHeight < asked && asked <= height;
}

/** The reason for which a block cannot be of the chain that was read, or null. */
function doubtOf(block: Block, last: Block | null, newest: Cursor): string | null {
  const { height, hash } = block;
  if (last !== null && !continues(block, last)) {
    return `block ${height} does not continue block ${last.height} of the same reading`;
  }
  if (height !== newest.height || hash === newest.hash) return null;
  return `solid block ${height} is ${hash}, not ${newest.hash} as the scan has read it`;
}
