/**
 * Decisions of administrators on deposits by hand.
 *
 * @module
 */

import { z } from "zod";
import type { DecideDeposit } from "../../actors/merchant/messages.ts";
import type { Answers } from "../../actors/merchant/merchants.ts";
import type { Refusal } from "../../actors/merchant/refusal.ts";
import { findingsOf } from "../../actors/watcher/record_blocks.ts";
import { askForRequest } from "../../chains/call_lane.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import { sumConfirmedByHand } from "../../ledger/approvals.ts";
import { findDepositOwner, listOpenDeposits } from "../../ledger/deposits.ts";
import { findNamedTransaction } from "../../ledger/payouts.ts";
import type { DepositRow } from "../../ledger/payment_rows.ts";
import {
  type AdminOutcome,
  askAsAdmin,
  type AskingAdmin,
  recordRefusal,
} from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { type ApiContext, endIds } from "../http/context.ts";
import { notFound, refused } from "../http/errors.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, pageOf, pages } from "../http/list.ts";
import { actorOf } from "../http/permission.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { DEPOSIT_STATUSES, depositSchema, depositView } from "./deposits.ts";

const depositDecided = z.object({
  success: z.literal(true),
  depositId: f.id("dep"),
  status: eg(z.enum(DEPOSIT_STATUSES), "CONFIRMED"),
  message: eg(
    z.string().optional().meta({ description: "Present while another has to confirm it" }),
    undefined,
  ),
});

const openDeposit = depositSchema.extend({
  merchantId: f.id("mer"),
  confirmedBy: f.madeBy.meta({
    description: "The first of two administrators, while another has to confirm it as well",
  }),
}).meta({ id: "DepositOfMerchant" });

/**
 * True where the transaction that a deposit by hand names paid an address of another merchant. Asked
 * before an operator confirms it, as the same money would be credited twice. Whether our own books
 * know it as another's is the account's question, asked when it decides: no node can forget that.
 *
 * @throws {ChainUnavailable} when its network cannot be read; then nothing is known
 */
export async function isTransferOfAnother(
  { sql, chains, askTimeoutMs }: Pick<ApiContext, "sql" | "chains" | "askTimeoutMs">,
  merchantId: string,
  depositId: string,
): Promise<boolean> {
  const named = await findNamedTransaction(sql, merchantId, depositId);
  if (named === null) return false;
  const { network, txid } = named;
  const chain = chains.get(network);
  if (chain === undefined) {
    throw new ChainUnavailable(
      "network",
      `Cannot see whom a transaction paid as its network is not configured here: ${network}`,
    );
  }
  const signal = AbortSignal.timeout(askTimeoutMs);
  const found = await askForRequest(() => chain.transaction(txid, "head", signal));
  if (found.kind !== "found") return false;
  const findings = await findingsOf(sql, { network, addressOf: chain.addressOf }, [
    found.transaction,
  ]);
  // what paid an address that a restore forgot is credited by hand alone
  return findings.some((finding) =>
    finding.merchantId !== merchantId && finding.merchantId !== LOST_ACCOUNT
  );
}

/**
 * Asks for the decision. A confirmation carries what the same administrator has confirmed in the last
 * day: beyond the limit of one, another one has to confirm as well. Where the commit finds more, by another
 * node or at the same moment, the word is taken as the first of two.
 */
export async function askToDecideDeposit(
  request: AskingAdmin,
  { merchantId }: Pick<DepositRow, "merchantId">,
  action: string,
  command: DecideDeposit,
  context: ApiContext,
): Promise<AdminOutcome<Answers["decide-deposit"]>> {
  const { depositId } = command;
  if (command.to !== "CONFIRMED") {
    return await askAsAdmin(request, merchantId, action, depositId, command, context);
  }
  const actor = actorOf(request.caller);
  const confirmedBefore = await sumConfirmedByHand(context.sql, actor, depositId);
  const judged = { ...command, confirmedBefore };
  const instead = (refusal: Refusal) =>
    refusal.code === "same_administrator" && refusal.isSecondMissing === true
      ? { ...judged, needsAnother: true }
      : null;
  return await askAsAdmin(request, merchantId, action, depositId, judged, context, instead);
}

export const getOpenDeposits = adminRoute({
  at: "GET /api/admin/deposits",
  summary: "List the deposits booked by hand that wait for a decision, newest first",
  anyOf: READERS,
  query: z.object({ ...pages(), merchantId: z.string().min(1).max(100).optional() }),
  responses: {
    200: {
      description: "One page of what waits",
      schema: pageOf(
        "deposits",
        eg(openDeposit, {
          ...exampleOf(openDeposit),
          status: "PENDING",
          source: "bank transfer",
          clearedAt: null,
          fee: "0",
          commission: "0",
          createdBy: f.exampleId("key"),
          confirmedBy: null,
        }),
      ),
    },
  },
  handler: async ({ query }, { sql }) => {
    const found = await listOpenDeposits(sql, query.merchantId, query);
    return listed("deposits", found, query, (row) => ({
      merchantId: row.merchantId,
      ...depositView(row),
      confirmedBy: row.endorsedBy,
    }));
  },
});

/** The answer to the first of two administrators. */
const SECOND_NEEDED = "Confirmed by one administrator; another one has to confirm it as well";

const VERBS = {
  confirm: { to: "CONFIRMED", summary: "Confirm a deposit that was booked by hand" },
  fail: { to: "FAILED", summary: "Fail a deposit that was booked by hand" },
  cancel: { to: "CANCELLED", summary: "Cancel a deposit that was booked by hand" },
} as const;

const DECIDED = ["record_not_found", "not_manual", "wrong_state"] as const;

function decideRoute(verb: keyof typeof VERBS) {
  const { to, summary } = VERBS[verb];
  return adminRoute({
    at: `POST /api/admin/deposits/{depositId}/${verb}`,
    summary,
    anyOf: ["admin:payments"],
    body: z.strictObject({ reason: z.string().trim().min(1).max(500).optional() }).prefault({}),
    responses: {
      200: {
        description: "The deposit's new status",
        schema: depositDecided,
        example: { ...exampleOf(depositDecided), status: to },
      },
    },
    errors: verb === "confirm"
      ? [...DECIDED, "transfer_of_another", "same_administrator"]
      : DECIDED,
    handler: async (request, context) => {
      const { depositId } = request.params;
      const found = await findDepositOwner(context.sql, depositId);
      if (found === null) return notFound;
      const { merchantId, status: from } = found;
      if (verb === "confirm" && await isTransferOfAnother(context, merchantId, depositId)) {
        const code = "transfer_of_another";
        await recordRefusal(
          { ...request, merchantId },
          "deposit.confirm",
          depositId,
          code,
          context,
        );
        return refused({ code, from, to });
      }
      const outcome = await askToDecideDeposit(request, found, `deposit.${verb}`, {
        type: "decide-deposit",
        at: request.now,
        depositId,
        to,
        reason: request.body.reason ?? null,
        ...endIds(context),
        ingestion: null,
      }, context);
      if (outcome.kind === "answer") return outcome.answer;
      const status = outcome.value.deposit?.status ?? to;
      const message = status === to ? {} : { message: SECOND_NEEDED };
      return ok({ success: true, depositId, status, ...message });
    },
  });
}

export const confirmDeposit = decideRoute("confirm");

export const failDeposit = decideRoute("fail");

export const cancelDeposit = decideRoute("cancel");
