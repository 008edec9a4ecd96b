/**
 * What the newest comparisons of the books with themselves and with the chains found.
 *
 * @module
 */

import type { ReportBody } from "../../actors/reconcile/compare_all.ts";
import { newestReports } from "../../ledger/reconcile/reports.ts";
import { ok } from "../http/answer.ts";
import { staffRoute } from "../http/route.ts";
import { RECONCILE_EXAMPLE, reconcileSchema } from "./reconcile_schema.ts";

/** `GET /api/admin/reconcile`. */
export const getReconciliation = staffRoute({
  method: "GET",
  path: "/api/admin/reconcile",
  summary: "What the newest comparisons of the books with themselves and the chains found",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  responses: {
    200: {
      description: "The newest report of each scope",
      schema: reconcileSchema,
      example: RECONCILE_EXAMPLE,
    },
  },
  handler: async (_request, { sql }) => {
    const reports = await newestReports<ReportBody>(sql);
    return ok({
      reports: reports.map((
        { id, scope, startedAt, finishedAt, differences, unchecked, body },
      ) => ({
        id,
        scope,
        startedAt: new Date(startedAt).toISOString(),
        finishedAt: new Date(finishedAt).toISOString(),
        differences,
        unchecked,
        parts: body.parts,
      })),
    });
  },
});
