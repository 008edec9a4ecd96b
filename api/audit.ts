/**
 * What administrators did: who, what, before and after.
 *
 * @module
 */

import { z } from "zod";
import { listAudit } from "../ledger/admin/list_audit.ts";
import { ok } from "./answer.ts";
import { refuseReversed } from "./date_range.ts";
import { endDate, limit, page, startDate } from "./fields.ts";
import { pagination } from "./paging.ts";
import { validationFailedDoc } from "./openapi/error_catalogue.ts";
import { staffRoute } from "./route.ts";
import { AUDIT_PAGE_EXAMPLE, auditPage } from "./schemas/admin.ts";

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
  errors: [validationFailedDoc],
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
