/**
 * Payouts to the merchant's own, whitelisted addresses.
 *
 * @module
 */

import { z } from "zod";
import type { SettlementRow } from "../../ledger/payment_rows.ts";
import { findSettlement, listSettlements } from "../../ledger/settlements.ts";
import { ok } from "../http/answer.ts";
import { endIds } from "../http/context.ts";
import { notDone, notFound } from "../http/errors.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, ofStatus, pageOf, pages } from "../http/list.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const STATUSES = [
  "PENDING",
  "APPROVAL_REQUIRED",
  "APPROVED",
  "PROCESSING",
  "SUBMITTED_TO_LEDGER",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
  "REJECTED",
] as const;
type Status = (typeof STATUSES)[number];

const status = z.enum(STATUSES).meta({ id: "SettlementStatus" });

export const settlement = z.object({
  id: f.id("stl"),
  amount: eg(f.decimal, "5000"),
  currency: f.currency,
  network: f.network,
  status: eg(status, "PROCESSING"),
  reason: eg(z.string().nullable().meta({ description: "Why it ended without a payout" }), null),
  destinationAddress: f.address,
  destinationNetwork: f.network,
  createdAt: f.timestamp,
  totalFees: eg(f.decimal, "2"),
  merchantAddress: z.object({ address: f.address, label: eg(z.string(), "Company wallet") }),
  withdrawalId: f.id("wd"),
  history: eg(
    z.array(z.object({ status, at: f.timestamp })).meta({
      description: "Every state it was in, oldest first; several may be taken at one time",
    }),
    historyOf("PENDING", "PROCESSING"),
  ),
  createdBy: f.madeBy,
}).meta({ id: "Settlement" });

const example = exampleOf(settlement);

/** A history as the reference shows it. */
export function historyOf(...statuses: readonly Status[]) {
  return statuses.map((status) => ({ status, at: exampleOf(f.timestamp) }));
}

/** A settlement that was moved, in the example to a status. */
export function settlementMoved(status: Status) {
  return z.object({
    success: z.literal(true),
    settlementId: f.id("stl"),
    status: eg(z.enum(STATUSES), status),
  });
}

export const getSettlements = route({
  at: "GET /api/settlements",
  summary: "List settlements, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({ ...pages(), status: ofStatus(STATUSES) }),
  responses: {
    200: {
      description: "One page of settlements",
      schema: pageOf(
        "settlements",
        eg(settlement, {
          ...example,
          status: "COMPLETED",
          history: historyOf("PENDING", "PROCESSING", "SUBMITTED_TO_LEDGER", "COMPLETED"),
        }),
      ),
    },
  },
  handler: async ({ merchantId, query }, { sql }) => {
    const found = await listSettlements(sql, merchantId, { status: query.status }, query);
    return listed("settlements", found, query, settlementView);
  },
});

export const getSettlement = route({
  at: "GET /api/settlements/{settlementId}",
  summary: "One settlement",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  responses: { 200: { description: "As it stands now", schema: settlement, example } },
  errors: ["record_not_found"],
  handler: async ({ merchantId, params }, { sql }) => {
    const row = await findSettlement(sql, merchantId, params.settlementId);
    return row === null ? notFound : ok(settlementView(row));
  },
});

export const cancelSettlement = route({
  at: "POST /api/settlements/{settlementId}/cancel",
  summary: "Take back a settlement that waits for approval",
  access: { scope: "own", anyOf: ["write", "payout"] },
  closedTo: ["RESELLER"],
  rateCategory: "transactions",
  responses: {
    200: {
      description: "Cancelled and refunded",
      schema: settlement,
      example: {
        ...example,
        status: "CANCELLED",
        reason: "Cancelled",
        history: historyOf("PENDING", "APPROVAL_REQUIRED", "CANCELLED"),
      },
    },
  },
  errors: ["record_not_found", "wrong_state"],
  handler: async ({ merchantId, params, now }, context) => {
    const { settlementId } = params;
    const settlement = await findSettlement(context.sql, merchantId, settlementId);
    if (settlement === null) return notFound;
    const outcome = await context.merchants.ask(merchantId, {
      type: "decline-settlement",
      at: now,
      settlementId,
      withdrawalId: settlement.withdrawalId,
      to: "CANCELLED",
      reason: "Cancelled",
      ...endIds(context),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { settlementId });
    return ok(settlementView(outcome.value.settlement));
  },
});

export function settlementView(row: Omit<SettlementRow, "status"> & { readonly status: Status }) {
  const { address, label, network } = row;
  return shown(settlement, {
    ...row,
    destinationAddress: address,
    destinationNetwork: network,
    merchantAddress: { address, label },
  });
}
