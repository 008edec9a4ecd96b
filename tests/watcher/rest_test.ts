import { assertEquals } from "@std/assert";
import { watcherActors } from "../../actors/watcher/watcher_actor.ts";
import type { NodeState } from "../../chains/node_state.ts";
import { nodeState } from "../support/node_state.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { testDatabase } from "../support/database.ts";

const test = testNeeding(DATABASE);

function cooling(coolDownMs: number): NodeState {
  return nodeState({ state: "cooling-down", coolDownMs, failure: "" });
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
    }).solid.coolDownMs?.(chain.network);
  assertEquals(restOf([cooling(30_000), cooling(4_000)]), 4_000);
  assertEquals(restOf([cooling(30_000), cooling(0)]), 0);
  assertEquals(restOf([]), 0);
});
