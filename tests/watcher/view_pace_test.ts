import { assertEquals } from "@std/assert";
import { type ViewPace, watcherActors } from "../../actors/watcher/watcher_actor.ts";
import { testDatabase } from "../support/database.ts";
import { PAPER_BLOCK, paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const MINUTE = 60_000;

/** A pace, the pause between two messages, and the looks at head and solid blocks within a minute. */
const PACES: readonly (readonly [ViewPace | undefined, number, number, number])[] = [
  [{ headMs: 1_500, solidMs: 1_500 }, 1_499.5, 41, 41],
  [{ headMs: 4_000, solidMs: 30_000 }, 4_000, 16, 2],
  [{ headMs: 1_000, solidMs: 2_000 }, 1_000, 61, 31],
  [{ headMs: null, solidMs: 1_500 }, 1_500, 0, 41],
  [undefined, 1_500, 41, 41],
];

test("head and solid blocks are looked at each at a pace of its own, and a head that is never left to see not at all", async () => {
  for (const [views, everyMs, heads, solids] of PACES) {
    await using database = await testDatabase();
    const { sql } = database;
    const looks = { head: 0, solid: 0 };
    const look = (view: "head" | "solid") => {
      looks[view]++;
      return Promise.resolve(PAPER_BLOCK);
    };
    const chain = paperChain("TRX", { head: () => look("head"), solid: () => look("solid") });
    let clock = 1_000_000;
    const kinds = watcherActors({
      sql,
      chains: new Map([[chain.network, chain]]),
      views: () => views,
      nodes: () => [],
      now: Date.now,
      monotonic: () => clock,
      wakeMerchants: () => {},
      onSolid: () => {},
      onStatus: () => {},
      again: () => {},
    });
    const scan = await kinds.solid.activate(chain.network);
    const headView = await kinds.head.activate(chain.network);
    for (let passed = 0; passed <= MINUTE; passed += everyMs) {
      await scan.receive({ type: "tick" });
      await headView.receive({ type: "tick" });
      clock += everyMs;
    }
    // once the newest block is asked for at the start, to compare what is above the solid one with the books
    assertEquals(looks, { head: 1 + heads, solid: solids }, JSON.stringify(views));
  }
});
