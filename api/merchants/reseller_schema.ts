/**
 * Resellers and their lines as they are read.
 *
 * @module
 */

import { z } from "zod";
import {
  address,
  EXAMPLE,
  exampleId,
  fraction,
  id,
  onePage,
  paginationSchema,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";

const beneficiary = z.enum(["merchant", "reseller"]).nullable().meta({
  description: "Whose account the margin is credited to",
});

/** A reseller. */
export const resellerSchema = z.object({
  id: id("rsl"),
  merchantId: id("mer").meta({ description: "Its own merchant account" }),
  name: z.string(),
  withdrawalAddress: address,
  network: shownNetwork,
  createdAt: timestamp,
  updatedAt: timestamp,
}).meta({ id: "Reseller" });

/** Answer of the list. */
export const resellerPage = z.object({
  resellers: z.array(resellerSchema),
  pagination: paginationSchema,
});

/** Answer of a line's merchants. */
export const lineMerchantPage = z.object({
  merchants: z.array(
    z.object({
      id: id("mer"),
      name: z.string(),
      status: z.enum(["ACTIVE", "SUSPENDED", "INACTIVE"]),
      marginRate: fraction,
      beneficiary,
      createdAt: timestamp,
    }).meta({ id: "LineMerchant" }),
  ),
  pagination: paginationSchema,
});

/** The line a merchant is attached to. */
export const merchantLine = z.object({
  merchantId: id("mer"),
  resellerId: id("rsl").nullable(),
  marginRate: fraction.nullable(),
  beneficiary,
}).meta({ id: "MerchantLine" });

export const RESELLER_EXAMPLE = {
  id: exampleId("rsl"),
  merchantId: exampleId("mer"),
  name: "Example Reseller",
  withdrawalAddress: EXAMPLE.address,
  network: "TRX",
  createdAt: EXAMPLE.time,
  updatedAt: EXAMPLE.time,
};

export const RESELLER_PAGE_EXAMPLE = { resellers: [RESELLER_EXAMPLE], pagination: onePage(20) };

export const LINE_MERCHANT_PAGE_EXAMPLE = {
  merchants: [{
    id: exampleId("mer"),
    name: "Example Shop",
    status: "ACTIVE",
    marginRate: "0.2",
    beneficiary: "reseller",
    createdAt: EXAMPLE.time,
  }],
  pagination: onePage(20),
};

export const MERCHANT_LINE_EXAMPLE = {
  merchantId: exampleId("mer"),
  resellerId: exampleId("rsl"),
  marginRate: "0.2",
  beneficiary: "reseller",
};
