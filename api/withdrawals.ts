/**
 * Payouts to addresses that the merchant names.
 *
 * @module
 */

import { z } from "zod";
import type { Reserve } from "../actors/merchant/messages.ts";
import { add, formatAmount } from "../ledger/amount.ts";
import type { Network } from "../ledger/pair.ts";
import { findReseller } from "../ledger/queries/find_reseller.ts";
import { listWithdrawals } from "../ledger/queries/list_withdrawals.ts";
import type { WithdrawalRow } from "../ledger/rows.ts";
import { created, ok } from "./answer.ts";
import type { ApiContext } from "./context.ts";
import { forbidden, notDone, withdrawalsNotSupported } from "./errors.ts";
import { feeInfo } from "./fee_info.ts";
import {
  currency,
  description,
  limit,
  network,
  page,
  referenceId,
  signedAmount,
} from "./fields.ts";
import { pagination } from "./paging.ts";
import { keyedRoute } from "./route.ts";

const newWithdrawal = z.object({
  amount: signedAmount,
  currency,
  network,
  destination: z.string().min(1).max(128),
  referenceId: referenceId.nullish(),
  description: description.nullish(),
});

const MESSAGES = {
  PENDING: "Withdrawal created and being processed",
  PENDING_APPROVAL: "Withdrawal created and awaiting admin approval",
} as const;

/** `POST /api/withdrawals`. */
export const createWithdrawal = keyedRoute({
  method: "POST",
  path: "/api/withdrawals",
  summary: "Create an on-chain payout",
  access: { scope: "own", anyOf: ["write", "payout"] },
  forbiddenText: "Insufficient permissions to initiate a withdrawal",
  needsActiveMerchant: true,
  rateCategory: "withdrawals",
  body: newWithdrawal,
  responses: {
    201: "The payout is durably reserved",
    409: "Duplicate referenceId",
    503: "Withdrawal temporarily unavailable",
  },
  handler: async ({ caller, merchantId, body, now }, context) => {
    const { newId } = context;
    const chain = context.chains.get(body.network);
    if (chain === undefined) return withdrawalsNotSupported(body.currency, body.network);
    const reseller = caller.role === "RESELLER"
      ? await findReseller(context.sql, merchantId)
      : null;
    if (caller.role === "RESELLER" && reseller === null) return forbidden();
    const withdrawalId = newId("wd");
    const command: Reserve = {
      type: "reserve",
      at: now,
      withdrawalId,
      transactionId: newId("txn"),
      outgoingId: newId("out"),
      chargeIds: [newId("chg"), newId("chg")],
      eventId: newId("evt"),
      currency: body.currency,
      network: body.network,
      amount: body.amount,
      destination: body.destination,
      destinationCheck: await checkDestination(body.network, body.destination, context),
      fromAddress: chain.hotWallet,
      pinnedTo: reseller,
      referenceId: body.referenceId ?? null,
      description: body.description ?? null,
      liquidity: context.liquidity(body.network, body.currency),
    };
    const outcome = await context.merchants.ask(merchantId, command, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { withdrawalId });
    const { status, fees } = outcome.value;
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

/** What is known of a destination before the merchant's actor decides. */
async function checkDestination(
  on: Network,
  destination: string,
  context: ApiContext,
): Promise<Reserve["destinationCheck"]> {
  const chain = context.chains.get(on);
  if (chain === undefined || !chain.isAddress(destination)) return "invalid";
  if (destination === chain.hotWallet) return "ours";
  return await context.isOwnAddress(destination) === true ? "ours" : "ok";
}

const listQuery = z.object({
  page: page.optional(),
  limit: limit.optional(),
  status: z.enum(["PENDING", "CONFIRMED", "FAILED", "CANCELLED", "PENDING_APPROVAL"]).optional(),
});

/** `GET /api/withdrawals`. */
export const getWithdrawals = keyedRoute({
  method: "GET",
  path: "/api/withdrawals",
  summary: "List payouts, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: listQuery,
  responses: { 200: "One page of payouts" },
  handler: async ({ merchantId, query }, { sql }) => {
    const request = { page: query.page ?? 1, limit: query.limit ?? 10 };
    const found = await listWithdrawals(sql, merchantId, { status: query.status }, request);
    return ok({
      withdrawals: found.rows.map(withdrawalView),
      pagination: pagination(request, found.total),
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
  };
}
