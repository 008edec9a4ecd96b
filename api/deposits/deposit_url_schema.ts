/**
 * Hosted payment pages as merchants and customers read them.
 *
 * @module
 */

import { z } from "zod";
import { SHORT_DEPOSIT_EXAMPLE, shortDeposit } from "./deposits.ts";
import { storedIdentifier } from "./deposit_address.ts";
import {
  address,
  decimal,
  eightPlaces,
  EXAMPLE,
  exampleId,
  id,
  onePage,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  timestamp,
  txHash,
} from "../http/formats.ts";

const TOKEN = "q7Jt0bXkS3m1Y8wVZr5oLQ2uA9dHfEcN6gTiPsKxB4M";

const url = z.string().min(1).meta({
  format: "uri",
  examples: [`https://pay.example/deposit/${TOKEN}?ref=order-1001&amount=10&currency=EUR`],
});

/** Answer to a new page. */
export const depositUrlCreated = z.object({
  url,
  address,
  identifier: storedIdentifier,
  network: shownNetwork,
  sessionToken: z.string().min(1),
  expiresAt: timestamp.meta({ description: "15 minutes after creation" }),
  referenceId: z.string().optional(),
  requestedAmount: decimal.optional(),
  requestedCurrency: z.string().optional(),
  token: z.string().optional(),
  exchangeRate: decimal.optional().meta({ description: "Fiat units per USDT" }),
  amount: eightPlaces.optional().meta({ description: "requestedAmount at exchangeRate" }),
}).meta({
  id: "DepositUrlCreated",
  description: "What was not supplied, or cannot be quoted, is left out",
});

/** Answer of the list. */
export const depositUrlList = z.object({
  depositUrls: z.array(
    z.object({
      id: id("ses"),
      url,
      address,
      network: shownNetwork,
      createdAt: timestamp,
      deposits: z.array(shortDeposit).meta({ description: "The newest 10" }),
    }).meta({ id: "DepositUrl" }),
  ),
  pagination: paginationSchema,
});

/** Answer to the page that polls. */
export const depositPageStatus = z.object({
  status: z.enum(["waiting", "received", "completed", "failed"]),
  deposit: z.object({
    amount: decimal,
    currency: shownCurrency,
    txHash: txHash.nullable(),
    receivedAt: timestamp,
    creditedAt: timestamp.nullable(),
  }).optional().meta({ description: "Left out while waiting" }),
  progress: z.object({
    currency: shownCurrency,
    amount: eightPlaces.nullable().meta({ description: "The quote; null where there is none" }),
    received: decimal.meta({ description: "Seen on the chain, credited or not" }),
    credited: decimal,
    missing: decimal.nullable().meta({
      description: "What is still to be sent, in what the token can carry; null without a quote",
    }),
  }).optional().meta({
    description: "All payments together, in the token the page asks for; left out while waiting",
  }),
}).meta({ id: "DepositPageStatus" });

export const DEPOSIT_URL_CREATED_EXAMPLE = {
  url: `https://pay.example/deposit/${TOKEN}?ref=order-1001&amount=10&currency=EUR`,
  address: EXAMPLE.address,
  identifier: `${exampleId("mer")}_customer-7`,
  network: "TRX",
  sessionToken: TOKEN,
  expiresAt: "2026-08-13T09:45:00.000Z",
  referenceId: "order-1001",
  requestedAmount: "10",
  requestedCurrency: "EUR",
  exchangeRate: "0.86",
  amount: "11.62790698",
};

export const DEPOSIT_URL_LIST_EXAMPLE = {
  depositUrls: [{
    id: exampleId("ses"),
    url: `https://pay.example/deposit/${TOKEN}`,
    address: EXAMPLE.address,
    network: "TRX",
    createdAt: EXAMPLE.time,
    deposits: [SHORT_DEPOSIT_EXAMPLE],
  }],
  pagination: onePage(1_000),
};

export const DEPOSIT_PAGE_STATUS_EXAMPLES = {
  waiting: { status: "waiting" },
  completed: {
    status: "completed",
    deposit: {
      amount: "100",
      currency: "USDT",
      txHash: EXAMPLE.txHash,
      receivedAt: EXAMPLE.time,
      creditedAt: EXAMPLE.later,
    },
    progress: {
      currency: "USDT",
      amount: "116.27906977",
      received: "100",
      credited: "100",
      missing: "16.27907",
    },
  },
};
