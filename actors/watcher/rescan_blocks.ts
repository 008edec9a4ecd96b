import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import { type Block, type Chain, ChainUnavailable, NotOurChain } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { markReadWithContracts, markScanned } from "../../ledger/watcher/scanned_ranges.ts";
import { type ChainInDoubt, orInDoubt, readBelieved } from "./chain_in_doubt.ts";
import { recordBlocks } from "./record_blocks.ts";

const log = getLogger(["engine", "watcher"]);

/** Blocks that are read and written together. */
const CHUNK = 20;

/** What reading again works with. */
export interface RescanDeps {
  readonly sql: Sql;
  readonly chain: Pick<
    Chain,
    "blocks" | "hotWallet" | "deriveAddress" | "addressOf" | "eventAddress"
  >;
  readonly network: Network;
  /** Why the scan of the network does not go on; null while it does. */
  readonly stopped: string | null;
  /** Says that a merchant's inbox has rows. */
  readonly wake: (merchantId: string) => void;
}

/** What was read again. */
export interface Rescanned {
  readonly kind: "read";
  /** Blocks that were read, from the first one on without a gap. */
  readonly blocks: number;
  /** Merchants with something in them; most of it they know already. */
  readonly merchants: number;
  /** Why the block after them could not be read; null: all of them were. */
  readonly failure: RescanFailure | null;
}

/** A block that no node gives. */
export interface RescanFailure {
  /** For operators. */
  readonly reason: string;
  /** Set where nodes could not be asked; null: they answered that they lack it, or a part of it. */
  readonly error: ChainUnavailable | null;
}

/** Reading again ended in doubt. */
export interface RescanInDoubt extends ChainInDoubt {
  /** Blocks that were read again before. */
  readonly blocks: number;
}

/** How far reading again has come. */
interface Progress {
  blocks: number;
  failure: RescanFailure | null;
  readonly told: Set<string>;
}

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
  if (believed.kind === "in_doubt") return { ...believed, blocks: 0 };
  const { cursor } = believed;
  if (to > cursor.height) {
    throw new RangeError(`Cannot read again what was not read: ${to} is above ${cursor.height}`);
  }
  const progress: Progress = { blocks: 0, failure: null, told: new Set() };
  const doubt = await orInDoubt(readAgain(deps, from, to, cursor, progress, signal));
  const { blocks, failure, told } = progress;
  if (doubt !== null) {
    log.error("{network}: blocks {from} to {to} are not read again after {blocks}: {reason}", {
      network,
      from,
      to,
      blocks,
      reason: doubt.reason,
    });
    return { ...doubt, blocks };
  }
  log.info("{network}: blocks {from} to {to} were read again: {blocks} blocks", {
    network,
    from,
    to,
    blocks,
  });
  return { kind: "read", blocks, merchants: told.size, failure };
}

const LOST: ChainInDoubt = {
  kind: "in_doubt",
  reason: "the database continues another history, which may lack what was written: try again",
};

/** Reads and writes, chunk by chunk. @returns why a block is not of our chain, or null */
async function readAgain(
  deps: RescanDeps,
  from: number,
  to: number,
  newest: Cursor,
  progress: Progress,
  signal: AbortSignal,
): Promise<ChainInDoubt | null> {
  let last: Block | null = null;
  let chunk: Block[] = [];
  try {
    for await (const answer of deps.chain.blocks(from, to, "solid", signal, newest)) {
      if (answer.kind !== "block") {
        const reason = answer.kind === "incomplete" ? answer.reason : "no node has it";
        progress.failure = { reason, error: null };
        break;
      }
      const { block } = answer;
      const reason = strangeness(block, last, newest);
      if (reason !== null) {
        log.fatal("{network} is not read again: {reason}", { network: deps.network, reason });
        return { kind: "in_doubt", reason };
      }
      last = block;
      chunk.push(block);
      if (chunk.length < CHUNK) continue;
      if (!await write(deps, from, chunk, progress, newest)) return LOST;
      chunk = [];
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || error instanceof NotOurChain) throw error;
    progress.failure = { reason: error.message, error };
  }
  if (chunk.length > 0 && !await write(deps, from, chunk, progress, newest)) return LOST;
  return null;
}

/** Why a block cannot be of the chain that was read, or null. */
function strangeness(block: Block, last: Block | null, newest: Cursor): string | null {
  const { height, hash, parentHash } = block;
  if (last !== null && parentHash !== last.hash) {
    return `block ${height} does not continue block ${last.height} of the same reading`;
  }
  if (height !== newest.height || hash === newest.hash) return null;
  return `solid block ${height} is ${hash}, not ${newest.hash} as the scan has read it`;
}

/** @returns `false`: the database has another history than before */
async function write(
  { sql, chain, network, wake }: RescanDeps,
  from: number,
  chunk: readonly Block[],
  progress: Progress,
  { history }: Cursor,
): Promise<boolean> {
  const merchants = await recordBlocks(sql, { ...chain, network }, chunk, "solid");
  const first = from + progress.blocks;
  const range = { first, last: first + chunk.length - 1 };
  if (!await markScanned(sql, network, range, chunk.length, history)) return false;
  await markReadWithContracts(sql, network, range, history);
  for (const merchantId of merchants) {
    progress.told.add(merchantId);
    wake(merchantId);
  }
  progress.blocks += chunk.length;
  return true;
}
