/**
 * Decisions of administrators on deposits by hand.
 *
 * @module
 */

import { z } from "zod";
import type { DecideDeposit } from "../../actors/merchant/messages.ts";
import type { Answers } from "../../actors/merchant/merchants.ts";
import { findingsOf } from "../../actors/watcher/record_blocks.ts";
import { askForRequest } from "../../chains/call_lane.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import { sumConfirmedByHand } from "../../ledger/approvals.ts";
import { findDepositOwner, listOpenDeposits } from "../../ledger/deposits.ts";
import { findNamedTransaction } from "../../ledger/payouts.ts";
import type { DepositRow } from "../../ledger/rows.ts";
import {
  type Accountable,
  type AdminOutcome,
  askAsAdmin,
  recordRefusal,
} from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { notFound, refused } from "../http/errors.ts";
import { limit, page } from "../http/fields.ts";
import { exampleId, id, madeBy, onePage, pagination, paginationSchema } from "../http/formats.ts";
import { actorOf } from "../http/permission.ts";
import { staffRoute } from "../http/route.ts";
import { DEPOSIT_PAGE_EXAMPLE, DEPOSIT_STATUSES, depositSchema, depositView } from "./deposits.ts";

/** Answer to a decision about a deposit. */
const depositDecided = z.object({
  success: z.literal(true),
  depositId: id("dep"),
  status: z.enum(DEPOSIT_STATUSES),
  message: z.string().optional().meta({ description: "Present while another has to confirm it" }),
});

const DEPOSIT_DECIDED_EXAMPLE = {
  success: true,
  depositId: exampleId("dep"),
  status: "CONFIRMED",
};

/** Answer of the deposits that wait for a decision. */
const openDepositPage = z.object({
  deposits: z.array(
    depositSchema.extend({
      merchantId: id("mer"),
      confirmedBy: madeBy.meta({
        description: "The first of two administrators, while another has to confirm it as well",
      }),
    }).meta({ id: "DepositOfMerchant" }),
  ),
  pagination: paginationSchema,
});

const OPEN_DEPOSIT_PAGE_EXAMPLE = {
  deposits: DEPOSIT_PAGE_EXAMPLE.deposits.map((deposit) => ({
    ...deposit,
    merchantId: exampleId("mer"),
    status: "PENDING",
    source: "bank transfer",
    clearedAt: null,
    fee: "0",
    commission: "0",
    createdBy: exampleId("key"),
    confirmedBy: null,
  })),
  pagination: onePage(20),
};

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
  const signal = AbortSignal.timeout(askTimeoutMs);
  const chain = chains.get(network);
  if (chain === undefined) return false;
  const found = await askForRequest(() => chain.transaction(txid, "head", signal));
  if (found.kind !== "found") return false;
  const findings = await findingsOf(sql, { network, addressOf: chain.addressOf }, [
    found.transaction,
  ]);
  // what paid an address that a restore forgot is credited by hand: nobody else is
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
  request: Accountable,
  { merchantId }: Pick<DepositRow, "merchantId">,
  action: string,
  command: DecideDeposit,
  context: ApiContext,
): Promise<AdminOutcome<Answers["decide-deposit"]>> {
  const { depositId } = command;
  if (command.to !== "CONFIRMED") {
    return await askAsAdmin(request, merchantId, action, depositId, command, context);
  }
  const confirmedBefore = await sumConfirmedByHand(
    context.sql,
    actorOf(request.caller),
    depositId,
  );
  const judged = { ...command, confirmedBefore };
  return await askAsAdmin(
    request,
    merchantId,
    action,
    depositId,
    judged,
    context,
    (refusal) =>
      refusal.code === "same_administrator" && refusal.isSecondMissing === true
        ? { ...judged, needsAnother: true }
        : null,
  );
}

/** `GET /api/admin/deposits`. */
export const getOpenDeposits = staffRoute({
  method: "GET",
  path: "/api/admin/deposits",
  summary: "List the deposits booked by hand that wait for a decision, newest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    merchantId: z.string().min(1).max(100).optional(),
  }),
  responses: {
    200: {
      description: "One page of what waits",
      schema: openDepositPage,
      example: OPEN_DEPOSIT_PAGE_EXAMPLE,
    },
  },
  handler: async ({ query }, { sql }) => {
    const found = await listOpenDeposits(sql, query.merchantId, query);
    return ok({
      deposits: found.rows.map((row) => ({
        merchantId: row.merchantId,
        ...depositView(row),
        confirmedBy: row.endorsedBy,
      })),
      pagination: pagination(query, found.total),
    });
  },
});

/** The answer to the first of two administrators. */
const SECOND_NEEDED = "Confirmed by one administrator; another one has to confirm it as well";

const VERBS = {
  confirm: { to: "CONFIRMED", summary: "Confirm a deposit that was booked by hand" },
  fail: { to: "FAILED", summary: "Fail a deposit that was booked by hand" },
  cancel: { to: "CANCELLED", summary: "Cancel a deposit that was booked by hand" },
} as const;

function decideRoute(verb: keyof typeof VERBS) {
  const { to, summary } = VERBS[verb];
  return staffRoute({
    method: "POST",
    path: `/api/admin/deposits/{depositId}/${verb}`,
    summary,
    access: { scope: "admin", anyOf: ["admin:payments"] },
    rateCategory: "none",
    body: z.strictObject({ reason: z.string().trim().min(1).max(500).optional() }).prefault({}),
    responses: {
      200: {
        description: "The deposit's new status",
        schema: depositDecided,
        example: { ...DEPOSIT_DECIDED_EXAMPLE, status: to },
      },
    },
    errors: verb === "confirm"
      ? [
        "record_not_found",
        "not_manual",
        "wrong_state",
        "transfer_of_another",
        "same_administrator",
      ]
      : ["record_not_found", "not_manual", "wrong_state"],
    handler: async (request, context) => {
      const depositId = request.params.depositId ?? "";
      const { newId } = context;
      const found = await findDepositOwner(context.sql, depositId);
      if (found === null) return notFound;
      const { merchantId, status: from } = found;
      if (verb === "confirm" && await isTransferOfAnother(context, merchantId, depositId)) {
        const accountable = { ...request, merchantId };
        await recordRefusal(
          accountable,
          "deposit.confirm",
          depositId,
          "transfer_of_another",
          context,
        );
        return refused({ code: "transfer_of_another", from, to });
      }
      const outcome = await askToDecideDeposit(request, found, `deposit.${verb}`, {
        type: "decide-deposit",
        at: request.now,
        depositId,
        to,
        reason: request.body.reason ?? null,
        chargeIds: [newId("chg"), newId("chg")],
        eventIds: [newId("evt"), newId("evt")],
        ingestion: null,
      }, context);
      if (outcome.kind === "answer") return outcome.answer;
      const status = outcome.value.deposit?.status ?? to;
      return ok({
        success: true,
        depositId,
        status,
        ...(status === to ? {} : { message: SECOND_NEEDED }),
      });
    },
  });
}

/** `POST /api/admin/deposits/{depositId}/confirm`. */
export const confirmDeposit = decideRoute("confirm");

/** `POST /api/admin/deposits/{depositId}/fail`. */
export const failDeposit = decideRoute("fail");

/** `POST /api/admin/deposits/{depositId}/cancel`. */
export const cancelDeposit = decideRoute("cancel");
