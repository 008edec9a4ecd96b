import { assertEquals, assertRejects } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { planAddress, type PlanDeps } from "../../actors/sweeper/plan_address.ts";
import { CostMemory, Stake } from "../../actors/sweeper/sweep_terms.ts";
import type { Chain } from "../../chains/chain.ts";
import { type Amount, ZERO } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { dueSweepAddresses } from "../../ledger/sweeps/sweep_addresses.ts";
import { recordSweepItems } from "../../ledger/sweeps/items.ts";
import { addMerchant, amount, SOMEWHERE } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** An issued address that is swept, with what the chain says of it. */
async function openAddress(sql: Sql) {
  const merchantId = await addMerchant(sql);
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${SOMEWHERE}, 'TRX', ${merchantId}, 'adr_1', 1)`;
  let found = 0;
  return {
    /** A transfer that the scan has met. */
    async meet(held: string, height: number): Promise<void> {
      await recordSweepItems(sql, "TRX", [{
        merchantId,
        addressId: "adr_1",
        txid: (++found).toString(16).padStart(64, "0"),
        logIndex: 0,
        currency: "USDT",
        amount: amount(held),
        from: "somebody",
        to: SOMEWHERE,
        height,
        diesAfter: 0,
        expiresAt: 0,
      }]);
    },
    /** One look of the planner, while solid blocks show so much. */
    async look(balance: Amount): Promise<void> {
      const chain: Chain = paperChain("TRX", { balanceOf: () => Promise.resolve(balance) });
      const deps: PlanDeps = {
        sql,
        chain,
        terms: { enabled: true, gas: "coin", factor: "2", topUpWaitMs: 1 },
        pace: { staleMs: 60_000, retryMs: 1, failureLimit: 3, coolDownMs: 1, pollMs: 1 },
        coinRate: () => "0.1",
        costs: new CostMemory(),
        setup: () => Promise.resolve(null),
        now: () => Date.now(),
        wakeMerchants: () => {},
      };
      await sql`UPDATE book.sweep_address SET poll_at = now()`;
      for (const target of await dueSweepAddresses(sql, "TRX", 10)) {
        await planAddress(deps, target, new Stake(ZERO));
      }
    },
    /** The living sweep ends in a block. */
    async land(height: number): Promise<void> {
      await sql`UPDATE book.outgoing SET status = 'signed' WHERE status = 'queued'`;
      await sql`
        INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit, outcome, height)
        SELECT id, 1, merchant_id, network, id, '{}', now(), extract(epoch FROM now()) * 1000, now(), 1, 'paid', ${height}
        FROM book.outgoing WHERE status = 'signed'`;
      await sql`UPDATE book.outgoing SET status = 'final' WHERE status = 'signed'`;
      await sql`UPDATE book.sweep_item SET done = true WHERE outgoing_id IS NOT NULL`;
    },
    /** The sweeps, oldest first: what each moves, and the transfers it lists. */
    async sweeps(): Promise<string[]> {
      const rows = await sql<{ line: string }[]>`
        SELECT trim_scale(o.amount) || ' ' || o.status || ': ' || coalesce(
          string_agg(trim_scale(i.amount) || '@' || i.height, ' ' ORDER BY i.height), '') AS line
        FROM book.outgoing o LEFT JOIN book.sweep_item i ON i.outgoing_id = o.id
        GROUP BY o.id, o.merchant_id ORDER BY o.id`;
      return rows.map(({ line }) => line);
    },
    async open(): Promise<string[]> {
      const rows = await sql<{ line: string }[]>`
        SELECT trim_scale(amount) || '@' || height AS line FROM book.sweep_item
        WHERE outgoing_id IS NULL ORDER BY height`;
      return rows.map(({ line }) => line);
    },
  };
}

test("a transfer that came after a sweep is not called carried by it, whatever a node that lags shows", async () => {
  await using database = await testDatabase();
  const address = await openAddress(database.sql);
  await address.meet("60", 10);
  // 40 more were there and never belonged to anybody
  await address.look(amount("100"));
  await address.land(20);
  await address.meet("30", 25);
  await address.look(ZERO);
  assertEquals(await address.sweeps(), ["100 final: 60@10"]);
  assertEquals(await address.open(), ["30@25"]);
  await address.look(amount("30"));
  assertEquals(await address.sweeps(), ["100 final: 60@10", "30 queued: 30@25"]);
});

test("transfers that a final sweep has carried are listed under it, before newer money is swept", async () => {
  await using database = await testDatabase();
  const address = await openAddress(database.sql);
  await address.meet("60", 10);
  // the scan is behind: 40 more are there already
  await address.look(amount("100"));
  await address.land(20);
  await address.meet("40", 11);
  // and behind once more: 70 have come in meanwhile
  await address.look(amount("70"));
  assertEquals(await address.sweeps(), ["100 final: 60@10 40@11"]);
  await address.meet("70", 25);
  await address.look(amount("70"));
  assertEquals(await address.sweeps(), ["100 final: 60@10 40@11", "70 queued: 70@25"]);
  await address.land(30);
  await address.look(ZERO);
  assertEquals(await address.open(), []);
});

test("the database lists no transfer under a sweep that was final before it, and none unasked", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const address = await openAddress(sql);
  await address.meet("60", 10);
  await address.look(amount("100"));
  await address.land(20);
  await address.meet("30", 20);
  await assertRejects(
    () =>
      sql`UPDATE book.sweep_item SET outgoing_id = (SELECT id FROM book.outgoing)
        WHERE outgoing_id IS NULL`,
    Error,
    "moves less",
  );
  await assertRejects(
    () =>
      sql`INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height, outgoing_id)
      SELECT merchant_id, network, ${
        newId("out")
      }, 0, address, currency, 1000, 9, outgoing_id FROM book.sweep_item
      WHERE outgoing_id IS NOT NULL`,
    Error,
    "written once",
  );
});
