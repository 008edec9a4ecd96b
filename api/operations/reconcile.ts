/**
 * The comparison of the books.
 *
 * @module
 */

import { z } from "zod";
import type { ReportBody } from "../../actors/reconcile/report.ts";
import { newestReports } from "../../ledger/reconcile/reports.ts";
import { ok } from "../http/answer.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const rule = z.object({
  rule: z.string().meta({ description: "Rule that should hold" }),
  differences: z.array(z.object({
    subject: z.string().meta({ description: "The record it is about" }),
    detail: z.string().meta({ description: "Both sides, in words" }),
  })).meta({ description: "At most 100; empty: it holds where it was compared" }),
  unchecked: z.string().nullable().meta({
    description: "Why it, or a part of it, could not be compared; null: all of it was",
  }),
});

const holding = z.object({
  currency: f.currency,
  hotWallet: eg(f.decimal, "999990"),
  addresses: eg(f.decimal, "39"),
  cold: eg(f.decimal, "0"),
  inFlight: eg(
    f.decimal.meta({ description: "Signed payouts that are not final; part of what is owed" }),
    "10",
  ),
  owed: eg(f.decimal.meta({ description: "To all merchants together" }), "50"),
  house: eg(
    f.signedDecimal.meta({ description: "Amount that is left when everybody is paid" }),
    "999979",
  ),
});

const report = z.object({
  id: eg(z.string(), f.exampleId("rec")),
  scope: eg(
    z.enum(["quick", "full"]).meta({
      description: "quick: what costs the same however many payments there were; full: everything",
    }),
    "full",
  ),
  startedAt: f.timestamp,
  finishedAt: f.later,
  differences: eg(z.int().min(0), 1),
  unchecked: eg(
    z.int().min(0).meta({ description: "Rules that could not be compared, or not in full" }),
    0,
  ),
  parts: eg(
    z.array(z.object({
      network: f.network.nullable().meta({ description: "null: the books with themselves" }),
      rules: z.array(rule),
      holdings: z.array(holding),
    })),
    [{
      network: null,
      rules: [{ rule: "every pair sums to zero", differences: [], unchecked: null }],
      holdings: [],
    }, {
      network: "TRX",
      rules: [{
        rule: "addresses hold what was paid to them",
        differences: [{
          subject: `${f.ADDRESS} USDT`,
          detail: "39 on the chain, 40 by the books",
        }],
        unchecked: null,
      }],
      holdings: [exampleOf(holding)],
    }],
  ),
}).meta({ id: "Reconciliation" });

export const getReconciliation = adminRoute({
  at: "GET /api/admin/reconcile",
  summary: "Findings of the newest comparisons of the books with themselves and the chains",
  anyOf: READERS,
  responses: {
    200: {
      description: "The newest report of each scope",
      schema: z.object({
        reports: z.array(report).meta({
          description: "The newest of each scope; none before the first",
        }),
      }),
    },
  },
  handler: async (_request, { sql }) => {
    const reports = await newestReports<ReportBody>(sql);
    return ok({ reports: reports.map((row) => shown(report, { ...row, parts: row.body.parts })) });
  },
});
