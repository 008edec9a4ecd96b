import { assert, assertEquals, assertLess } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { newWallet, withChain } from "../dev_chain/support/chain.ts";
import { booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { adapterOver, addWatched, watch } from "./support/watch.ts";

const test = testNeeding({ ...DATABASE, write: true });
const BEHIND = 20;
const PER_SECOND = 15;
const TIMES = 100_000;
/** The scan before this read no block of such a node, however long it tried. */
const LONG_MS = 180_000;

/**
 * On a machine that stands still for a moment the calls of two windows arrive together: half of the
 * limit is within it even so, and three refusals lead there from nothing. A rest that is looked at
 * just before it ends is counted twice.
 */
const setups = {
  "that is configured": { callsPerSecond: Math.floor(PER_SECOND / 2), mostSuspensions: 0 },
  "that it names itself": { callsPerSecond: undefined, mostSuspensions: 6 },
};
for (const [what, { callsPerSecond, mostSuspensions }] of Object.entries(setups)) {
  test(`a scan that is behind catches up with a node that has a limit per second ${what}`, () =>
    withChain(async (chain) => {
      await using database = await testDatabase();
      const { sql } = database;
      const address = newWallet().base58;
      const merchantId = await addWatched(sql, address);
      const adapter = adapterOver(
        [chain.url],
        chain.usdt,
        callsPerSecond === undefined ? {} : { callsPerSecond },
      );
      const watcher = watch(sql, () => adapter);
      await chain.mine(5);
      await watcher.look();
      for (let i = 0; i < BEHIND; i++) {
        await chain.post("/dev/transfer", { to: address, amount: "1" });
        await chain.mine(1);
      }
      await chain.mine(3);
      await chain.post("/dev/config", {
        faults: [{
          path: "*",
          kind: "limit-per-second",
          perSecond: PER_SECOND,
          suspendSeconds: 1,
          times: TIMES,
        }],
      });
      let suspensions = 0;
      const deadline = performance.now() + LONG_MS;
      const isBehind = () => watcher.status().readSolid < watcher.status().chainSolid;
      do {
        watcher.pass(1_000);
        await watcher.look().catch((error) => {
          if (!(error instanceof ChainUnavailable)) throw error;
        });
        const { coolDownMs = 0 } = adapter.nodes.states[0] ?? {};
        if (coolDownMs > 0) suspensions++;
        await new Promise((resolve) => setTimeout(resolve, coolDownMs));
      } while (
        (isBehind() || watcher.status().chainSolid < BEHIND) && performance.now() < deadline
      );
      assertEquals(isBehind(), false);
      assert(suspensions <= mostSuspensions, `${suspensions} suspensions`);
      const { faults } = await chain.get("/dev/info");
      const refused = TIMES - faults[0].times;
      // a crowd that was under way may be refused together, and nothing is asked while suspended
      assertLess(refused, 1 + suspensions * 20);
      await until(async () => {
        const [row] = await sql`
          SELECT available FROM book.balance WHERE merchant_id = ${merchantId}`;
        return Number(row?.["available"]) === BEHIND;
      });
      assertEquals(await booksFaults(sql), []);
      await watcher.journal.stop(1_000);
    }));
}
