/**
 * The comparison of the books.
 *
 * @module
 */

import { z } from "zod";
import type { ReportBody } from "../../actors/reconcile/report.ts";
import { newestReports } from "../../ledger/reconcile/reports.ts";
import { ok } from "../http/answer.ts";
import {
  decimal,
  EXAMPLE,
  exampleId,
  shownCurrency,
  shownNetwork,
  signedDecimal,
  timestamp,
} from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

const difference = z.object({
  subject: z.string().meta({ description: "The record it is about" }),
  detail: z.string().meta({ description: "Both sides, in words" }),
});

const rule = z.object({
  rule: z.string().meta({ description: "What should hold" }),
  differences: z.array(difference).meta({
    description: "At most 100; empty: it holds where it was compared",
  }),
  unchecked: z.string().nullable().meta({
    description: "Why it, or a part of it, could not be compared; null: all of it was",
  }),
});

const holding = z.object({
  currency: shownCurrency,
  hotWallet: decimal,
  addresses: decimal,
  cold: decimal,
  inFlight: decimal.meta({
    description: "Signed payouts that are not final; part of what is owed",
  }),
  owed: decimal.meta({ description: "To all merchants together" }),
  house: signedDecimal.meta({ description: "What is left when everybody is paid" }),
});

/** Answer of the comparisons. */
const reconcileSchema = z.object({
  reports: z.array(
    z.object({
      id: z.string(),
      scope: z.enum(["quick", "full"]).meta({
        description:
          "quick: what costs the same however many payments there were; full: everything",
      }),
      startedAt: timestamp,
      finishedAt: timestamp,
      differences: z.int().min(0),
      unchecked: z.int().min(0).meta({
        description: "Rules that could not be compared, or not in full",
      }),
      parts: z.array(z.object({
        network: shownNetwork.nullable().meta({ description: "null: the books with themselves" }),
        rules: z.array(rule),
        holdings: z.array(holding),
      })),
    }).meta({ id: "Reconciliation" }),
  ).meta({ description: "The newest of each scope; none before the first" }),
});

const RECONCILE_EXAMPLE = {
  reports: [{
    id: exampleId("rec"),
    scope: "full",
    startedAt: EXAMPLE.time,
    finishedAt: EXAMPLE.later,
    differences: 1,
    unchecked: 0,
    parts: [{
      network: null,
      rules: [{ rule: "every pair sums to zero", differences: [], unchecked: null }],
      holdings: [],
    }, {
      network: "TRX",
      rules: [{
        rule: "addresses hold what was paid to them",
        differences: [{
          subject: `${EXAMPLE.address} USDT`,
          detail: "39 on the chain, 40 by the books",
        }],
        unchecked: null,
      }],
      holdings: [{
        currency: "USDT",
        hotWallet: "999990",
        addresses: "39",
        cold: "0",
        inFlight: "10",
        owed: "50",
        house: "999979",
      }],
    }],
  }],
};

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
