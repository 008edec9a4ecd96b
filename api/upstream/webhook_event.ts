/**
 * Events of trusted upstream systems, signed with hex HMAC-SHA256 of the JSON body with its keys sorted on
 * every level and its arrays in their order.
 *
 * @module
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { findDepositOwner } from "../../ledger/deposits.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { findIngested, isReservedEventId, upstreamEventId } from "../../ledger/ingested.ts";
import { findWithdrawalOwner } from "../../ledger/withdrawals.ts";
import { askToDecideDeposit, isTransferOfAnother } from "../deposits/decide_deposits.ts";
import { askAsAdmin, recordRefusal } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { cannotBelieveAs } from "../http/checks.ts";
import { type ApiContext, endIds } from "../http/context.ts";
import {
  invalidRequest,
  notFound,
  refused,
  unauthorized,
  unavailable,
  validationFailed,
} from "../http/errors.ts";
import { route, type StaffRequest } from "../http/route.ts";
import { findPayment, type PaymentFault } from "./find_payment.ts";

const ingestedSchema = z.object({ success: z.literal(true), message: z.string() });

const INGESTED_EXAMPLE = { success: true, message: "Event taken in" };

const TYPES = [
  "deposit.confirmed",
  "deposit.failed",
  "deposit.cancelled",
  "withdrawal.confirmed",
  "withdrawal.failed",
] as const;

const recordId = z.string().min(1).max(128);

// Nothing is transformed and nothing dropped: the signature is over the whole body.
const body = z.looseObject({
  eventId: z.string().regex(/^[^\p{C}]{1,128}$/u, {
    message: "Expected 1 to 128 printable characters",
  }).refine((id) => !isReservedEventId(id), {
    message: "Expected another beginning: the service names records of its own like that",
  }),
  type: z.enum(TYPES),
  data: z.looseObject({
    depositId: recordId.optional(),
    withdrawalId: recordId.optional(),
    txHash: z.string().min(1).max(128).nullish(),
    reason: z.string().max(500).nullish(),
  }),
});

type Event = z.output<typeof body>;
type Request = StaffRequest<unknown, Event>;

export const ingestEvent = route({
  at: "POST /api/webhook/event",
  summary: "Take in what a trusted upstream system says; once per eventId",
  access: { scope: "admin", anyOf: ["admin:ingest"] },
  rateCategory: "webhooks",
  body,
  verify: ({ body, headers, now }, { ingestSecret }) => {
    const isAuthentic = isRecent(headers.get("x-timestamp"), now) &&
      isSigned(body, headers.get("x-signature"), ingestSecret);
    return isAuthentic ? null : unauthorized;
  },
  headers: [
    {
      name: "x-signature",
      description: "Hex HMAC-SHA256 of the body with its keys sorted on every level. Numbers are " +
        "signed as JavaScript writes them: `1.0` is signed as `1`, `1e3` as `1000`",
      required: true,
      schema: z.string().regex(/^[0-9a-fA-F]{64}$/),
    },
    {
      name: "x-timestamp",
      description:
        "Unix time in milliseconds, at most 5 minutes from the server's. It is not signed: " +
        "what keeps an event from being taken in twice is its `eventId`",
      required: true,
      schema: z.string().regex(/^\d{1,15}$/),
    },
  ],
  responses: {
    200: {
      description: "Taken in, now or before",
      schema: ingestedSchema,
      example: INGESTED_EXAMPLE,
    },
  },
  errors: [
    "record_not_found",
    "validation_failed",
    "event_conflict",
    "not_manual",
    "transfer_of_another",
    "wrong_state",
    "same_administrator",
    "already_sent",
    "payment_used",
  ],
  handler: async (request, context) => {
    const { body } = request;
    const known = await findIngested(context.sql, upstreamEventId(body.eventId));
    if (known === bodyHash(body)) {
      return ok({ success: true, message: "Event was taken in before" });
    }
    if (known !== null) return refused({ code: "event_conflict" });
    switch (body.type) {
      case "deposit.confirmed":
        return await decideDeposit(request, "CONFIRMED", context);
      case "deposit.failed":
        return await decideDeposit(request, "FAILED", context);
      case "deposit.cancelled":
        return await decideDeposit(request, "CANCELLED", context);
      case "withdrawal.confirmed":
      case "withdrawal.failed":
        return await decideWithdrawal(request, body.type === "withdrawal.confirmed", context);
      default: {
        const never: never = body.type;
        return never;
      }
    }
  },
});

const TAKEN_IN = ok({ success: true, message: "Event taken in" });

/** The upstream's word counts as one administrator's: a large deposit waits for another one. */
const HALF_CONFIRMED = ok({
  success: true,
  message: "Event taken in; an administrator has to confirm the deposit as well",
});

async function decideDeposit(
  request: Request,
  to: "CONFIRMED" | "FAILED" | "CANCELLED",
  context: ApiContext,
): Promise<Answer> {
  const { body, now } = request;
  const { depositId, reason } = body.data;
  if (depositId === undefined) return missing("depositId");
  const found = await findDepositOwner(context.sql, depositId);
  if (found === null) return notFound;
  const { merchantId, status } = found;
  if (to === "CONFIRMED" && await isTransferOfAnother(context, merchantId, depositId)) {
    const accountable = { ...request, merchantId };
    const action = `ingest.${body.type}`;
    await recordRefusal(accountable, action, depositId, "transfer_of_another", context);
    return refused({ code: "transfer_of_another", from: status, to });
  }
  const outcome = await askToDecideDeposit(request, found, `ingest.${body.type}`, {
    type: "decide-deposit",
    at: now,
    depositId,
    to,
    reason: reason ?? null,
    ...endIds(context),
    ingestion: { eventId: upstreamEventId(body.eventId), bodyHash: bodyHash(body) },
  }, context);
  if (outcome.kind === "answer") return outcome.answer;
  return outcome.value.deposit?.status === "PENDING" ? HALF_CONFIRMED : TAKEN_IN;
}

async function decideWithdrawal(
  request: Request,
  isPaid: boolean,
  context: ApiContext,
): Promise<Answer> {
  const { body, now } = request;
  const { withdrawalId, txHash, reason } = body.data;
  if (withdrawalId === undefined) return missing("withdrawalId");
  const withdrawal = await findWithdrawalOwner(context.sql, withdrawalId);
  if (withdrawal === null) return notFound;
  if (isPaid && (txHash === undefined || txHash === null)) return missing("txHash");
  // what was signed in a lost history may still pay it, and its money would be back as well
  if (!isPaid && await readSigningStop(context.sql, withdrawal.network) !== null) {
    return unavailable("Payouts are held, see admin failover; nothing was done.");
  }
  const found = isPaid ? await findPayment(withdrawal, txHash ?? "", context) : null;
  if (found?.kind === "in_doubt") return cannotBelieveAs(found);
  if (found !== null && found.kind === "fault") {
    return validationFailed("data.txHash", FAULTS[found.fault], found.fault);
  }
  const { merchantId, settlementId, network } = withdrawal;
  const outcome = await askAsAdmin(request, merchantId, `ingest.${body.type}`, withdrawalId, {
    type: "ingest-withdrawal",
    at: now,
    withdrawalId,
    settlementId,
    network,
    paidBy: found === null ? null : found.payment,
    reason: reason ?? null,
    ...endIds(context),
    ingestion: { eventId: upstreamEventId(body.eventId), bodyHash: bodyHash(body) },
  }, context);
  return outcome.kind === "answer" ? outcome.answer : TAKEN_IN;
}

const FAULTS: Readonly<Record<PaymentFault, string>> = {
  no_network: "The service has no node of the withdrawal's network",
  no_transaction_id: "Not a transaction id of the withdrawal's network",
  not_final: "The transaction is not in a solid block that was read",
  failed: "The transaction failed",
  other_transfer: "The transaction does not pay this amount of this token to this destination",
  too_old: "The transaction is older than the withdrawal",
  other_payout: "The transaction carries another payout",
  deposit_here: "The destination is a deposit address; a transfer of another wallet is its deposit",
};

function missing(field: string): Answer {
  const message = "Expected for this type of event";
  return invalidRequest([{ path: ["data", field], message, code: "invalid_type" }]);
}

/** The most that a timestamp may differ from the service's clock, milliseconds. */
const TOLERANCE_MS = 5 * 60_000;

/**
 * The text that is signed. Written by hand, because an object of JavaScript puts names that look
 * like numbers first, whatever order they are given in.
 *
 * @param value a JSON value; nested no deeper than the reader of bodies lets through
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`);
  return `{${fields.join(",")}}`;
}

/** True where a signature is that of a body. */
function isSigned(body: unknown, signature: string | null, secret: string): boolean {
  if (signature === null || !/^[0-9a-f]{64}$/i.test(signature)) return false;
  const expected = createHmac("sha256", secret).update(canonicalJson(body)).digest();
  return timingSafeEqual(expected, Uint8Array.fromHex(signature));
}

/** True where a timestamp (Unix milliseconds) is recent enough. */
function isRecent(timestamp: string | null, now: number): boolean {
  if (timestamp === null || !/^\d{1,15}$/.test(timestamp)) return false;
  return Math.abs(now - Number(timestamp)) <= TOLERANCE_MS;
}

/** SHA-256 of a body in lowercase hex, the same however its keys are ordered. */
function bodyHash(body: unknown): string {
  return createHash("sha256").update(canonicalJson(body)).digest("hex");
}
