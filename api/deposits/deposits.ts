/**
 * Deposits as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import { listDeposits } from "../../ledger/deposits.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import type { DepositRow } from "../../ledger/rows.ts";
import { ok, WrittenRows } from "../http/answer.ts";
import { refuseReversed } from "../http/checks.ts";
import { currency, endDate, limit, network, page, referenceId, startDate } from "../http/fields.ts";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  fraction,
  id,
  madeBy,
  onePage,
  pagination,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";

/** Statuses of a deposit. */
export const DEPOSIT_STATUSES = ["PENDING", "CONFIRMED", "FAILED", "CANCELLED"] as const;

const status = z.enum(DEPOSIT_STATUSES).meta({ id: "DepositStatus" });

const metadata = z.record(z.string(), z.unknown()).meta({
  description: "Free-form; the transaction id stands under `txHash`",
});

/** The address a deposit came in on. */
const linkedAddress = z.object({ id: id("adr"), address, networkSymbol: shownNetwork });

/** A row of the list. */
export const depositSchema = z.object({
  id: id("dep"),
  amount: decimal,
  currency: shownCurrency,
  network: shownNetwork,
  status,
  source: z.string().meta({
    description: "`onchain`, `top_up`, or what a manual deposit said",
    examples: ["onchain"],
  }),
  referenceId: z.string().nullable().meta({ description: "Your reference, from the address" }),
  description: z.string().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  clearedAt: timestamp.nullable().meta({ description: "When it became available; null before" }),
  fee: decimal.meta({ description: "Fixed charges: activation fee or flat fee" }),
  commission: decimal.meta({ description: "Percentage commission" }),
  commissionRate: fraction,
  depositAddressId: id("adr").nullable(),
  createdBy: madeBy,
  depositAddress: linkedAddress.optional().meta({
    description: "Present when the deposit came in on an issued address",
  }),
  metadata,
}).meta({ id: "Deposit" });

/** Answer of the list. */
const depositPage = z.object({
  deposits: z.array(depositSchema),
  pagination: paginationSchema,
});

/** Answer to a deposit recorded by hand. */
export const depositCreated = z.object({
  id: id("dep"),
  amount: decimal,
  currency: shownCurrency,
  network: shownNetwork,
  status,
  source: z.string(),
  description: z.string().nullable(),
  createdAt: timestamp,
  metadata,
}).meta({ id: "DepositCreated" });

/** A deposit inside a list of addresses or deposit URLs. */
export const shortDeposit = z.object({
  id: id("dep"),
  amount: decimal,
  currency: shownCurrency,
  status,
  createdAt: timestamp,
}).meta({ id: "ShortDeposit" });

export const SHORT_DEPOSIT_EXAMPLE = {
  id: exampleId("dep"),
  amount: "100",
  currency: "USDT",
  status: "CONFIRMED",
  createdAt: EXAMPLE.time,
};

export const DEPOSIT_PAGE_EXAMPLE = {
  deposits: [{
    id: exampleId("dep"),
    amount: "100",
    currency: "USDT",
    network: "TRX",
    status: "CONFIRMED",
    source: "onchain",
    referenceId: "order-1001",
    description: null,
    createdAt: EXAMPLE.time,
    updatedAt: EXAMPLE.later,
    clearedAt: EXAMPLE.later,
    fee: "0.5",
    commission: "1",
    commissionRate: "0.01",
    depositAddressId: exampleId("adr"),
    createdBy: null,
    depositAddress: {
      id: exampleId("adr"),
      address: EXAMPLE.address,
      networkSymbol: "TRX",
    },
    metadata: { txHash: EXAMPLE.txHash },
  }],
  pagination: onePage(10),
};

export const DEPOSIT_CREATED_EXAMPLE = {
  id: exampleId("dep"),
  amount: "100",
  currency: "USDT",
  network: "TRX",
  status: "PENDING",
  source: "bank transfer",
  description: null,
  createdAt: EXAMPLE.time,
  metadata: { invoice: "2026-114" },
};

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
