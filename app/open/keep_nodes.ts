/**
 * Keeps what has to outlive the process of a network's nodes: which chain they are of, and how often
 * they were asked today, together with other services that use the same quota.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { NetworkNodes } from "../../chains/node_state.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { addNodeCalls, storeGenesis } from "../../ledger/watcher/chain_nodes.ts";

const log = getLogger(["engine", "setup"]);

/** Pause between two exchanges of counts. */
const KEEP_MS = 10_000;

/** Takes up what is kept, and goes on keeping it until it is closed. */
export async function keepNodes(
  sql: Sql,
  networks: ReadonlyMap<Network, NetworkNodes>,
): Promise<{ close(): Promise<void> }> {
  const keepAll = async () => {
    for (const [network, nodes] of networks) await keep(sql, network, nodes);
  };
  const tryToKeep = () =>
    keepAll().catch((error: unknown) => {
      log.warn("cannot keep how often nodes were asked, trying again: {error}", { error });
    });
  await keepAll();
  let keeping: Promise<void> | null = null;
  const ticker = setInterval(() => {
    keeping ??= tryToKeep().finally(() => keeping = null);
  }, KEEP_MS);
  return {
    close: async () => {
      clearInterval(ticker);
      await keeping;
      await tryToKeep();
    },
  };
}

async function keep(sql: Sql, network: Network, nodes: NetworkNodes): Promise<void> {
  const genesis = await storeGenesis(sql, network, nodes.genesis);
  if (genesis !== null) nodes.expect(genesis);
  for (const [name, meter] of nodes.meters) {
    const { day, calls } = meter.take();
    try {
      meter.learn(day, await addNodeCalls(sql, network, name, day, calls));
    } catch (error) {
      meter.giveBack(day, calls);
      throw error;
    }
  }
}
