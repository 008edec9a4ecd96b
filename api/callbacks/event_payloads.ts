/**
 * Bodies of the events that the service sends, as receivers read them. A value that does not exist
 * is null; the key is there.
 *
 * @module
 */

import { z } from "zod";
import { type EventType, FEE_CHARGE_TYPES } from "../../webhooks/events.ts";
import { storedIdentifier } from "../deposits/deposit_address.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";

const eventId = f.id("evt").meta({
  description: "Stable on every redelivery; the same as X-Webhook-Id",
});

const referenceId = eg(z.string().nullable(), "order-1001").meta({ description: "Your reference" });
const sameAsReference = referenceId.meta({ description: "The same as referenceId" });
const chargeType = z.enum(FEE_CHARGE_TYPES).meta({ id: "FeeChargeType" });
const notSent = eg(f.txHash.nullable(), null);

const depositConfirmed = z.object({
  type: z.literal("deposit"),
  depositId: f.id("dep"),
  amount: eg(f.decimal, "100"),
  currency: f.currency,
  network: f.network,
  status: z.literal("confirmed"),
  identifier: storedIdentifier.nullable(),
  txHash: f.txHash.nullable(),
  referenceId,
  address: f.address.nullable(),
  isMerchantDirectDeposit: eg(
    z.boolean().meta({ description: "True for wallet top-ups" }),
    false,
  ),
  feeCharges: z.object({
    amount: eg(f.decimal.meta({ description: "The commission; of a top-up the flat fee" }), "1"),
    percentage: eg(f.fraction, "0.01"),
    type: eg(chargeType, "HYBRID"),
    activationFee: z.object({ amount: eg(f.decimal, "0.5"), charged: eg(z.boolean(), true) }),
  }),
  receivableAmount: eg(
    f.decimal.meta({ description: "Net: the amount minus its fees, as the balance got it" }),
    "98.5",
  ),
  eventId,
}).meta({ id: "DepositConfirmedEvent" });

const depositFailed = z.object({
  type: z.literal("deposit"),
  depositId: f.id("dep"),
  amount: eg(f.decimal, "100"),
  currency: f.currency,
  network: f.network,
  identifier: storedIdentifier.nullable(),
  status: z.literal("failed"),
  reason: eg(z.string(), "The transaction expired without being included"),
  txHash: f.txHash.nullable(),
  referenceId,
  address: f.address.nullable(),
  eventId,
}).meta({ id: "DepositFailedEvent" });

const withdrawalConfirmed = z.object({
  type: z.literal("withdrawal"),
  withdrawalId: f.id("wd"),
  amount: eg(f.decimal, "10"),
  currency: f.currency,
  network: f.network,
  status: z.literal("confirmed"),
  txHash: f.txHash.nullable(),
  referenceId,
  address: f.address,
  identifier: sameAsReference,
  feeCharges: z.object({
    amount: eg(f.decimal.meta({ description: "The commission" }), "1"),
    percentage: eg(f.fraction, "0"),
    type: eg(chargeType, "FIXED_AMOUNT"),
    networkFee: eg(f.decimal.meta({ description: "Charged on top of the amount" }), "1"),
  }),
  receivableAmount: eg(
    f.decimal.meta({
      description: "The amount minus the commission; the destination got `amount`",
    }),
    "9",
  ),
  eventId,
}).meta({ id: "WithdrawalConfirmedEvent" });

const withdrawalFailed = z.object({
  type: z.literal("withdrawal"),
  withdrawalId: f.id("wd"),
  amount: eg(f.decimal, "10"),
  currency: f.currency,
  network: f.network,
  status: z.literal("failed"),
  reason: eg(z.string(), "Cancelled"),
  txHash: notSent,
  referenceId,
  address: f.address,
  identifier: sameAsReference,
  eventId,
}).meta({ id: "WithdrawalFailedEvent" });

function transactionSettled<S extends "confirmed" | "failed">(status: S) {
  return z.object({
    type: z.literal("transaction"),
    transactionId: f.id("txn"),
    transactionType: eg(z.enum(["DEPOSIT", "WITHDRAWAL"]), "WITHDRAWAL"),
    amount: eg(f.signedDecimal, status === "failed" ? "0" : "-12"),
    fee: eg(f.decimal, "2"),
    currency: f.currency,
    network: f.network,
    status: z.literal(status),
    txHash: status === "failed" ? notSent : f.txHash.nullable(),
    referenceId,
    balanceAfter: eg(
      f.decimal.nullable().meta({
        description:
          "Available balance of the pair at this event. It may differ from `balanceAfter` " +
          "of the statement's row, which counts all rows in the order of their creation",
      }),
      "250.5",
    ),
    createdAt: f.timestamp,
    eventId,
  });
}

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
