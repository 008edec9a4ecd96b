import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Block, Chain, Landmark } from "../../chains/chain.ts";
import type { Network } from "../../ledger/pair.ts";
import { markScanned } from "../../ledger/watcher/scanned_ranges.ts";
import { type ChainInDoubt, orInDoubt, readBelieved } from "./chain_in_doubt.ts";
import { recordBlocks } from "./record_blocks.ts";

const log = getLogger(["engine", "watcher"]);

/** Blocks that are read and written together. */
const CHUNK = 20;

/** What reading again works with. */
export interface RescanDeps {
  readonly sql: Sql;
  readonly chain: Pick<Chain, "blocks" | "hotWallet" | "deriveAddress" | "addressOf">;
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
}

/** Reading again ended in doubt. */
export interface RescanInDoubt extends ChainInDoubt {
  /** Blocks that were read again before. */
  readonly blocks: number;
}

/** How far reading again has come. */
interface Progress {
  blocks: number;
  readonly told: Set<string>;
}

/**
 * Reads solid blocks again that the scan has passed, and writes what they say once more. The cursor
 * stays where it is, and what is known already changes nothing; so it may be done at any time.
 *
 * Only a node is read that has the scan's newest solid block, the blocks have to continue each other,
 * and those that reach it have to end in it: what is read again counts as proof.
 *
 * @throws {ChainUnavailable} when the chain cannot be read
 * @throws {RangeError} when the scan has not passed all of them
 */
export async function rescanBlocks(
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
  const progress: Progress = { blocks: 0, told: new Set() };
  const doubt = await orInDoubt(readAgain(deps, from, to, cursor, progress, signal));
  const { blocks, told } = progress;
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
  return { kind: "read", blocks, merchants: told.size };
}

/** Reads and writes, chunk by chunk. @returns why a block is not of our chain, or null */
async function readAgain(
  deps: RescanDeps,
  from: number,
  to: number,
  newest: Landmark,
  progress: Progress,
  signal: AbortSignal,
): Promise<ChainInDoubt | null> {
  let last: Block | null = null;
  let chunk: Block[] = [];
  for await (const answer of deps.chain.blocks(from, to, "solid", signal, newest)) {
    if (answer.kind !== "block") break;
    const { block } = answer;
    const reason = strangeness(block, last, newest);
    if (reason !== null) {
      log.fatal("{network} is not read again: {reason}", { network: deps.network, reason });
      return { kind: "in_doubt", reason };
    }
    last = block;
    chunk.push(block);
    if (chunk.length < CHUNK) continue;
    await write(deps, from, chunk, progress);
    chunk = [];
  }
  if (chunk.length > 0) await write(deps, from, chunk, progress);
  return null;
}

/** Why a block cannot be of the chain that was read, or null. */
function strangeness(block: Block, last: Block | null, newest: Landmark): string | null {
  const { height, hash, parentHash } = block;
  if (last !== null && parentHash !== last.hash) {
    return `block ${height} does not continue block ${last.height} of the same reading`;
  }
  if (height !== newest.height || hash === newest.hash) return null;
  return `solid block ${height} is ${hash}, not ${newest.hash} as the scan has read it`;
}

async function write(
  { sql, chain, network, wake }: RescanDeps,
  from: number,
  chunk: readonly Block[],
  progress: Progress,
): Promise<void> {
  const merchants = await recordBlocks(sql, { ...chain, network }, chunk, "solid");
  const first = from + progress.blocks;
  await markScanned(sql, network, { first, last: first + chunk.length - 1 }, chunk.length);
  for (const merchantId of merchants) {
    progress.told.add(merchantId);
    wake(merchantId);
  }
  progress.blocks += chunk.length;
}
