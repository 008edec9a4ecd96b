/**
 * Merchant profiles as they are shown.
 *
 * @module
 */

import { z } from "zod";
import {
  decimal,
  EXAMPLE,
  exampleId,
  fraction,
  id,
  onePage,
  paginationSchema,
  timestamp,
} from "../http/formats.ts";

const perMinute = z.int().min(0).nullable().optional();

/** The profile. */
export const merchantProfile = z.object({
  id: id("mer"),
  name: z.string(),
  status: z.enum(["ACTIVE", "SUSPENDED", "INACTIVE"]),
  depositCommissionRate: fraction,
  directDepositFee: decimal.meta({ description: "Flat fee of a wallet top-up" }),
  webhookUrl: z.string().nullable(),
  webhookEnabled: z.boolean(),
  webhookEvents: z.array(z.string()).nullable().meta({
    description: "Subscription filter: null sends every event, an empty list none",
  }),
  webhookTimeout: z.int().min(1_000).max(30_000).meta({ description: "Milliseconds" }),
  webhookRetryCount: z.int().min(0).max(20),
  successUrl: z.string().nullable(),
  failureUrl: z.string().nullable(),
  pageOrigins: z.array(z.string()).nullable().meta({
    description: "Origins that may show the hosted page in a frame; null or empty: none",
  }),
  logoColor: z.string().nullable().meta({
    description: "Colour of the merchant's mark on the hosted page, as `#rrggbb`",
  }),
  rateLimits: z.object({
    balance: perMinute,
    deposits: perMinute,
    withdrawals: perMinute,
    transactions: perMinute,
    webhooks: perMinute,
  }).meta({ description: "Requests per minute; absent or null: the default, 0: unlimited" }),
  resellerId: id("rsl").nullable(),
  createdAt: timestamp,
}).meta({ id: "MerchantProfile" });

export const MERCHANT_PROFILE_EXAMPLE = {
  id: exampleId("mer"),
  name: "Example Shop",
  status: "ACTIVE",
  depositCommissionRate: "0.01",
  directDepositFee: "1",
  webhookUrl: "https://shop.example/callbacks",
  webhookEnabled: true,
  webhookEvents: null,
  webhookTimeout: 10_000,
  webhookRetryCount: 3,
  successUrl: null,
  failureUrl: null,
  pageOrigins: null,
  logoColor: "#0b6e4f",
  rateLimits: {},
  resellerId: null,
  createdAt: EXAMPLE.time,
};

/** Answer to a new merchant. */
export const merchantCreated = merchantProfile.extend({
  webhookSecret: z.string().meta({ description: "Shown now and never again" }),
}).meta({ id: "MerchantCreated" });

/** Answer of the list. */
export const merchantPage = z.object({
  merchants: z.array(merchantProfile),
  pagination: paginationSchema,
});

export const MERCHANT_CREATED_EXAMPLE = { ...MERCHANT_PROFILE_EXAMPLE, webhookSecret: "whsec_..." };

export const MERCHANT_PAGE_EXAMPLE = {
  merchants: [MERCHANT_PROFILE_EXAMPLE],
  pagination: onePage(20),
};
