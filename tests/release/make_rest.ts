/**
 * Rows that belong to no payment: merchants that are not served, pairs, cursors, blocks, comparisons.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { foldSystemBalances } from "../../ledger/journal/fold_system_balances.ts";
import { foldEventCounts } from "../../ledger/outbox/deliveries.ts";
import { addNodeCalls, storeGenesis } from "../../ledger/watcher/chain_nodes.ts";
import { countCosts } from "../../ledger/treasury/costs.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import { ensureJob, storeReport } from "../../ledger/reconcile/reports.ts";
import { storeUnreadable } from "../../ledger/watcher/unreadable_blocks.ts";
import { openOffice, openShop } from "../contract/support/shop.ts";
import type { TestApi } from "../support/api.ts";
import { refundCommand } from "../support/books.ts";
import { withdraw } from "./make_payments.ts";

/** Merchants that are not served, another pair, blocks that were not read, and stored comparisons. */
export async function makeRest(api: TestApi): Promise<void> {
  const { sql } = api;
  const office = await openOffice(api);
  for (const status of ["SUSPENDED", "INACTIVE"]) {
    const { id } = await openShop(api);
    assertEquals((await office.patch(`/api/merchants/${id}`, { status })).status, 200);
  }
  const pair = { currency: "USDC", network: "TRX", networkFeeMode: "dynamic" };
  assertEquals((await office.put("/api/admin/pairs", pair)).status, 200);
  for (const view of ["head", "solid", "again"] as const) {
    await storeUnreadable(
      sql,
      { network: "TRX_SHASTA", view, height: 5, reason: "no node" },
      1_000,
    );
  }
  const at = Date.now();
  const block = {
    height: 5,
    hash: "5",
    time: at,
    previousTime: at - 3_000,
    tick: at,
    previousTick: at - 3_000,
  };
  assert(await moveCursor(sql, "TRX_SHASTA", "solid", null, block));
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    SELECT network, 'head', height + 2, '7', time, previous_time, tick, previous_tick FROM hub.cursor
    WHERE network = 'TRX_SHASTA'`;
  await storeGenesis(sql, "TRX", "0".repeat(64));
  await addNodeCalls(sql, "TRX", "node.example", "2026-11-23", 3);
  await ensureJob(sql, "reconcile", at);
  const shop = await openShop(api, { funds: "100" });
  const { withdrawalId } = await withdraw(api, shop);
  const given = await api.journal.ask(shop.id, refundCommand(withdrawalId), 60_000);
  assertEquals(given.kind, "done");
  for (const scope of ["quick", "full"] as const) {
    const at = Date.now();
    const rules = await checkBooks(sql, scope);
    await storeReport(sql, {
      id: newId("rec"),
      scope,
      startedAt: at,
      finishedAt: Date.now(),
      differences: 0,
      unchecked: 0,
      body: { rules: rules.map(({ rule }) => rule) },
    });
  }
}

/** Sums as the service keeps them in the background, of all that is there by now. */
export async function makeSums({ sql }: TestApi): Promise<void> {
  assert(await foldSystemBalances(sql) > 0);
  assert(await countCosts(sql, "TRX", new Map([["USDT", "0.3"], ["native", "1"]])) > 0);
}

/** Counts of deliveries, of all that is there by now. */
export async function makeEventCounts({ sql }: TestApi): Promise<void> {
  assert(await foldEventCounts(sql) > 0);
}
