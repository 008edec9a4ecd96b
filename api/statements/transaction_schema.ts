/**
 * The statement as merchants read it.
 *
 * @module
 */

import { z } from "zod";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  id,
  onePage,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  signedDecimal,
  timestamp,
  timestampGmt8,
  txHash,
} from "../http/formats.ts";

/** Types of a transaction. */
export const TRANSACTION_TYPES = ["DEPOSIT", "WITHDRAWAL", "SETTLEMENT"] as const;

/** Statuses of a transaction. */
export const TRANSACTION_STATUSES = ["PENDING", "CONFIRMED", "FAILED", "CANCELLED"] as const;

/** A row of the list. */
export const transactionSchema = z.object({
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
export const transactionPage = z.object({
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

/** What the reference shows for the list. */
export const TRANSACTION_PAGE_EXAMPLE = {
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
