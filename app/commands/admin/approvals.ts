import { Refused } from "./client.ts";
import { record, table } from "./table.ts";
import type { Verb } from "./verb.ts";

/** Where a payout is decided, by what its id names. */
function pathOf(id: string | undefined): string {
  if (id?.startsWith("wd_")) return `/api/admin/withdrawals/${id}`;
  if (id?.startsWith("stl_")) return `/api/admin/settlements/${id}`;
  throw new Refused(`Cannot decide as this names no withdrawal (wd_) or settlement (stl_): ${id}`);
}

/** What can be done with payouts that wait for an administrator. */
export const APPROVAL_VERBS: readonly Verb[] = [
  {
    name: "approvals list",
    args: [],
    options: {},
    help: "the payouts that wait",
    run: async (client) => {
      const rows = await client.list("/api/admin/approvals", "approvals");
      return table(rows.map((row) => ({
        id: row.id,
        merchant: row.merchantName,
        amount: row.amount,
        pair: `${row.currency}/${row.network}`,
        fees: row.totalFees,
        destination: row.destination,
        created: row.createdAt,
      })));
    },
  },
  {
    name: "approvals approve",
    args: ["id"],
    options: {},
    help: "lets a withdrawal (wd_...) or settlement (stl_...) go",
    run: async (client, [id]) => record(await client.send("POST", `${pathOf(id)}/approve`)),
  },
  {
    name: "approvals reject",
    args: ["id"],
    options: { reason: { type: "string" } },
    help: "turns one down, refunded: --reason TEXT (the merchant is told)",
    run: async (client, [id], { reason }) => {
      if (typeof reason !== "string") throw new Refused("Cannot reject as no --reason is given");
      return record(await client.send("POST", `${pathOf(id)}/reject`, { reason }));
    },
  },
];
