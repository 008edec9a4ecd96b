/**
 * The statement of an account.
 *
 * @module
 */

import { z } from "zod";
import { formatAmount } from "../../ledger/money/amount.ts";
import { listTransactions, type StatementLine } from "../../ledger/transactions.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/checks.ts";
import { currency, endDate, limit, network, page, startDate } from "../http/fields.ts";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  id,
  onePage,
  pagination,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  signedDecimal,
  timestamp,
  timestampGmt8,
  txHash,
} from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";
import { age, atGmt8 } from "./age.ts";

/** Types of a transaction. */
const TRANSACTION_TYPES = ["DEPOSIT", "WITHDRAWAL", "SETTLEMENT"] as const;

/** Statuses of a transaction. */
const TRANSACTION_STATUSES = ["PENDING", "CONFIRMED", "FAILED", "CANCELLED"] as const;

/** A row of the list. */
const transactionSchema = z.object({
  id: id("txn"),
  txnHash: txHash.nullable(),
  block: z.int().min(0).nullable().meta({ description: "Height of the block" }),
  age: z.string().meta({ examples: ["3 minutes ago"] }),
  from: address.nullable(),
  to: address.nullable(),
  amount: signedDecimal.meta({
    description: "Effect on the available balance: net of fees in, with fees out",
  }),
  fee: decimal,
  token: shownCurrency,
  network: shownNetwork,
  type: z.enum(TRANSACTION_TYPES),
  status: z.enum(TRANSACTION_STATUSES),
  balanceBefore: decimal,
  balanceAfter: decimal.meta({ description: "Runs over all rows of the pair" }),
  createdAt: timestamp,
  createdAtGmt8: timestampGmt8,
  referenceId: z.string().nullable(),
  description: z.string().nullable(),
  category: z.object({ name: z.string(), description: z.string().nullable() }).nullable(),
  tags: z.array(z.object({ name: z.string() })),
  metadata: z.record(z.string(), z.unknown()),
}).meta({ id: "Transaction" });

/** Answer of the list. */
const transactionPage = z.object({
  transactions: z.array(transactionSchema),
  balance: z.object({
    currency: shownCurrency.nullable(),
    network: shownNetwork.nullable(),
    available: decimal.nullable().meta({
      description: "Null unless both currency and network are given",
    }),
  }),
  pagination: paginationSchema,
});

const TRANSACTION_PAGE_EXAMPLE = {
  transactions: [{
    id: exampleId("txn"),
    txnHash: EXAMPLE.txHash,
    block: 61_204_881,
    age: "3 minutes ago",
    from: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
    to: EXAMPLE.address,
    amount: "-12",
    fee: "2",
    token: "USDT",
    network: "TRX",
    type: "WITHDRAWAL",
    status: "CONFIRMED",
    balanceBefore: "262.5",
    balanceAfter: "250.5",
    createdAt: EXAMPLE.time,
    createdAtGmt8: "2026-08-13T17:30:00.000+08:00",
    referenceId: "order-1001",
    description: null,
    category: { name: "Withdrawal", description: "A payout with its fees" },
    tags: [],
    metadata: { paymentId: exampleId("wd") },
  }],
  balance: { currency: "USDT", network: "TRX", available: "250.5" },
  pagination: onePage(20),
};

/** `GET /api/transactions`. */
export const getTransactions = keyedRoute({
  method: "GET",
  path: "/api/transactions",
  summary: "Statement with running balances, newest first",
  description:
    "`amount` is a line's whole effect on the available balance; a pending deposit has none " +
    "yet, and what failed or was cancelled has none any more. `balanceBefore` and `balanceAfter` " +
    "run over all lines of the pair, whatever is filtered.",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    type: z.enum(TRANSACTION_TYPES).optional(),
    status: z.enum(TRANSACTION_STATUSES).optional(),
    currency: currency.optional(),
    network: network.optional(),
    startDate: startDate.optional(),
    endDate: endDate.optional(),
  }),
  responses: {
    200: {
      description: "One page of the statement",
      schema: transactionPage,
      example: TRANSACTION_PAGE_EXAMPLE,
    },
  },
  errors: ["validation_failed"],
  handler: async ({ merchantId, query, now }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const found = await listTransactions(sql, merchantId, {
      type: query.type,
      status: query.status,
      currency: query.currency,
      network: query.network,
      from: query.startDate,
      until: query.endDate,
    }, query);
    return ok({
      transactions: found.rows.map((line) => transactionView(line, now)),
      balance: {
        currency: query.currency ?? null,
        network: query.network ?? null,
        available: found.available === null ? null : formatAmount(found.available),
      },
      pagination: pagination(query, found.total),
    });
  },
});

/** Names of the kinds of entry. */
const CATEGORIES: Readonly<Record<string, string>> = {
  "Deposit": "A customer's payment, less its fees",
  "Top-up": "The merchant's own payment, less its fee",
  "Manual deposit": "Booked by hand",
  "Withdrawal": "A payout with its fees",
  "Settlement": "A payout to a settlement address with its fees",
  "Margin": "A share of fees that another merchant paid",
};
const CATEGORY_OF_TYPE: Readonly<Record<StatementLine["type"], string>> = {
  DEPOSIT: "Deposit",
  WITHDRAWAL: "Withdrawal",
  SETTLEMENT: "Settlement",
};

function categoryOf({ category, type }: StatementLine) {
  const name = category ?? CATEGORY_OF_TYPE[type];
  return { name, description: CATEGORIES[name] ?? null };
}

function transactionView(line: StatementLine, now: number) {
  return {
    id: line.id,
    txnHash: line.txid,
    block: line.height,
    age: age(line.createdAt, now),
    from: line.fromAddress,
    to: line.toAddress,
    amount: formatAmount(line.effect),
    fee: formatAmount(line.fee),
    token: line.currency,
    network: line.network,
    type: line.type,
    status: line.status,
    balanceBefore: formatAmount(line.balanceBefore),
    balanceAfter: formatAmount(line.balanceAfter),
    createdAt: new Date(line.createdAt).toISOString(),
    createdAtGmt8: atGmt8(line.createdAt),
    referenceId: line.referenceId,
    description: line.description,
    category: categoryOf(line),
    tags: [],
    metadata: { paymentId: line.paymentId },
  };
}
