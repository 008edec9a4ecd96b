/** A start of a service whose newest blocks are compared with the books. @module */

import { compareHead } from "../../../actors/watcher/compare_head.ts";
import { isBehindSigning, ScanMemory } from "../../../actors/watcher/scan_memory.ts";
import { type Block, type Chain, ChainUnavailable, type Transfer } from "../../../chains/chain.ts";
import { amount } from "../../support/books.ts";
import { testDatabase } from "../../support/database.ts";
import { PAPER_BLOCK, paperChain } from "../../support/paper_chain.ts";

export const MINUTE = 60_000;
export const SOLID = PAPER_BLOCK.height;

/** A block that continues the one before; what it holds left the hot wallet. */
export function blockAt(
  height: number,
  spends: readonly string[] = [],
  parentHash?: string,
): Block {
  const at = PAPER_BLOCK.time + height * 3_000;
  const transfers = spends.map((txid): Transfer => ({
    txid,
    logIndex: 0,
    currency: "USDT",
    eventFrom: "hot-wallet",
    eventTo: "customer",
    amount: amount("5"),
    diesAfter: at,
    expiresAt: at,
  }));
  return {
    height,
    parentHeight: height - 1,
    hash: String(height),
    parentHash: parentHash ?? String(height - 1),
    time: at,
    tick: at,
    transactions: spends.map((txid) => ({ txid, success: true, failure: null, fee: amount("1") })),
    transfers,
  };
}

/** Waits as a node does that is slow. */
async function passed(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

/** A start whose scan has read all solid blocks; the chain above them is what a test says. */
export async function openStart() {
  const database = await testDatabase();
  const { sql } = database;
  const { height, hash, time, tick } = PAPER_BLOCK;
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    VALUES ('TRX', 'solid', ${height}, ${hash}, ${new Date(time)}, ${new Date(
    time,
  )}, ${tick}, ${tick})`;
  const clock = { now: 1_000 };
  const said = {
    newest: SOLID,
    behindMs: 0,
    blocks: [] as readonly Block[],
    isSilent: false,
    answersAfterMs: 0,
    asked: 0,
  };
  const heard = () => {
    if (said.isSilent) throw new ChainUnavailable("timeout", "Cannot read as nodes are silent");
  };
  const chain: Chain = paperChain("TRX", {
    // what a node says that is in step, and behind the others
    head: () => Promise.resolve(PAPER_BLOCK),
    furthest: async () => {
      said.asked++;
      await passed(said.answersAfterMs);
      const { newest: height, behindMs } = said;
      return said.isSilent
        ? Promise.reject(new ChainUnavailable("timeout", "Cannot read as nodes are silent"))
        : Promise.resolve({ ...PAPER_BLOCK, height, behindMs, nonce: null });
    },
    async *blocks(from, to) {
      await passed(said.answersAfterMs);
      for (let at = from; at <= to; at++) {
        heard();
        const block = said.blocks.find((one) => one.height === at);
        if (block === undefined) return yield { kind: "missing", height: at };
        yield { kind: "block", block };
      }
    },
  });
  const memory = new ScanMemory(chain, () => clock.now);
  memory.recordChainSolid({ height, time });
  memory.recordRead(height, time);
  const watched = { sql, chain, memory, wakeMerchants: () => {} };
  const look = async () => {
    await compareHead(watched, new AbortController().signal);
    return isBehindSigning(memory.status);
  };
  return {
    sql,
    chain,
    clock,
    said,
    memory,
    look,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
