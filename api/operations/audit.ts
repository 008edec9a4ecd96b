/**
 * The changes of administrators: actor, action, before and after.
 *
 * @module
 */

import { z } from "zod";
import { listAudit } from "../../ledger/audit_trail.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/checks.ts";
import { endDate, limit, page, startDate } from "../http/fields.ts";
import {
  EXAMPLE,
  exampleId,
  id,
  onePage,
  pagination,
  paginationSchema,
  timestamp,
} from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

/** Answer of the audit. */
const auditPage = z.object({
  audit: z.array(
    z.object({
      id: id("aud"),
      merchantId: id("mer").nullable(),
      actor: z.string().meta({ description: "Id of the key that was used" }),
      actorLabel: z.string().nullable(),
      action: z.string(),
      subject: z.string(),
      before: z.unknown(),
      after: z.unknown(),
      refused: z.string().nullable().meta({ description: "Why it was refused; null: done" }),
      requestId: z.string().nullable(),
      createdAt: timestamp,
    }).meta({ id: "AuditLine" }),
  ),
  pagination: paginationSchema,
});

const AUDIT_PAGE_EXAMPLE = {
  audit: [{
    id: exampleId("aud"),
    merchantId: exampleId("mer"),
    actor: exampleId("key"),
    actorLabel: "operations",
    action: "withdrawal.approve",
    subject: exampleId("wd"),
    before: { status: "PENDING_APPROVAL" },
    after: { status: "PENDING" },
    refused: null,
    requestId: "req_0198a2c47d107c3e9b523f6e1c0d8a41",
    createdAt: EXAMPLE.time,
  }],
  pagination: onePage(20),
};

const name = z.string().min(1).max(128).optional();

/** `GET /api/admin/audit`. */
export const getAudit = staffRoute({
  method: "GET",
  path: "/api/admin/audit",
  summary: "List what administrators did, newest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    merchantId: name,
    actor: name,
    action: name,
    subject: name,
    startDate: startDate.optional(),
    endDate: endDate.optional(),
  }),
  responses: {
    200: {
      description: "One page of the audit",
      schema: auditPage,
      example: AUDIT_PAGE_EXAMPLE,
    },
  },
  errors: ["validation_failed"],
  handler: async ({ query }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const { merchantId, actor, action, subject, startDate: from, endDate: until } = query;
    const filter = { merchantId, actor, action, subject, from, until };
    const found = await listAudit(sql, filter, query);
    return ok({
      audit: found.rows.map((line) => ({
        ...line,
        createdAt: new Date(line.createdAt).toISOString(),
      })),
      pagination: pagination(query, found.total),
    });
  },
});
