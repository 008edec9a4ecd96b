import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Block, Chain } from "../../chains/chain.ts";
import type { Network } from "../../ledger/pair.ts";
import { markScanned } from "../../ledger/watcher/scanned_ranges.ts";
import { recordBlocks } from "./record_blocks.ts";

const log = getLogger(["engine", "watcher"]);

/** Blocks that are read and written together. */
const CHUNK = 20;

/** What reading again works with. */
export interface RescanDeps {
  readonly sql: Sql;
  readonly chain: Pick<Chain, "blocks" | "hotWallet" | "deriveAddress">;
  readonly network: Network;
  /** Says that a merchant's inbox has rows. */
  readonly wake: (merchantId: string) => void;
}

/** What was read again. */
export interface Rescanned {
  /** Blocks that were read, from the first one on without a gap. */
  readonly blocks: number;
  /** Merchants with something in them; most of it they know already. */
  readonly merchants: number;
}

/**
 * Reads solid blocks again that the scan has passed, and writes what they say once more. The cursor
 * stays where it is, and what is known already changes nothing; so it may be done at any time.
 *
 * @throws {ChainUnavailable} when the chain cannot be read
 * @throws {Error} when the blocks do not continue each other: the node cannot be trusted
 */
export async function rescanBlocks(
  deps: RescanDeps,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Rescanned> {
  const { sql, chain, network, wake } = deps;
  const told = new Set<string>();
  let blocks = 0;
  let last: Block | null = null;
  let chunk: Block[] = [];
  const write = async () => {
    const merchants = await recordBlocks(sql, { ...chain, network }, chunk, "solid");
    const range = { first: from + blocks, last: from + blocks + chunk.length - 1 };
    await markScanned(sql, network, range, chunk.length);
    for (const merchantId of merchants) {
      told.add(merchantId);
      wake(merchantId);
    }
    blocks += chunk.length;
    chunk = [];
  };
  for await (const answer of chain.blocks(from, to, "solid", signal)) {
    if (answer.kind !== "block") break;
    const { block } = answer;
    if (last !== null && block.parentHash !== last.hash) {
      throw new Error(`Cannot read again as a block does not continue the chain: ${block.height}`);
    }
    last = block;
    chunk.push(block);
    if (chunk.length === CHUNK) await write();
  }
  if (chunk.length > 0) await write();
  log.info("{network}: blocks {from} to {to} were read again: {blocks} blocks", {
    network,
    from,
    to,
    blocks,
  });
  return { blocks, merchants: told.size };
}
