/**
 * What administrators did: who, what, before and after.
 *
 * @module
 */

import { z } from "zod";
import { listAudit } from "../../ledger/audit_trail.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/date_range.ts";
import { endDate, limit, page, startDate } from "../http/fields.ts";
import { pagination } from "../http/paging.ts";
import { staffRoute } from "../http/route.ts";
import { AUDIT_PAGE_EXAMPLE, auditPage } from "./admin_schema.ts";

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
