/**
 * Rows that belong to no payment: merchants that are not served, pairs, cursors, blocks, comparisons.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import { storeReport } from "../../ledger/reconcile/reports.ts";
import { storeUnreadable } from "../../ledger/watcher/unreadable_blocks.ts";
import { openOffice, openShop } from "../contract/support/shop.ts";
import type { TestApi } from "../support/api.ts";

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
  for (const view of ["head", "solid"]) {
    await sql`
      INSERT INTO hub.cursor (network, view, height, hash, time, previous_time)
      VALUES ('TRX_SHASTA', ${view}, 5, '5', now(), now() - interval '3 s')`;
  }
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
