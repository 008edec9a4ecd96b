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
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { dates, ofPair, ofStatus, paged, pages, pagination } from "../http/list.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const TYPES = ["DEPOSIT", "WITHDRAWAL", "SETTLEMENT"] as const;
const STATUSES = ["PENDING", "CONFIRMED", "FAILED", "CANCELLED"] as const;

const transaction = z.object({
  id: f.id("txn"),
  txnHash: f.txHash.nullable(),
  block: eg(z.int().min(0).nullable().meta({ description: "Height of the block" }), 61_204_881),
  age: eg(z.string().meta({ examples: ["3 minutes ago"] }), "3 minutes ago"),
  from: eg(f.address.nullable(), "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE"),
  to: f.address.nullable(),
  amount: eg(
    f.signedDecimal.meta({
      description: "Effect on the available balance: net of fees in, with fees out",
    }),
    "-12",
  ),
  fee: eg(f.decimal, "2"),
  token: f.currency,
  network: f.network,
  type: eg(z.enum(TYPES), "WITHDRAWAL"),
  status: eg(z.enum(STATUSES), "CONFIRMED"),
  balanceBefore: eg(f.decimal, "262.5"),
  balanceAfter: eg(f.decimal.meta({ description: "Runs over all rows of the pair" }), "250.5"),
  createdAt: f.timestamp,
  createdAtGmt8: f.timestampGmt8,
  referenceId: eg(z.string().nullable(), "order-1001"),
  description: eg(z.string().nullable(), null),
  category: z.object({
    name: eg(z.string(), "Withdrawal"),
    description: eg(z.string().nullable(), "A payout with its fees"),
  }).nullable(),
  tags: eg(z.array(z.object({ name: z.string() })), []),
  metadata: eg(z.record(z.string(), z.unknown()), { paymentId: f.exampleId("wd") }),
}).meta({ id: "Transaction" });

const transactionPage = z.object({
  transactions: z.array(transaction),
  balance: z.object({
    currency: f.currency.nullable(),
    network: f.network.nullable(),
    available: eg(
      f.decimal.nullable().meta({ description: "Null unless both currency and network are given" }),
      "250.5",
    ),
  }),
  pagination: paged(),
});

export const getTransactions = route({
  at: "GET /api/transactions",
  summary: "Statement with running balances, newest first",
  description:
    "`amount` is a line's whole effect on the available balance; a pending deposit has none " +
    "yet, and what failed or was cancelled has none any more. `balanceBefore` and `balanceAfter` " +
    "run over all lines of the pair, whatever is filtered.",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    ...pages(),
    type: z.enum(TYPES).optional(),
    status: ofStatus(STATUSES),
    ...ofPair,
    ...dates,
  }),
  responses: { 200: { description: "One page of the statement", schema: transactionPage } },
  errors: ["validation_failed"],
  handler: async ({ merchantId, query, now }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const filter = { ...query, from: query.startDate, until: query.endDate };
    const found = await listTransactions(sql, merchantId, filter, query);
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
  const { txid, height, fromAddress, toAddress, effect, currency, createdAt } = line;
  return shown(transaction, {
    ...line,
    txnHash: txid,
    block: height,
    age: age(createdAt, now),
    from: fromAddress,
    to: toAddress,
    amount: effect,
    token: currency,
    createdAtGmt8: atGmt8(createdAt),
    category: categoryOf(line),
    tags: [],
    metadata: { paymentId: line.paymentId },
  });
}

const UNITS = [
  { name: "day", ms: 86_400_000 },
  { name: "hour", ms: 3_600_000 },
  { name: "minute", ms: 60_000 },
  { name: "second", ms: 1_000 },
] as const;

/** Relative age in English: `just now`, `1 minute ago`, `3 days ago`. */
function age(thenMs: number, nowMs: number): string {
  const elapsed = nowMs - thenMs;
  for (const unit of UNITS) {
    const count = Math.floor(elapsed / unit.ms);
    if (count >= 1) return `${count} ${unit.name}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

const GMT8_MS = 8 * 3_600_000;

/** An instant at UTC+8: `2026-01-01T08:00:00.000+08:00`. */
function atGmt8(ms: number): string {
  return new Date(ms + GMT8_MS).toISOString().replace("Z", "+08:00");
}
