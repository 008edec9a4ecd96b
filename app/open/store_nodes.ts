/**
 * Stores facts of a network's nodes that outlive the process: the chain they are of, and the calls
 * they were sent today, together with other services that use the same quota.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { NetworkNodes } from "../../chains/node_state.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { UnusableChain } from "./open_chains.ts";
import { addNodeCalls, storeGenesis } from "../../ledger/watcher/chain_nodes.ts";

/** Pause between two exchanges of counts. */
const STORE_MS = 10_000;

/**
 * Reads the stored facts, and stores newer ones from time to time until it is closed.
 *
 * @param isFixed true where the chain of each network is known before its nodes are asked
 * @throws {UnusableChain} where it is, and the database has read another one
 */
export async function storeNodes(
  sql: Sql,
  networks: ReadonlyMap<Network, NetworkNodes>,
  isFixed: boolean,
): Promise<{ close(): Promise<void> }> {
  const storeAll = async () => {
    for (const [network, nodes] of networks) {
      await storeOne(sql, network, nodes, isFixed);
    }
  };
  const tryToStore = () =>
    storeAll().catch((error: unknown) => {
      logEvent("node.calls_unkept", { error });
    });
  await storeAll();
  let storing: Promise<void> | null = null;
  const ticker = setInterval(() => {
    storing ??= tryToStore().finally(() => storing = null);
  }, STORE_MS);
  return {
    close: async () => {
      clearInterval(ticker);
      await storing;
      await tryToStore();
    },
  };
}

async function storeOne(
  sql: Sql,
  network: Network,
  nodes: NetworkNodes,
  isFixed: boolean,
): Promise<void> {
  const expected = nodes.genesis;
  const genesis = await storeGenesis(sql, network, expected);
  if (genesis !== null && genesis !== expected && isFixed) {
    throw new UnusableChain(
      `Cannot go on with this database as it has read another chain of ${network} (first block ` +
        `${genesis}, not ${expected}): begin a new one in DATABASE_URL`,
    );
  }
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
