/**
 * Payouts to addresses that the merchant names.
 *
 * @module
 */

import { z } from "zod";
import { NOT_INITIATED, type Reserve } from "../../actors/merchant/messages.ts";
import { add, formatAmount } from "../../ledger/money/amount.ts";
import { awaitsApproval } from "../../ledger/money/duties.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import { findReseller } from "../../ledger/resellers.ts";
import type { WithdrawalRow } from "../../ledger/payment_rows.ts";
import { listWithdrawals } from "../../ledger/withdrawals.ts";
import { created, ok } from "../http/answer.ts";
import { type ApiContext, endIds } from "../http/context.ts";
import { errorAnswer, invalidField, notDone } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import { feeInfo, feeInfoSchema } from "../http/fee_info.ts";
import * as f from "../http/fields.ts";
import { listed, ofStatus, pageOf, pages } from "../http/list.ts";
import { actorOf } from "../http/permission.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const STATUSES = ["PENDING", "CONFIRMED", "FAILED", "CANCELLED", "PENDING_APPROVAL"] as const;

const withdrawal = z.object({
  id: f.id("wd"),
  amount: eg(f.decimal, "10"),
  currency: f.currency,
  network: f.network,
  status: eg(z.enum(STATUSES).meta({ id: "WithdrawalStatus" }), "CONFIRMED"),
  destination: f.address,
  referenceId: eg(z.string().nullable().meta({ description: "Your reference" }), "order-1001"),
  description: eg(z.string().nullable(), null),
  txHash: f.txHash.nullable(),
  createdAt: f.timestamp,
  processedAt: f.later.nullable().meta({ description: "When it ended; null before" }),
  fee: eg(f.decimal.meta({ description: "The network fee that was locked" }), "1"),
  commission: eg(f.decimal, "1"),
  commissionRate: eg(f.fraction, "0"),
  createdBy: f.madeBy,
}).meta({ id: "Withdrawal" });

const withdrawalCreated = z.object({
  success: z.literal(true),
  message: eg(z.string(), "Withdrawal created and being processed"),
  withdrawalId: f.id("wd"),
  status: eg(z.enum(["PENDING", "PENDING_APPROVAL"]), "PENDING"),
  amount: eg(f.decimal, "10"),
  currency: f.currency,
  network: f.network,
  destination: f.address,
  feeInfo: feeInfoSchema,
}).meta({ id: "WithdrawalCreated" });

/** A withdrawal that was moved, in the example to a status. */
export function withdrawalMoved(status: (typeof STATUSES)[number]) {
  return z.object({
    success: z.literal(true),
    withdrawalId: f.id("wd"),
    status: eg(z.enum(STATUSES), status),
  });
}

/**
 * True for an address that a merchant may not pay out to, as no other account would be credited: the
 * service's wallets on any network, the merchant's own deposit addresses, those of an account that is not known any
 * more, and those that are watched on another network only. A deposit address of another merchant is
 * a destination like any: the scan credits what arrives there.
 *
 * @param merchantId whose money would leave; null where that is not known yet
 * @param address in its canonical spelling
 */
export async function isClosedDestination(
  merchantId: string | null,
  network: Network,
  address: string,
  context: Pick<ApiContext, "chains" | "addressOwners" | "treasury">,
): Promise<boolean> {
  // chains of one family share addresses: what another network's wallet gets here is in no books
  for (const [other, { hotWallet }] of context.chains) {
    if (address === hotWallet) return true;
    if (address === context.treasury(other).policy?.cold?.address) return true;
  }
  const owners = await context.addressOwners(address);
  if (owners === undefined) return false;
  const owner = owners.find((one) => one.network === network);
  return owner === undefined || owner.merchantId === merchantId ||
    owner.merchantId === LOST_ACCOUNT;
}

const MESSAGES = {
  PENDING: "Withdrawal created and being processed",
  PENDING_APPROVAL: "Withdrawal created and awaiting admin approval",
} as const;

const FORBIDDEN = errorAnswer("withdrawal_forbidden", {});
/** The header guards other requests: who sends it here counts on being paid once. */
const UNGUARDED = invalidField(
  "Idempotency-Key",
  "This header guards no payout. Send referenceId in the body, or leave the header out",
  "unrecognized_keys",
);

export const createWithdrawal = route({
  at: "POST /api/withdrawals",
  summary: "Create an on-chain payout",
  description: "The debit is `amount + commission + networkFee`, quoted and locked now and drawn " +
    "from this pair's balance alone. Send a `referenceId`: it is the idempotency key. While its " +
    "withdrawal is neither FAILED nor CANCELLED, a second request with it is a 409 that names the " +
    "withdrawal and never pays twice; afterwards it may be used again. A 503 created nothing. " +
    "A field that was probably meant to be it, `reference_id`, `refrenceId` or `orderId` for example, is " +
    "refused where it is missing, and so is the header `Idempotency-Key`. " +
    "After a 500 `Outcome unknown`, or no answer at all, repeat with the same `referenceId`. " +
    "Withdrawals of a RESELLER key go to the registered address only and wait for approval. A key " +
    "that shows `needsApproval` has no payout right yet. " +
    "Another merchant's deposit address is a destination like any; your own are refused.",
  access: { scope: "own", anyOf: ["write", "payout"] },
  forbidden: "withdrawal_forbidden",
  needsActiveMerchant: true,
  rateCategory: "withdrawals",
  body: z.object({
    amount: f.signedAmount,
    currency: f.currency,
    network: f.network,
    destination: f.onChainAddress,
    referenceId: f.referenceId.nullish(),
    description: f.description.nullish(),
  }),
  responses: {
    201: {
      description: "The funds are durably reserved and the payout will be made",
      schema: withdrawalCreated,
    },
  },
  errors: [
    "withdrawals_closed_for_pair",
    "amount_not_positive",
    "amount_not_exact",
    "below_minimum",
    "destination_invalid",
    "destination_is_ours",
    "destination_not_registered",
    "reference_taken",
    "no_balance_row",
    "insufficient_balance",
    "treasury_short",
    "payout_initiation_failed",
  ],
  handler: async ({ caller, merchantId, body, headers, now }, context) => {
    const { newId } = context;
    if (awaitsApproval(context.duties, caller)) return FORBIDDEN;
    if ((body.referenceId ?? null) === null && headers.has("idempotency-key")) return UNGUARDED;
    const { currency, network, amount } = body;
    const chain = context.chains.get(network);
    if (chain === undefined) return errorAnswer("withdrawals_closed_for_pair", body);
    const address = chain.address(body.destination);
    const destination = address ?? body.destination;
    const reseller = caller.role === "RESELLER"
      ? await findReseller(context.sql, merchantId)
      : null;
    if (caller.role === "RESELLER" && reseller === null) return FORBIDDEN;
    const withdrawalId = newId("wd");
    const command: Reserve = {
      type: "reserve",
      by: actorOf(caller),
      at: now,
      withdrawalId,
      transactionId: newId("txn"),
      outgoingId: newId("out"),
      chargeIds: [newId("chg"), newId("chg")],
      currency,
      network,
      amount,
      destination,
      destinationCheck: address === null
        ? "invalid"
        : await isClosedDestination(merchantId, network, address, context)
        ? "ours"
        : "ok",
      fromAddress: chain.hotWallet,
      pinnedTo: reseller,
      referenceId: body.referenceId ?? null,
      description: body.description ?? null,
      dynamicFee: context.fees.dynamicFee(network, currency),
      giveUp: context.payoutsOpen(network) ? null : { reason: NOT_INITIATED, ...endIds(context) },
    };
    const outcome = await context.merchants.ask(merchantId, command, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { withdrawalId });
    const { status, fees } = outcome.value;
    if (status === "FAILED") return errorAnswer("payout_initiation_failed", { withdrawalId });
    return created({
      success: true,
      message: MESSAGES[status],
      withdrawalId: outcome.value.withdrawalId,
      status,
      amount: formatAmount(amount),
      currency,
      network,
      destination,
      feeInfo: feeInfo(fees),
    });
  },
});

const CANCELLED = "Withdrawal cancelled and refunded";

export const cancelWithdrawal = route({
  at: "POST /api/withdrawals/{withdrawalId}/cancel",
  summary: "Take back a payout that waits for approval",
  access: { scope: "own", anyOf: ["write", "payout"] },
  rateCategory: "transactions",
  responses: {
    200: {
      description: "Cancelled and refunded",
      schema: withdrawalMoved("CANCELLED").extend({ message: eg(z.string(), CANCELLED) }),
    },
  },
  errors: ["record_not_found", "wrong_state"],
  handler: async ({ merchantId, params, now }, context) => {
    const { withdrawalId } = params;
    const outcome = await context.merchants.ask(merchantId, {
      type: "decline-withdrawal",
      at: now,
      withdrawalId,
      reason: "Cancelled",
      ...endIds(context),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { withdrawalId });
    return ok({ success: true, message: CANCELLED, withdrawalId, status: outcome.value.status });
  },
});

export const getWithdrawals = route({
  at: "GET /api/withdrawals",
  summary: "List payouts, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  description:
    "`referenceId` finds the payouts of one reference: one at most that is neither FAILED nor " +
    "CANCELLED, and those that ended so before it.",
  query: z.object({
    ...pages(10),
    status: ofStatus(STATUSES),
    referenceId: f.referenceId.optional(),
  }),
  responses: {
    200: { description: "One page of payouts", schema: pageOf("withdrawals", withdrawal, 10) },
  },
  handler: async ({ merchantId, query }, { sql }) => {
    const { status, referenceId } = query;
    const found = await listWithdrawals(sql, merchantId, { status, referenceId }, query);
    return listed("withdrawals", found, query, withdrawalView);
  },
});

function withdrawalView(row: WithdrawalRow) {
  return shown(withdrawal, {
    ...row,
    txHash: row.txid,
    fee: row.networkFee,
    commission: add(row.baseFee, row.markupAmount),
    commissionRate: row.markupRate,
  });
}
