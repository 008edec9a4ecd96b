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
import { staffRoute } from "./route.ts";

const name = z.string().min(1).max(128).optional();

/** `GET /api/admin/audit`. */
export const getAudit = staffRoute({
  method: "GET",
  path: "/api/admin/audit",
  summary: "List what administrators did, newest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({
    page: page.optional(),
    limit: limit.optional(),
    merchantId: name,
    actor: name,
    action: name,
    subject: name,
    startDate: startDate.optional(),
    endDate: endDate.optional(),
  }),
  responses: { 200: "One page of the audit" },
  handler: async ({ query }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const { merchantId, actor, action, subject, startDate: from, endDate: until } = query;
    const request = { page: query.page ?? 1, limit: query.limit ?? 20 };
    const filter = { merchantId, actor, action, subject, from, until };
    const found = await listAudit(sql, filter, request);
    return ok({
      audit: found.rows.map((line) => ({
        ...line,
        createdAt: new Date(line.createdAt).toISOString(),
      })),
      pagination: pagination(request, found.total),
    });
  },
});
