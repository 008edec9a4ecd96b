/**
 * Payouts to addresses that the merchant names.
 *
 * @module
 */

import { z } from "zod";
import { NOT_INITIATED, type Reserve } from "../../actors/merchant/messages.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import { add, formatAmount } from "../../ledger/money/amount.ts";
import { awaitsApproval } from "../../ledger/money/duties.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { findReseller } from "../../ledger/resellers.ts";
import type { WithdrawalRow } from "../../ledger/rows.ts";
import { listWithdrawals } from "../../ledger/withdrawals.ts";
import { created, ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { errorAnswer, notDone } from "../http/errors.ts";
import { feeInfo } from "../http/fee_info.ts";
import {
  currency,
  description,
  limit,
  network,
  onChainAddress,
  page,
  referenceId,
  signedAmount,
} from "../http/fields.ts";
import { pagination } from "../http/formats.ts";
import { actorOf } from "../http/permission.ts";
import { keyedRoute } from "../http/route.ts";
import {
  WITHDRAWAL_CREATED_EXAMPLE,
  WITHDRAWAL_PAGE_EXAMPLE,
  WITHDRAWAL_STATUSES,
  withdrawalCancelled,
  withdrawalCreated,
  withdrawalMovedExample,
  withdrawalPage,
} from "./withdrawal_schema.ts";

/**
 * True for an address that a merchant may not pay out to, as no other account would be credited: the
 * service's wallets, the merchant's own deposit addresses, those of an account that is not known any
 * more, and those that are watched on another network only. A deposit address of another merchant is
 * a destination like any: the scan credits what arrives there.
 *
 * @param merchantId whose money would leave; null where that is not known yet
 */
export async function isClosedDestination(
  merchantId: string | null,
  network: Network,
  address: string,
  context: Pick<ApiContext, "chains" | "addressOwners" | "treasury">,
): Promise<boolean> {
  const { policy } = context.treasury(network);
  if (address === context.chains.get(network)?.hotWallet) return true;
  if (address === policy?.cold?.address) return true;
  const owners = await context.addressOwners(address);
  if (owners === undefined) return false;
  const owner = owners.find((one) => one.network === network);
  return owner === undefined || owner.merchantId === merchantId ||
    owner.merchantId === LOST_ACCOUNT;
}

const newWithdrawal = z.object({
  amount: signedAmount,
  currency,
  network,
  destination: onChainAddress,
  referenceId: referenceId.nullish(),
  description: description.nullish(),
});

const MESSAGES = {
  PENDING: "Withdrawal created and being processed",
  PENDING_APPROVAL: "Withdrawal created and awaiting admin approval",
} as const;

const FORBIDDEN = errorAnswer("withdrawal_forbidden", {});

/** `POST /api/withdrawals`. */
export const createWithdrawal = keyedRoute({
  method: "POST",
  path: "/api/withdrawals",
  summary: "Create an on-chain payout",
  description: "The debit is `amount + commission + networkFee`, quoted and locked now and drawn " +
    "from this pair's balance alone. Send a `referenceId`: it is the idempotency key. While its " +
    "withdrawal is neither FAILED nor CANCELLED, a second request with it is a 409 that names the " +
    "withdrawal and never pays twice; afterwards it may be used again. A 503 created nothing. " +
    "After a 500 `Outcome unknown`, or no answer at all, repeat with the same `referenceId`. " +
    "Withdrawals of a RESELLER key go to the registered address only and wait for approval. A key " +
    "that shows `needsApproval` has no payout right yet. " +
    "Another merchant's deposit address is a destination like any; your own are refused.",
  access: { scope: "own", anyOf: ["write", "payout"] },
  forbidden: "withdrawal_forbidden",
  needsActiveMerchant: true,
  rateCategory: "withdrawals",
  body: newWithdrawal,
  responses: {
    201: {
      description: "The funds are durably reserved and the payout will be made",
      schema: withdrawalCreated,
      example: WITHDRAWAL_CREATED_EXAMPLE,
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
  handler: async ({ caller, merchantId, body, now }, context) => {
    const { newId } = context;
    if (awaitsApproval(context.duties, caller)) return FORBIDDEN;
    const chain = context.chains.get(body.network);
    if (chain === undefined) return errorAnswer("withdrawals_closed_for_pair", body);
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
      currency: body.currency,
      network: body.network,
      amount: body.amount,
      destination: body.destination,
      destinationCheck: await checkDestination(merchantId, body, context),
      fromAddress: chain.hotWallet,
      pinnedTo: reseller,
      referenceId: body.referenceId ?? null,
      description: body.description ?? null,
      dynamicFee: context.fees.dynamicFee(body.network, body.currency),
      giveUp: context.payoutsOpen(body.network) ? null : {
        reason: NOT_INITIATED,
        chargeIds: [newId("chg"), newId("chg")],
        eventIds: [newId("evt"), newId("evt")],
      },
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
      amount: formatAmount(body.amount),
      currency: body.currency,
      network: body.network,
      destination: body.destination,
      feeInfo: feeInfo(fees),
    });
  },
});

/** `POST /api/withdrawals/{withdrawalId}/cancel`. */
export const cancelWithdrawal = keyedRoute({
  method: "POST",
  path: "/api/withdrawals/{withdrawalId}/cancel",
  summary: "Take back a payout that waits for approval",
  access: { scope: "own", anyOf: ["write", "payout"] },
  rateCategory: "transactions",
  responses: {
    200: {
      description: "Cancelled and refunded",
      schema: withdrawalCancelled,
      example: {
        ...withdrawalMovedExample("CANCELLED"),
        message: "Withdrawal cancelled and refunded",
      },
    },
  },
  errors: ["record_not_found", "wrong_state"],
  handler: async ({ merchantId, params, now }, context) => {
    const { newId } = context;
    const withdrawalId = params.withdrawalId ?? "";
    const outcome = await context.merchants.ask(merchantId, {
      type: "decline-withdrawal",
      at: now,
      withdrawalId,
      reason: "Cancelled",
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { withdrawalId });
    return ok({
      success: true,
      message: "Withdrawal cancelled and refunded",
      withdrawalId,
      status: outcome.value.status,
    });
  },
});

/** The check of a destination before the merchant's actor decides. */
async function checkDestination(
  merchantId: string,
  { network, destination }: Pick<Reserve, "network" | "destination">,
  context: ApiContext,
): Promise<Reserve["destinationCheck"]> {
  const chain = context.chains.get(network);
  if (chain === undefined || !chain.isAddress(destination)) return "invalid";
  const isClosed = await isClosedDestination(merchantId, network, destination, context);
  return isClosed ? "ours" : "ok";
}

const listQuery = z.object({
  page: page.default(1),
  limit: limit.default(10),
  status: z.enum(WITHDRAWAL_STATUSES).optional(),
});

/** `GET /api/withdrawals`. */
export const getWithdrawals = keyedRoute({
  method: "GET",
  path: "/api/withdrawals",
  summary: "List payouts, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: listQuery,
  responses: {
    200: {
      description: "One page of payouts",
      schema: withdrawalPage,
      example: WITHDRAWAL_PAGE_EXAMPLE,
    },
  },
  handler: async ({ merchantId, query }, { sql }) => {
    const found = await listWithdrawals(sql, merchantId, { status: query.status }, query);
    return ok({
      withdrawals: found.rows.map(withdrawalView),
      pagination: pagination(query, found.total),
    });
  },
});

function withdrawalView(row: WithdrawalRow) {
  return {
    id: row.id,
    amount: formatAmount(row.amount),
    currency: row.currency,
    network: row.network,
    status: row.status,
    destination: row.destination,
    referenceId: row.referenceId,
    description: row.description,
    txHash: row.txid,
    createdAt: new Date(row.createdAt).toISOString(),
    processedAt: row.processedAt === null ? null : new Date(row.processedAt).toISOString(),
    fee: formatAmount(row.networkFee),
    commission: formatAmount(add(row.baseFee, row.markupAmount)),
    commissionRate: row.markupRate,
    createdBy: row.createdBy,
  };
}
