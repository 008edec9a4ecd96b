/**
 * The changes of administrators: actor, action, before and after.
 *
 * @module
 */

import { z } from "zod";
import { listAudit } from "../../ledger/audit_trail.ts";
import { refuseReversed } from "../http/checks.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { dates, listed, pageOf, pages } from "../http/list.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const line = z.object({
  id: f.id("aud"),
  merchantId: f.id("mer").nullable(),
  actor: eg(z.string().meta({ description: "Id of the key that was used" }), f.exampleId("key")),
  actorLabel: eg(z.string().nullable(), "operations"),
  action: eg(z.string(), "withdrawal.approve"),
  subject: eg(z.string(), f.exampleId("wd")),
  before: eg(z.unknown(), { status: "PENDING_APPROVAL" }),
  after: eg(z.unknown(), { status: "PENDING" }),
  refused: eg(
    z.string().nullable().meta({ description: "Why it was refused; null: done" }),
    null,
  ),
  requestId: eg(z.string().nullable(), "req_0198a2c47d107c3e9b523f6e1c0d8a41"),
  createdAt: f.timestamp,
}).meta({ id: "AuditLine" });

const name = z.string().min(1).max(128).optional();

export const getAudit = adminRoute({
  at: "GET /api/admin/audit",
  summary: "List what administrators did, newest first",
  anyOf: READERS,
  query: z.object({
    ...pages(),
    merchantId: name,
    actor: name,
    action: name,
    subject: name,
    ...dates,
  }),
  responses: { 200: { description: "One page of the audit", schema: pageOf("audit", line) } },
  errors: ["validation_failed"],
  handler: async ({ query }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const { merchantId, actor, action, subject, startDate: from, endDate: until } = query;
    const filter = { merchantId, actor, action, subject, from, until };
    const found = await listAudit(sql, filter, query);
    return listed("audit", found, query, (row) => shown(line, row));
  },
});
