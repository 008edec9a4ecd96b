/**
 * Deposits as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import { listDeposits } from "../../ledger/deposits.ts";
import type { DepositRow } from "../../ledger/payment_rows.ts";
import { ok, WrittenRows } from "../http/answer.ts";
import { refuseReversed } from "../http/checks.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { dates, ofPair, ofStatus, pageOf, pages, pagination } from "../http/list.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";

export const DEPOSIT_STATUSES = ["PENDING", "CONFIRMED", "FAILED", "CANCELLED"] as const;

export const depositStatus = eg(
  z.enum(DEPOSIT_STATUSES).meta({ id: "DepositStatus" }),
  "CONFIRMED",
);

/** Free-form facts about a deposit. */
export const depositMetadata = z.record(z.string(), z.unknown()).meta({
  description: "Free-form; the transaction id stands under `txHash`",
});

export const depositSchema = z.object({
  id: f.id("dep"),
  amount: eg(f.decimal.meta({ description: "Gross: the amount that arrived, before fees" }), "100"),
  currency: f.currency,
  network: f.network,
  status: depositStatus,
  source: eg(
    z.string().meta({
      description: "`onchain`, `top_up`, or what a manual deposit said",
      examples: ["onchain"],
    }),
    "onchain",
  ),
  referenceId: eg(
    z.string().nullable().meta({ description: "Your reference, from the address" }),
    "order-1001",
  ),
  description: eg(z.string().nullable(), null),
  createdAt: f.timestamp,
  updatedAt: f.later,
  clearedAt: f.later.nullable().meta({ description: "When it became available; null before" }),
  fee: eg(f.decimal.meta({ description: "Fixed charges: activation fee or flat fee" }), "0.5"),
  commission: eg(f.decimal.meta({ description: "Percentage commission" }), "1"),
  commissionRate: eg(f.fraction, "0.01"),
  depositAddressId: f.id("adr").nullable(),
  createdBy: eg(f.madeBy, null),
  depositAddress: z.object({ id: f.id("adr"), address: f.address, networkSymbol: f.network })
    .optional().meta({ description: "Present when the deposit came in on an issued address" }),
  metadata: eg(depositMetadata, { txHash: f.TX_HASH }),
}).meta({ id: "Deposit" });

/** A deposit inside a list of addresses or deposit URLs. */
export const shortDeposit = z.object({
  id: f.id("dep"),
  amount: eg(f.decimal, "100"),
  currency: f.currency,
  status: depositStatus,
  createdAt: f.timestamp,
}).meta({ id: "ShortDeposit" });

export const getDeposits = route({
  at: "GET /api/deposits",
  summary: "List deposits, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    ...pages(10),
    status: ofStatus(DEPOSIT_STATUSES),
    ...ofPair,
    referenceId: f.referenceId.optional().meta({
      description: "Your reference exactly: of an order, the deposits of all its pages",
    }),
    ...dates,
  }),
  responses: {
    200: { description: "One page of deposits", schema: pageOf("deposits", depositSchema, 10) },
  },
  errors: ["validation_failed"],
  handler: async ({ merchantId, query }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const deposits = new WrittenRows();
    const filter = { ...query, from: query.startDate, until: query.endDate };
    const add = (row: DepositRow) => deposits.add(depositView(row));
    const total = await listDeposits(sql, merchantId, filter, query, add);
    return ok({ deposits, pagination: pagination(query, total) });
  },
});

export function depositView(row: DepositRow) {
  const { txid, addressId, address, network } = row;
  // a top-up address belongs to the merchant itself
  const isIssued = addressId !== null && address !== null && row.source !== "top_up";
  return shown(depositSchema, {
    ...row,
    fee: row.fixedFee,
    depositAddressId: addressId,
    depositAddress: isIssued ? { id: addressId, address, networkSymbol: network } : undefined,
    metadata: txid === null ? row.metadata : { ...row.metadata, txHash: txid },
  });
}
