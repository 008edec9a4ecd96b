import { assertEquals, assertRejects } from "@std/assert";
import { configure, reset } from "@logtape/logtape";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import type { WatcherStatus } from "../../actors/watcher/scan_memory.ts";
import { watcherActors } from "../../actors/watcher/watcher_actor.ts";
import { chainReasons } from "../../app/health/chains.ts";
import { kindOf } from "../../app/health/reason_table.ts";
import { WrongDecimals } from "../../chains/chain.ts";
import { verifiedFirst } from "../../chains/verified_chain.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const FAULT = "Cannot use USDT on TRX as its contract has 18 decimals, not 6";

testNeeding(DATABASE)(
  "a token whose decimals are found wrong only after the start stops its network, which is told, until they are right",
  async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const merchantId = await addMerchant(sql);
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      VALUES ('out_a', ${merchantId}, 'payout', 'wd_a', 'TRX', 'USDT', 1, 'somewhere', 'queued', now(), now())`;
    // the process is an hour old when it begins to read the network, as after the failure of another one
    const monotonic = () => 3_600_000;
    let isWrong = true;
    const chain = verifiedFirst({
      ...paperChain("TRX"),
      verify: () => isWrong ? Promise.reject(new WrongDecimals(FAULT)) : Promise.resolve(),
    });
    let status: WatcherStatus | undefined;
    const { solid } = watcherActors({
      sql,
      chains: new Map([["TRX", chain]]),
      nodes: () => [],
      now: () => 20_000 * 86_400_000,
      monotonic,
      wakeMerchants: () => {},
      onSolid: () => {},
      onStatus: (_, told) => status = told,
      again: () => {},
    });
    const payouts = treasuryActors(nodeOf(sql, chain));
    const poll = async (actors: typeof solid | typeof payouts) =>
      await (await actors.activate("TRX")).receive({ type: "poll" } as never);
    const fatal: unknown[] = [];
    await configure({
      sinks: {
        kept: ({ level, properties }) => {
          if (level === "fatal") fatal.push([properties.event, properties.reason]);
        },
      },
      loggers: [
        { category: ["engine"], lowestLevel: "debug", sinks: ["kept"] },
        { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["kept"] },
      ],
    });
    try {
      for (let look = 0; look < 2; look++) {
        // waited for as nodes that are away, so that no poll is given up as broken
        const errors = [
          await assertRejects(() => poll(solid)),
          await assertRejects(() => poll(payouts)),
        ];
        assertEquals(errors.map((error) => solid.isTransient(error)), [true, true]);
      }
    } finally {
      await reset();
    }
    assertEquals(fatal, [["chain.refused", FAULT]]);
    assertEquals(await readCursor(sql, "TRX", "solid"), null);
    const reasons = () =>
      chainReasons(
        { nodes: () => [], watched: new Map(status === undefined ? [] : [["TRX", status]]) },
        "TRX",
        Date.now(),
        monotonic(),
      );
    assertEquals(reasons(), [`TRX is read no further: ${FAULT}`]);
    assertEquals(reasons().map(kindOf), ["chain_refused"]);
    const rows = async () => [...await sql`SELECT status FROM book.outgoing`];
    assertEquals(await rows(), [{ status: "queued" }]);
    isWrong = false;
    await poll(solid);
    await sql`UPDATE book.outgoing SET lease_until = NULL`;
    await poll(payouts);
    assertEquals([reasons(), await rows()], [[], [{ status: "signed" }]]);
  },
);
