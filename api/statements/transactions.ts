/**
 * The merchant's statement.
 *
 * @module
 */

import { z } from "zod";
import { formatAmount } from "../../ledger/money/amount.ts";
import { listTransactions, type StatementLine } from "../../ledger/transactions.ts";
import { age, atGmt8 } from "./age.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/date_range.ts";
import { currency, endDate, limit, network, page, startDate } from "../http/fields.ts";
import { pagination } from "../http/paging.ts";
import { keyedRoute } from "../http/route.ts";
import {
  TRANSACTION_PAGE_EXAMPLE,
  TRANSACTION_STATUSES,
  TRANSACTION_TYPES,
  transactionPage,
} from "./transaction_schema.ts";

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

/** What the kinds of entry are called. */
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
