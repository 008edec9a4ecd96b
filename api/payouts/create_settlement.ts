/**
 * A payout to one of the merchant's whitelisted addresses is asked for.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { z } from "zod";
import { NOT_INITIATED } from "../../actors/merchant/messages.ts";
import { readMerchant } from "../../ledger/merchants.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { awaitsApproval } from "../../ledger/money/duties.ts";
import { auditStamp } from "../http/admin_command.ts";
import { type Answer, created } from "../http/answer.ts";
import { readIdempotencyKey, refuseUnknownFields } from "../http/checks.ts";
import { type ApiContext, endIds } from "../http/context.ts";
import { errorAnswer, forbidden, invalidField, notDone, notFound } from "../http/errors.ts";
import { exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { referenceIn } from "../http/misspelt.ts";
import { actorOf, type Caller } from "../http/permission.ts";
import { route } from "../http/route.ts";
import { historyOf, settlement, settlementView } from "./settlements.ts";

const settlementCreated = settlement.extend({ message: z.string() }).meta({
  id: "SettlementCreated",
});

const newSettlement = z.looseObject({
  userId: z.string().min(1).max(128).nullish(),
  currency: f.currency,
  requestedAmount: f.signedAmount,
  destinationAddress: f.onChainAddress,
  destinationNetwork: f.network,
});

/** A reference is sent to be paid once, and only the header sees to that. */
const UNGUARDED = "There is no such field, and it refuses no repeat of a settlement. " +
  "Send the header Idempotency-Key, and with it this field as you like, or leave it out";

const MESSAGES = {
  PROCESSING: "Settlement created and being processed",
  APPROVAL_REQUIRED: "Settlement created and awaiting admin approval",
} as const;

export const createSettlement = route({
  at: "POST /api/settlements",
  summary: "Create a payout to a whitelisted address",
  description:
    "Costs what a withdrawal costs, drains this pair's balance alone, and is read here: " +
    "settlements send no events. From the approval threshold on it waits for an administrator. " +
    "A key that shows `needsApproval` has no payout right yet. " +
    "A repeat is known by the header `Idempotency-Key` alone: without it a field that was probably meant for " +
    "that, `referenceId` or `orderId` for example, is a 400. " +
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
      examples: {
        belowThreshold: { ...exampleOf(settlement), message: MESSAGES.PROCESSING },
        needsApproval: {
          ...exampleOf(settlement),
          amount: "25000",
          status: "APPROVAL_REQUIRED",
          history: historyOf("PENDING", "APPROVAL_REQUIRED"),
          message: MESSAGES.APPROVAL_REQUIRED,
        },
      },
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
    const merchantId = await accountOf(caller, body.userId ?? null, context);
    if (typeof merchantId !== "string") return merchantId;
    const idempotencyKey = readIdempotencyKey(headers);
    if (typeof idempotencyKey === "object" && idempotencyKey !== null) return idempotencyKey;
    const reference = idempotencyKey === null ? referenceIn(newSettlement, body) : null;
    if (reference !== null) return invalidField(reference, UNGUARDED, "unrecognized_keys");
    const { newId } = context;
    const { currency, destinationNetwork } = body;
    const chain = context.chains.get(destinationNetwork);
    if (chain === undefined) {
      const pair = { currency, network: destinationNetwork };
      return errorAnswer("withdrawals_closed_for_pair", pair);
    }
    // one that is no address is on no whitelist
    const destination = chain.address(body.destinationAddress) ?? body.destinationAddress;
    const settlementId = newId("stl");
    const audit = caller.role === "ADMIN"
      ? { audit: auditStamp(request, "settlement.create", context) }
      : {};
    // above the bound of one another administrator has to agree, whatever the threshold is
    const isAskedByAdministrator = caller.role === "ADMIN" && context.duties.fourEyes === "persons";
    const outcome = await context.merchants.ask(merchantId, {
      type: "create-settlement",
      at: now,
      settlementId,
      withdrawalId: newId("wd"),
      transactionId: newId("txn"),
      outgoingId: newId("out"),
      chargeIds: [newId("chg"), newId("chg")],
      currency,
      network: destinationNetwork,
      amount: body.requestedAmount,
      destination,
      fromAddress: chain.hotWallet,
      dynamicFee: context.fees.dynamicFee(destinationNetwork, currency),
      idempotencyKey: idempotencyKey === null ? null : keyOf(caller, idempotencyKey),
      bodyHash: idempotencyKey === null
        ? null
        : hashOf({ ...body, destinationAddress: destination }),
      by: actorOf(caller),
      ...(isAskedByAdministrator ? { aloneUpTo: context.duties.aloneUpTo } : {}),
      giveUp: context.payoutsOpen(destinationNetwork)
        ? null
        : { reason: NOT_INITIATED, ...endIds(context) },
      ...audit,
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { settlementId }, "requestedAmount");
    const { settlement: row, created: isNew } = outcome.value;
    if (isNew && row.status === "FAILED") {
      return errorAnswer("settlement_initiation_failed", {
        settlementId: row.id,
        withdrawalId: row.withdrawalId,
      });
    }
    // a repeated request gets the answer of the first one, whatever has become of it since
    const status = row.neededApproval ? "APPROVAL_REQUIRED" : "PROCESSING";
    const history = row.history.slice(0, 2);
    return created({
      ...settlementView({ ...row, status, reason: null, history }),
      message: MESSAGES[status],
    });
  },
});

/** The account of a settlement, the caller's own or the one an administrator names; or the refusal. */
async function accountOf(
  caller: Caller,
  userId: string | null,
  context: ApiContext,
): Promise<string | Answer> {
  const own = caller.merchantId;
  if (own !== null) return userId === null || userId === own ? own : forbidden;
  if (userId === null) {
    return invalidField("userId", "An administrator names the account", "required");
  }
  return await readMerchant(context.sql, userId) === null ? notFound : userId;
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
  const { currency, requestedAmount, destinationAddress, destinationNetwork } = body;
  const told = [currency, formatAmount(requestedAmount), destinationAddress, destinationNetwork];
  return createHash("sha256").update(JSON.stringify(told)).digest("hex");
}
