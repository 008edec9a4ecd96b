import { assertEquals } from "@std/assert";
import { watcherActors } from "../../actors/watcher/watcher_actor.ts";
import type { NodeState } from "../../chains/chain.ts";
import { nodeState } from "../support/node_state.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { testDatabase } from "../support/database.ts";

const test = testNeeding(DATABASE);

function resting(restingMs: number): NodeState {
  return nodeState({ state: "resting", restingMs, failure: "" });
}

test("the scan is back when the first of its nodes may be asked, before those who ask more often", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const chain = paperChain("TRX");
  const restOf = (nodes: readonly NodeState[]) =>
    watcherActors({
      sql,
      chains: new Map([[chain.network, chain]]),
      nodes: () => nodes,
      now: Date.now,
      wakeMerchants: () => {},
      onSolid: () => {},
      onStatus: () => {},
      again: () => {},
    }).restMs?.(chain.network);
  assertEquals(restOf([resting(30_000), resting(4_000)]), 4_000);
  assertEquals(restOf([resting(30_000), resting(0)]), 0);
  assertEquals(restOf([]), 0);
});
