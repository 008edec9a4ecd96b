/**
 * Bodies of the events that the service sends, as receivers read them. A value that does not exist
 * is null; the key is there.
 *
 * @module
 */

import { z } from "zod";
import type { EventType } from "../../webhooks/event_type.ts";
import { FEE_CHARGE_TYPES } from "../../webhooks/payloads.ts";
import { storedIdentifier } from "../deposits/deposit_address.ts";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  fraction,
  id,
  shownCurrency,
  shownNetwork,
  signedDecimal,
  timestamp,
  txHash,
} from "../http/formats.ts";

const eventId = id("evt").meta({
  description: "Stable on every redelivery; the same as X-Webhook-Id",
});

const referenceId = z.string().nullable().meta({ description: "Your reference" });

const chargeType = z.enum(FEE_CHARGE_TYPES).meta({ id: "FeeChargeType" });

/** Body of `deposit.confirmed`. */
const depositConfirmed = z.object({
  type: z.literal("deposit"),
  depositId: id("dep"),
  amount: decimal,
  currency: shownCurrency,
  status: z.literal("confirmed"),
  identifier: storedIdentifier.nullable(),
  txHash: txHash.nullable(),
  referenceId,
  address: address.nullable(),
  isMerchantDirectDeposit: z.boolean().meta({ description: "True for wallet top-ups" }),
  feeCharges: z.object({
    amount: decimal.meta({ description: "The commission; of a top-up the flat fee" }),
    percentage: fraction,
    type: chargeType,
    activationFee: z.object({ amount: decimal, charged: z.boolean() }),
  }),
  receivableAmount: decimal.meta({ description: "What was credited" }),
  eventId,
}).meta({ id: "DepositConfirmedEvent" });

/** Body of `deposit.failed`. */
const depositFailed = z.object({
  type: z.literal("deposit"),
  depositId: id("dep"),
  amount: decimal,
  currency: shownCurrency,
  identifier: storedIdentifier.nullable(),
  status: z.literal("failed"),
  reason: z.string(),
  txHash: txHash.nullable(),
  address: address.nullable(),
  eventId,
}).meta({ id: "DepositFailedEvent" });

/** Body of `withdrawal.confirmed`. */
const withdrawalConfirmed = z.object({
  type: z.literal("withdrawal"),
  withdrawalId: id("wd"),
  amount: decimal,
  currency: shownCurrency,
  status: z.literal("confirmed"),
  txHash: txHash.nullable(),
  referenceId,
  address,
  identifier: referenceId.meta({ description: "The same as referenceId" }),
  feeCharges: z.object({
    amount: decimal.meta({ description: "The commission" }),
    percentage: fraction,
    type: chargeType,
    networkFee: decimal.meta({ description: "Charged on top of the amount" }),
  }),
  receivableAmount: decimal.meta({ description: "The amount minus the commission" }),
  eventId,
}).meta({ id: "WithdrawalConfirmedEvent" });

/** Body of `withdrawal.failed`. */
const withdrawalFailed = z.object({
  type: z.literal("withdrawal"),
  withdrawalId: id("wd"),
  amount: decimal,
  currency: shownCurrency,
  status: z.literal("failed"),
  reason: z.string(),
  txHash: txHash.nullable(),
  referenceId,
  address,
  identifier: referenceId.meta({ description: "The same as referenceId" }),
  eventId,
}).meta({ id: "WithdrawalFailedEvent" });

function transactionSettled(status: "confirmed" | "failed") {
  return z.object({
    type: z.literal("transaction"),
    transactionId: id("txn"),
    transactionType: z.enum(["DEPOSIT", "WITHDRAWAL"]),
    amount: signedDecimal,
    fee: decimal,
    currency: shownCurrency,
    network: shownNetwork,
    status: z.literal(status),
    txHash: txHash.nullable(),
    referenceId,
    balanceAfter: decimal.nullable().meta({
      description:
        "Available balance of the pair at this event. It may differ from `balanceAfter` " +
        "of the statement's row, which counts all rows in the order of their creation",
    }),
    createdAt: timestamp,
    eventId,
  });
}

/** Body of every event. */
export const EVENT_PAYLOADS = {
  "deposit.confirmed": depositConfirmed,
  "deposit.failed": depositFailed,
  "withdrawal.confirmed": withdrawalConfirmed,
  "withdrawal.failed": withdrawalFailed,
  "transaction.confirmed": transactionSettled("confirmed").meta({
    id: "TransactionConfirmedEvent",
  }),
  "transaction.failed": transactionSettled("failed").meta({ id: "TransactionFailedEvent" }),
} as const satisfies Readonly<Record<EventType, z.ZodType>>;

const DEPOSIT = {
  type: "deposit",
  depositId: exampleId("dep"),
  amount: "100",
  currency: "USDT",
  identifier: `${exampleId("mer")}_customer-7`,
  txHash: EXAMPLE.txHash,
  address: EXAMPLE.address,
  eventId: exampleId("evt"),
} as const;

const WITHDRAWAL = {
  type: "withdrawal",
  withdrawalId: exampleId("wd"),
  amount: "10",
  currency: "USDT",
  txHash: EXAMPLE.txHash,
  referenceId: "order-1001",
  address: EXAMPLE.address,
  identifier: "order-1001",
  eventId: exampleId("evt"),
} as const;

const TRANSACTION = {
  type: "transaction",
  transactionId: exampleId("txn"),
  transactionType: "WITHDRAWAL",
  amount: "-12",
  fee: "2",
  currency: "USDT",
  network: "TRX",
  txHash: EXAMPLE.txHash,
  referenceId: "order-1001",
  balanceAfter: "250.5",
  createdAt: EXAMPLE.time,
  eventId: exampleId("evt"),
} as const;

export const EVENT_EXAMPLES: { readonly [E in EventType]: z.output<(typeof EVENT_PAYLOADS)[E]> } = {
  "deposit.confirmed": {
    ...DEPOSIT,
    status: "confirmed",
    referenceId: "order-1001",
    isMerchantDirectDeposit: false,
    feeCharges: {
      amount: "1",
      percentage: "0.01",
      type: "HYBRID",
      activationFee: { amount: "0.5", charged: true },
    },
    receivableAmount: "98.5",
  },
  "deposit.failed": {
    ...DEPOSIT,
    status: "failed",
    reason: "The transaction expired without being included",
  },
  "withdrawal.confirmed": {
    ...WITHDRAWAL,
    status: "confirmed",
    feeCharges: { amount: "1", percentage: "0", type: "FIXED_AMOUNT", networkFee: "1" },
    receivableAmount: "9",
  },
  "withdrawal.failed": { ...WITHDRAWAL, txHash: null, status: "failed", reason: "Cancelled" },
  "transaction.confirmed": { ...TRANSACTION, status: "confirmed" },
  "transaction.failed": { ...TRANSACTION, amount: "0", txHash: null, status: "failed" },
};
