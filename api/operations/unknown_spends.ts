/**
 * Verdicts on transfers that left the service's wallets unknown to the books. Each is what its own scan has
 * read in a solid block, so no node is asked about it, and until all are decided nothing is signed.
 *
 * @module
 */

import { z } from "zod";
import {
  bookedWithdrawalId,
  decideSpends,
  type SpendVerdict,
  writeOffSpends,
} from "../../ledger/failover/spend_verdicts.ts";
import {
  type Candidate,
  findCandidates,
  findUndecided,
  type UnknownSpend,
} from "../../ledger/failover/unknown_spends.ts";
import { findIngested, spendEventId } from "../../ledger/ingested.ts";
import { readMerchant } from "../../ledger/merchants.ts";
import type { WithdrawalRow } from "../../ledger/payment_rows.ts";
import { findWithdrawalOwner } from "../../ledger/withdrawals.ts";
import { askAsAdmin, type AskingAdmin, hubAudit, recordRefusal } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { type ApiContext, endIds } from "../http/context.ts";
import { conflict, notFound } from "../http/errors.ts";
import * as f from "../http/fields.ts";
import { adminRoute, type StaffRequest } from "../http/route.ts";
import { failoverDone } from "./failover.ts";

const txid = z.string().min(1).max(200).meta({ description: "As the list shows it" });
const anyway = z.boolean().optional().meta({
  description: "Although a withdrawal of the same terms lives, which will be paid as well",
});

type Request =
  & Pick<StaffRequest<unknown, unknown>, "caller" | "merchantId" | "requestId" | "now">
  & AskingAdmin;

export const matchSpend = adminRoute({
  at: "POST /api/admin/failover/match",
  summary: "Say that an unknown transfer has paid a withdrawal that waits; it is not paid again",
  anyOf: ["admin:treasury"],
  body: z.strictObject({ txid, withdrawalId: z.string().min(1).max(100) }),
  responses: { 200: { description: "It is CONFIRMED", schema: failoverDone } },
  errors: [
    "record_not_found",
    "conflict",
    "event_conflict",
    "wrong_state",
    "already_sent",
    "payment_used",
  ],
  handler: async ({ body, ...request }, context) => {
    const spend = await onlySpend(context, body.txid);
    if (spend === null) return notFound;
    const withdrawal = await findWithdrawalOwner(context.sql, body.withdrawalId);
    if (withdrawal === null) return notFound;
    if (!pays(spend, withdrawal)) {
      await recordRefusal(request, "failover.match", body.txid, "other_transfer", context);
      return conflict("The transfer has another network, token, amount or destination");
    }
    const paid = await findIngested(context.sql, spendEventId(spend));
    if (paid !== null && paid !== withdrawal.id) {
      await recordRefusal(request, "failover.match", body.txid, "event_conflict", context);
      return paidAlready(paid);
    }
    const candidates = await findCandidates(context.sql, spend);
    const candidate = candidates.find(({ withdrawalId }) => withdrawalId === withdrawal.id);
    if (candidate?.state === "signed") {
      await recordRefusal(request, "failover.match", body.txid, "signed", context);
      return conflict(
        candidate.expiresAt === null ? shown(candidate) : `${shown(candidate)}. Match it then`,
      );
    }
    return await confirm(request, spend, withdrawal, context);
  },
});

export const bookSpend = adminRoute({
  at: "POST /api/admin/failover/book",
  summary: "Book an unknown transfer as a withdrawal of a merchant that the database has lost",
  description:
    "The withdrawal is made, charged as usual and CONFIRMED by the transfer, whatever the settings " +
    "and the merchant's status are by now. Where the merchant has too little for it, nothing is " +
    "booked: what is left is to write it off. Refused while a withdrawal of the same network, token, " +
    "amount and destination lives (`anyway` books it all the same).",
  anyOf: ["admin:treasury"],
  body: z.strictObject({
    txid,
    merchantId: z.string().min(1).max(100),
    referenceId: f.referenceId.nullable().meta({
      description:
        "The merchant's reference of that payout, which refuses a repeat of it; null: it had " +
        "none, and a repeat is a new withdrawal, which is paid as well",
    }),
    anyway,
  }),
  responses: { 200: { description: "It is CONFIRMED", schema: failoverDone } },
  errors: [
    "record_not_found",
    "conflict",
    "withdrawals_closed_for_pair",
    "reference_taken",
    "no_balance_row",
    "insufficient_balance",
    "event_conflict",
    "payment_used",
  ],
  handler: async ({ body, ...request }, context) => {
    const spend = await onlySpend(context, body.txid);
    if (spend === null) return notFound;
    const { newId, fees, chains } = context;
    if (await readMerchant(context.sql, body.merchantId) === null) return notFound;
    // the same one each time: what an earlier verdict has booked is found, and only taken off the list
    const withdrawalId = await bookedWithdrawalId(spend, body.merchantId);
    const paid = await findIngested(context.sql, spendEventId(spend));
    if (paid !== null && paid !== withdrawalId) {
      await recordRefusal(request, "failover.book", body.txid, "event_conflict", context);
      return paidAlready(paid);
    }
    if (paid === null && body.anyway !== true) {
      const [candidate] = await findCandidates(context.sql, spend);
      if (candidate !== undefined) {
        return await refuseBeside(request, spend, candidate, "failover.book", context);
      }
    }
    const outcome = await askAsAdmin(request, body.merchantId, "failover.book", withdrawalId, {
      type: "book-payout",
      at: request.now,
      withdrawalId,
      transactionId: newId("txn"),
      outgoingId: newId("out"),
      ...endIds(context),
      currency: spend.currency,
      network: spend.network,
      amount: spend.amount,
      destination: spend.to,
      fromAddress: chains.get(spend.network)?.hotWallet ?? null,
      referenceId: body.referenceId,
      description: `paid by ${spend.txid}`,
      dynamicFee: fees.dynamicFee(spend.network, spend.currency),
      paidBy: { txid: spend.txid, height: spend.height },
      ingestion: { eventId: spendEventId(spend), bodyHash: withdrawalId },
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    return await settle(request, spend, {
      kind: "booked",
      merchantId: body.merchantId,
      withdrawalId,
    }, context);
  },
});

export const writeOffSpend = adminRoute({
  at: "POST /api/admin/failover/write-off",
  summary: "Write an unknown transfer off: nobody is debited, and payouts no longer wait for it",
  description: "Refused while a withdrawal of the same network, token, amount and destination " +
    "lives (`anyway` writes it off all the same).",
  anyOf: ["admin:treasury"],
  body: z.strictObject({ txid, reason: z.string().trim().min(1).max(500), anyway }),
  responses: { 200: { description: "It is written off", schema: failoverDone } },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const spends = await findUndecided(context.sql, body.txid);
    const [spend] = spends;
    if (spend === undefined) return notFound;
    const action = "failover.write-off";
    const { reason } = body;
    const audit = hubAudit(request, action, body.txid, context, null, { reason });
    const refused = await writeOffSpends(
      context.sql,
      spends,
      reason,
      body.anyway === true,
      audit,
    );
    if (refused === null) return ok({ success: true });
    if (refused.code === "candidate") {
      return await refuseBeside(request, spend, refused.candidate, action, context);
    }
    await recordRefusal(request, action, body.txid, refused.code, context);
    if (refused.code === "decided") return conflict("Somebody else has decided on it meanwhile");
    return paidAlready(refused.withdrawalId ?? `a withdrawal of ${refused.merchantId}`);
  },
});

/** The only undecided transfer of a transaction; several are to be written off, not to match. */
async function onlySpend(
  { sql }: Pick<ApiContext, "sql">,
  txid: string,
): Promise<UnknownSpend | null> {
  const spends = await findUndecided(sql, txid);
  return spends.length === 1 ? spends[0] ?? null : null;
}

function pays(spend: UnknownSpend, { network, currency, amount, destination }: WithdrawalRow) {
  return spend.network === network && spend.currency === currency && spend.amount === amount &&
    spend.to === destination;
}

/** Confirms a withdrawal by a transfer, then takes that off the list; doing it again changes nothing. */
async function confirm(
  request: Request,
  spend: UnknownSpend,
  { id: withdrawalId, merchantId, settlementId, network }: WithdrawalRow,
  context: ApiContext,
): Promise<Answer> {
  const outcome = await askAsAdmin(request, merchantId, "failover.match", withdrawalId, {
    type: "ingest-withdrawal",
    at: request.now,
    withdrawalId,
    settlementId,
    network,
    paidBy: { txid: spend.txid, height: spend.height, own: false },
    reason: null,
    ...endIds(context),
    ingestion: { eventId: spendEventId(spend), bodyHash: withdrawalId },
  }, context);
  if (outcome.kind === "answer") return outcome.answer;
  return await settle(request, spend, { kind: "matched", merchantId, withdrawalId }, context);
}

/**
 * Takes a transfer that pays a withdrawal off the list. The books allow one verdict, and this is it: where
 * it is off the list already, the same request was made twice at once.
 */
async function settle(
  request: Request,
  spend: UnknownSpend,
  verdict: Extract<SpendVerdict, { readonly withdrawalId: string }>,
  context: ApiContext,
): Promise<Answer> {
  const { withdrawalId, merchantId } = verdict;
  const action = verdict.kind === "matched" ? "failover.match" : "failover.book";
  const accountable = { ...request, merchantId };
  const audit = hubAudit(accountable, action, spend.txid, context, null, { withdrawalId });
  await decideSpends(context.sql, [spend], verdict, audit);
  return ok({ success: true, withdrawalId });
}

/** Refuses a verdict beside which a living withdrawal would be paid by another transaction. */
async function refuseBeside(
  request: Request,
  { txid }: UnknownSpend,
  candidate: Candidate,
  action: string,
  context: ApiContext,
): Promise<Answer> {
  await recordRefusal(request, action, txid, "candidate", context);
  const { state, expiresAt } = candidate;
  return conflict(
    state === "signed" && expiresAt === null
      ? `${shown(candidate)}; or repeat with anyway, and it is paid as well`
      : `${shown(candidate)}, and would be paid as well. Match it, or repeat with anyway`,
  );
}

/** The 409 where the books have the transfer for a withdrawal: an earlier verdict was broken off before the list had it. */
function paidAlready(withdrawal: string): Answer {
  return conflict(`It has paid ${withdrawal} already: match it with that`);
}

/** A withdrawal that waits, and for what. */
function shown({ withdrawalId, merchantId, state, expiresAt }: Candidate): string {
  const named = `${withdrawalId} of ${merchantId} has the same terms and`;
  switch (state) {
    case "queued":
      return `${named} is queued`;
    case "approval":
      return `${named} waits for approval`;
    case "signed":
      return expiresAt === null
        ? `${named} is signed, and its bytes never expire: take it out of use (admin treasury ` +
          "cancel), and book the transfer when it has FAILED"
        : `${named} is signed: bytes of it may come to a block until ${
          new Date(expiresAt).toISOString()
        }, after which it is queued`;
    default: {
      const never: never = state;
      return never;
    }
  }
}
