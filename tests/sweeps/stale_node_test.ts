import { assert, assertEquals } from "@std/assert";
import { planAddress } from "../../actors/sweeper/plan_address.ts";
import { CostMemory, Stake } from "../../actors/sweeper/sweep_terms.ts";
import type { BlockRef } from "../../chains/chain.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { dueSweepAddresses } from "../../ledger/sweeps/sweep_addresses.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import { sweepPace } from "../../app/open/treasury_policy.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const PACE = sweepPace("TRX");

const test = testNeeding(DATABASE);

test("what a node behind our scan does not show is not called gone", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const time = Date.now();
  await moveCursor(sql, "TRX", "solid", null, {
    height: 60,
    hash: "60",
    time,
    previousTime: time,
    tick: time,
    previousTick: time,
  });
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES ('T1', 'TRX', 'mer_1', 'adr_1', 1)`;
  await sql`
    INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height, found_at)
    VALUES ('mer_1', 'TRX', 'paid', 0, 'T1', 'USDT', 500, 50, now() - interval '1 day')`;
  await sql`
    INSERT INTO book.sweep_address (network, address, currency, merchant_id)
    VALUES ('TRX', 'T1', 'USDT', 'mer_1')`;
  /** Looks once at the address, by a node at a height. @returns what is said of it, and for how long */
  const look = async (height: number) => {
    const parentHeight = height - 1;
    const solid: BlockRef = {
      height,
      parentHeight,
      hash: `${height}`,
      parentHash: "x",
      time,
      tick: time,
    };
    await sql`UPDATE book.sweep_address SET poll_at = now()`;
    const [target] = await dueSweepAddresses(sql, "TRX", 1);
    assert(target !== undefined);
    await planAddress(
      {
        sql,
        chain: paperChain("TRX", {
          solid: () => Promise.resolve(solid),
          balanceOf: () => Promise.resolve(ZERO),
        }),
        terms: { enabled: true, gas: "coin", factor: "2", topUpWaitMs: 60_000 },
        pace: PACE,
        coinRate: () => "0.3",
        costs: new CostMemory(),
        setup: () => Promise.resolve(null),
        now: Date.now,
        wakeMerchants: () => {},
      },
      target,
      new Stake(amount("0")),
    );
    const [row] = await sql<{ reason: string; rest: number }[]>`
      SELECT reason, extract(epoch FROM poll_at - updated_at)::float8 * 1000 AS rest FROM book.sweep_address`;
    return [row?.reason, row?.rest];
  };
  assertEquals(await look(40), ["balance_differs", PACE.pollMs]);
  assertEquals(await look(61), ["balance_differs", PACE.pollMs]);
  assertEquals(await look(60), ["balance_differs", 3_600_000]);
});
