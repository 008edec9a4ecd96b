/**
 * Deposits that were seen on a chain or recorded by hand.
 *
 * @module
 */

import { z } from "zod";
import { formatAmount } from "../../ledger/money/amount.ts";
import { listDeposits } from "../../ledger/deposits.ts";
import type { DepositRow } from "../../ledger/rows.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/date_range.ts";
import { currency, endDate, limit, network, page, referenceId, startDate } from "../http/fields.ts";
import { pagination } from "../http/paging.ts";
import { keyedRoute } from "../http/route.ts";
import { DEPOSIT_PAGE_EXAMPLE, DEPOSIT_STATUSES, depositPage } from "./deposit_schema.ts";
import { WrittenRows } from "../http/written_rows.ts";

/** `GET /api/deposits`. */
export const getDeposits = keyedRoute({
  method: "GET",
  path: "/api/deposits",
  summary: "List deposits, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    page: page.default(1),
    limit: limit.default(10),
    status: z.enum(DEPOSIT_STATUSES).optional(),
    currency: currency.optional(),
    network: network.optional(),
    referenceId: referenceId.optional(),
    startDate: startDate.optional(),
    endDate: endDate.optional(),
  }),
  responses: {
    200: {
      description: "One page of deposits",
      schema: depositPage,
      example: DEPOSIT_PAGE_EXAMPLE,
    },
  },
  errors: ["validation_failed"],
  handler: async ({ merchantId, query }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const deposits = new WrittenRows();
    const total = await listDeposits(
      sql,
      merchantId,
      {
        status: query.status,
        currency: query.currency,
        network: query.network,
        referenceId: query.referenceId,
        from: query.startDate,
        until: query.endDate,
      },
      query,
      (row) => deposits.add(depositView(row)),
    );
    return ok({ deposits, pagination: pagination(query, total) });
  },
});

/** A deposit as it is shown. */
export function depositView(row: DepositRow) {
  return {
    id: row.id,
    amount: formatAmount(row.amount),
    currency: row.currency,
    network: row.network,
    status: row.status,
    source: row.source,
    referenceId: row.referenceId,
    description: row.description,
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
    clearedAt: row.clearedAt === null ? null : new Date(row.clearedAt).toISOString(),
    fee: formatAmount(row.fixedFee),
    commission: formatAmount(row.commission),
    commissionRate: row.commissionRate,
    depositAddressId: row.addressId,
    createdBy: row.createdBy,
    ...depositAddress(row),
    metadata: row.txid === null ? row.metadata : { ...row.metadata, txHash: row.txid },
  };
}

/** Only deposits on issued addresses show one; a top-up address belongs to the merchant itself. */
function depositAddress(row: DepositRow) {
  if (row.addressId === null || row.address === null || row.source === "top_up") return {};
  return {
    depositAddress: { id: row.addressId, address: row.address, networkSymbol: row.network },
  };
}
