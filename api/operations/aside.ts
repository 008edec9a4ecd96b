/**
 * Inbox rows that were set aside: seen, tried again and dealt with by an operator.
 *
 * @module
 */

import { z } from "zod";
import {
  acknowledgeAside,
  ASIDE_KINDS,
  type AsideOutcome,
  listAside,
  retryAside,
} from "../../ledger/quarantine.ts";
import { type Answer, ok } from "../http/answer.ts";
import { settingsAudit } from "../http/audit_stamp.ts";
import { conflict, notFound } from "../http/errors.ts";
import { limit, network, page } from "../http/fields.ts";
import { pagination } from "../http/paging.ts";
import { staffRoute } from "../http/route.ts";
import {
  ASIDE_DECIDED_EXAMPLE,
  ASIDE_PAGE_EXAMPLE,
  asideDecided,
  asidePage,
} from "./aside_schema.ts";

const PATH = "/api/admin/inbox";
const WRITE = { scope: "admin", anyOf: ["admin:treasury"] } as const;

/** What names a row. */
export const asideKey = {
  merchantId: z.string().min(1).max(100),
  network,
  txid: z.string().min(1).max(100),
  logIndex: z.int().min(-1).max(1_000_000),
  phase: z.enum(["seen", "solid", "vanished", "submitted", "outcome", "margin", "swept"]),
};
const DECIDED = {
  200: { description: "Done", schema: asideDecided, example: ASIDE_DECIDED_EXAMPLE },
};

/** `GET /api/admin/inbox`. */
export const getAside = staffRoute({
  method: "GET",
  path: PATH,
  summary: "List what the chain said and a merchant's books could not take, oldest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    kind: z.enum(ASIDE_KINDS).optional(),
    network: network.optional(),
    merchantId: asideKey.merchantId.optional(),
  }),
  responses: {
    200: {
      description: "One page of rows that were set aside",
      schema: asidePage,
      example: ASIDE_PAGE_EXAMPLE,
    },
  },
  handler: async ({ query }, { sql }) => {
    const found = await listAside(sql, query, query);
    return ok({
      rows: found.rows.map((row) => ({
        ...row,
        createdAt: new Date(row.createdAt).toISOString(),
      })),
      pagination: pagination(query, found.total),
    });
  },
});

/** `POST /api/admin/inbox/retry`. */
export const retryInboxRow = staffRoute({
  method: "POST",
  path: `${PATH}/retry`,
  summary: "Give a row back to its merchant that a fault of the service set aside",
  access: WRITE,
  rateCategory: "none",
  body: z.strictObject(asideKey),
  responses: DECIDED,
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const audit = settingsAudit(request, "inbox.retry", subjectOf(body), context);
    const line = { ...audit, merchantId: body.merchantId };
    const outcome = await retryAside(context.sql, body, line);
    if (outcome === "done") context.merchants.wake(body.merchantId);
    return answerTo(outcome, "It waits for something else and is given back by that.");
  },
});

/** `POST /api/admin/inbox/acknowledge`. */
export const acknowledgeInboxRow = staffRoute({
  method: "POST",
  path: `${PATH}/acknowledge`,
  summary: "Take a row off the list that was dealt with by hand; never one that brings money",
  access: WRITE,
  rateCategory: "none",
  body: z.strictObject({ ...asideKey, reason: z.string().trim().min(1).max(200) }),
  responses: DECIDED,
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { reason, ...row } = body;
    const audit = settingsAudit(request, "inbox.acknowledge", subjectOf(row), context);
    const line = { ...audit, merchantId: row.merchantId };
    const outcome = await acknowledgeAside(context.sql, row, reason, line);
    return answerTo(outcome, "It brings money or waits for something; it cannot be waved away.");
  },
});

/** A row as the audit names it. */
export function subjectOf(
  row: { readonly [field in "network" | "txid" | "logIndex" | "phase"]: unknown },
) {
  return `${row.network}/${row.txid}/${row.logIndex}/${row.phase}`;
}

function answerTo(outcome: AsideOutcome, why: string): Answer {
  switch (outcome) {
    case "done":
      return ok({ success: true });
    case "not_found":
      return notFound;
    case "not_so":
      return conflict(why);
    case "needs_verdict":
      return conflict(
        "Its merchant's money is held until somebody says what the transaction did: " +
          "deno task admin withdrawals settle <withdrawal> paid|not_paid --reason TEXT",
      );
    default: {
      const never: never = outcome;
      return never;
    }
  }
}
