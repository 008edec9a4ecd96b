/**
 * Payouts to the merchant's own, whitelisted addresses.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { z } from "zod";
import { NOT_INITIATED } from "../../actors/merchant/messages.ts";
import { readMerchant } from "../../ledger/merchants.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { awaitsApproval } from "../../ledger/money/duties.ts";
import type { SettlementRow } from "../../ledger/rows.ts";
import { findSettlement, listSettlements } from "../../ledger/settlements.ts";
import { type Answer, created, ok } from "../http/answer.ts";
import { auditStamp } from "../http/admin_command.ts";
import type { ApiContext } from "../http/context.ts";
import { errorAnswer, forbidden, invalidField, notDone, notFound } from "../http/errors.ts";
import { currency, limit, network, onChainAddress, page, signedAmount } from "../http/fields.ts";
import { pagination } from "../http/formats.ts";
import { actorOf, type Caller } from "../http/permission.ts";
import { keyedRoute, staffRoute } from "../http/route.ts";
import { refuseUnknownFields } from "../http/checks.ts";
import {
  SETTLEMENT_CANCELLED_EXAMPLE,
  SETTLEMENT_CREATED_EXAMPLES,
  SETTLEMENT_PAGE_EXAMPLE,
  SETTLEMENT_STATUSES,
  settlementCreated,
  settlementPage,
  settlementSchema,
} from "./settlement_schema.ts";

const newSettlement = z.looseObject({
  userId: z.string().min(1).max(128).nullish(),
  currency,
  requestedAmount: signedAmount,
  destinationAddress: onChainAddress,
  destinationNetwork: network,
});

const MESSAGES = {
  PROCESSING: "Settlement created and being processed",
  APPROVAL_REQUIRED: "Settlement created and awaiting admin approval",
} as const;

/** `POST /api/settlements`. */
export const createSettlement = staffRoute({
  method: "POST",
  path: "/api/settlements",
  summary: "Create a payout to a whitelisted address",
  description:
    "Costs what a withdrawal costs, drains this pair's balance alone, and is read here: " +
    "settlements send no events. From the approval threshold on it waits for an administrator. " +
    "A key that shows `needsApproval` has no payout right yet. " +
    "After a 500 `Payout initiation failed` the money is back and the key may be used again.",
  access: { scope: "acting", anyOf: ["write", "payout"], adminAnyOf: ["admin:payments"] },
  needsActiveMerchant: true,
  closedTo: ["RESELLER"],
  rateCategory: "withdrawals",
  headers: [{
    name: "Idempotency-Key",
    description:
      "The same key gets the same answer for 24 hours; those of an account's own API keys and those of " +
      "administrators are apart",
    schema: z.string().min(1).max(255),
  }],
  body: newSettlement,
  responses: {
    201: {
      description: "The funds are durably reserved",
      schema: settlementCreated,
      examples: SETTLEMENT_CREATED_EXAMPLES,
    },
  },
  errors: [
    "idempotency_conflict",
    "withdrawals_closed_for_pair",
    "amount_not_positive",
    "amount_not_exact",
    "below_minimum",
    "destination_not_whitelisted",
    "no_balance_row",
    "insufficient_balance",
    "treasury_short",
    "settlement_initiation_failed",
    "record_not_found",
  ],
  handler: async ({ body, ...request }, context) => {
    const { caller, headers, now } = request;
    const unknown = refuseUnknownFields(caller, body, newSettlement.shape);
    if (unknown !== null) return unknown;
    if (awaitsApproval(context.duties, caller)) return forbidden;
    const account = await accountOf(caller, body.userId ?? null, context);
    if (account.kind === "refused") return account.answer;
    const idempotencyKey = headers.get("idempotency-key");
    if (idempotencyKey !== null && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
      return invalidField(
        "Idempotency-Key",
        "Expected 1 to 255 ASCII characters",
        "invalid_string",
      );
    }
    const { newId } = context;
    const { destinationNetwork } = body;
    const chain = context.chains.get(destinationNetwork);
    if (chain === undefined) {
      const pair = { currency: body.currency, network: destinationNetwork };
      return errorAnswer("withdrawals_closed_for_pair", pair);
    }
    const settlementId = newId("stl");
    const outcome = await context.merchants.ask(account.merchantId, {
      type: "create-settlement",
      at: now,
      settlementId,
      withdrawalId: newId("wd"),
      transactionId: newId("txn"),
      outgoingId: newId("out"),
      chargeIds: [newId("chg"), newId("chg")],
      currency: body.currency,
      network: destinationNetwork,
      amount: body.requestedAmount,
      destination: body.destinationAddress,
      fromAddress: chain.hotWallet,
      dynamicFee: context.fees.dynamicFee(destinationNetwork, body.currency),
      idempotencyKey: idempotencyKey === null ? null : keyOf(caller, idempotencyKey),
      bodyHash: idempotencyKey === null ? null : hashOf(body),
      by: actorOf(caller),
      ...(isAskedByAdministrator(caller, context) ? { aloneUpTo: context.duties.aloneUpTo } : {}),
      giveUp: context.payoutsOpen(destinationNetwork) ? null : {
        reason: NOT_INITIATED,
        chargeIds: [newId("chg"), newId("chg")],
        eventIds: [newId("evt"), newId("evt")],
      },
      ...(caller.role === "ADMIN"
        ? { audit: auditStamp(request, "settlement.create", context) }
        : {}),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { settlementId }, "requestedAmount");
    const { settlement, created: isNew } = outcome.value;
    if (isNew && settlement.status === "FAILED") {
      return errorAnswer("settlement_initiation_failed", {
        settlementId: settlement.id,
        withdrawalId: settlement.withdrawalId,
      });
    }
    // a repeated request gets the answer of the first one, whatever has become of it since
    const status = settlement.neededApproval ? "APPROVAL_REQUIRED" : "PROCESSING";
    const history = settlement.history.slice(0, 2);
    return created({
      ...settlementView({ ...settlement, status, reason: null, history }),
      message: MESSAGES[status],
    });
  },
});

/** True where another administrator has to agree above the bound of one, whatever the threshold is. */
function isAskedByAdministrator(caller: Caller, { duties }: Pick<ApiContext, "duties">): boolean {
  return duties.fourEyes === "persons" && caller.role === "ADMIN";
}

type Account =
  | { readonly kind: "known"; readonly merchantId: string }
  | { readonly kind: "refused"; readonly answer: Answer };

/** The account of a settlement: the caller's own, or the one an administrator names. */
async function accountOf(
  caller: Caller,
  userId: string | null,
  context: ApiContext,
): Promise<Account> {
  const refuse = (answer: Answer): Account => ({ kind: "refused", answer });
  if (caller.merchantId !== null) {
    return userId === null || userId === caller.merchantId
      ? { kind: "known", merchantId: caller.merchantId }
      : refuse(forbidden);
  }
  if (userId === null) {
    return refuse(invalidField("userId", "An administrator names the account", "required"));
  }
  if (await readMerchant(context.sql, userId) === null) return refuse(notFound);
  return { kind: "known", merchantId: userId };
}

/**
 * An Idempotency-Key as it is kept: an administrator's begins with a line's end, which no header can
 * have, so that it is never the account's own.
 */
function keyOf(caller: Caller, idempotencyKey: string): string {
  return caller.role === "ADMIN" ? `\n${idempotencyKey}` : idempotencyKey;
}

/** The hash of the fields that make two requests with one Idempotency-Key the same. */
function hashOf(body: z.output<typeof newSettlement>): string {
  const told = [
    body.currency,
    formatAmount(body.requestedAmount),
    body.destinationAddress,
    body.destinationNetwork,
  ];
  return createHash("sha256").update(JSON.stringify(told)).digest("hex");
}

/** `GET /api/settlements`. */
export const getSettlements = keyedRoute({
  method: "GET",
  path: "/api/settlements",
  summary: "List settlements, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    status: z.enum(SETTLEMENT_STATUSES).optional(),
  }),
  responses: {
    200: {
      description: "One page of settlements",
      schema: settlementPage,
      example: SETTLEMENT_PAGE_EXAMPLE,
    },
  },
  handler: async ({ merchantId, query }, { sql }) => {
    const found = await listSettlements(sql, merchantId, { status: query.status }, query);
    return ok({
      settlements: found.rows.map(settlementView),
      pagination: pagination(query, found.total),
    });
  },
});

/** `POST /api/settlements/{settlementId}/cancel`. */
export const cancelSettlement = keyedRoute({
  method: "POST",
  path: "/api/settlements/{settlementId}/cancel",
  summary: "Take back a settlement that waits for approval",
  access: { scope: "own", anyOf: ["write", "payout"] },
  closedTo: ["RESELLER"],
  rateCategory: "transactions",
  responses: {
    200: {
      description: "Cancelled and refunded",
      schema: settlementSchema,
      example: SETTLEMENT_CANCELLED_EXAMPLE,
    },
  },
  errors: ["record_not_found", "wrong_state"],
  handler: async ({ merchantId, params, now }, context) => {
    const { sql, newId } = context;
    const settlementId = params.settlementId ?? "";
    const settlement = await findSettlement(sql, merchantId, settlementId);
    if (settlement === null) return notFound;
    const outcome = await context.merchants.ask(merchantId, {
      type: "decline-settlement",
      at: now,
      settlementId,
      withdrawalId: settlement.withdrawalId,
      to: "CANCELLED",
      reason: "Cancelled",
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { settlementId });
    return ok(settlementView(outcome.value.settlement));
  },
});

/** A settlement as it is shown. */
function settlementView(row: SettlementRow) {
  return {
    id: row.id,
    amount: formatAmount(row.amount),
    currency: row.currency,
    network: row.network,
    status: row.status,
    reason: row.reason,
    destinationAddress: row.address,
    destinationNetwork: row.network,
    createdAt: new Date(row.createdAt).toISOString(),
    totalFees: formatAmount(row.totalFees),
    merchantAddress: { address: row.address, label: row.label },
    withdrawalId: row.withdrawalId,
    history: row.history,
    createdBy: row.createdBy,
  };
}
