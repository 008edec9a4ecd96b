/**
 * Inbox rows that were set aside, as operators see them.
 *
 * @module
 */

import { z } from "zod";
import {
  EXAMPLE,
  exampleId,
  id,
  onePage,
  paginationSchema,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";

/** A row that was set aside. */
export const asideRow = z.object({
  merchantId: id("mer"),
  network: shownNetwork,
  txid: z.string().meta({ description: "Of a margin: the payment that earned it" }),
  logIndex: z.int(),
  phase: z.string(),
  reason: z.string().meta({
    description: "Begins with bug, unreadable, unexpected, unclaimed, claimed or unproven",
  }),
  data: z.record(z.string(), z.unknown()).meta({ description: "What the chain said" }),
  createdAt: timestamp,
}).meta({ id: "AsideRow" });

/** Answer of the list. */
export const asidePage = z.object({ rows: z.array(asideRow), pagination: paginationSchema });

const KEY = {
  merchantId: exampleId("mer"),
  network: "TRX",
  txid: EXAMPLE.txHash,
  logIndex: -1,
  phase: "outcome",
};

/** What the reference shows for the list. */
export const ASIDE_PAGE_EXAMPLE = {
  rows: [{
    ...KEY,
    reason: "unexpected: the transaction succeeded without the transfer",
    data: { withdrawalId: exampleId("wd"), result: "unexpected" },
    createdAt: EXAMPLE.time,
  }],
  pagination: onePage(20),
};

/** Answer to a decision about a row. */
export const asideDecided = z.object({ success: z.literal(true) });

/** What the reference shows for it. */
export const ASIDE_DECIDED_EXAMPLE = { success: true };
