/**
 * The state of a hosted payment, for the page that polls it. The session token is all it needs.
 *
 * @module
 */

import { z } from "zod";
import type { DepositStatus } from "../../ledger/money/transitions.ts";
import type { SessionPayment, SessionRow } from "../../ledger/sessions.ts";
import { formatQuote } from "../../rates/quote.ts";
import { ok } from "../http/answer.ts";
import { errorAnswer } from "../http/errors.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { route } from "../http/route.ts";
import { hashSessionToken } from "../http/session_token.ts";
import { shown } from "../http/shown.ts";
import { progressOf } from "./page_view.ts";

const depositPageStatus = z.object({
  status: eg(z.enum(["waiting", "received", "completed", "failed"]), "completed"),
  deposit: z.object({
    amount: eg(f.decimal, "100"),
    currency: f.currency,
    txHash: f.txHash.nullable(),
    receivedAt: f.timestamp,
    creditedAt: f.later.nullable(),
  }).optional().meta({ description: "Left out while waiting" }),
  progress: z.object({
    currency: f.currency,
    amount: eg(
      f.eightPlaces.nullable().meta({
        description:
          "The quote, always with 8 places: what is to be paid is this rounded up to the token's " +
          "decimals, `payableAmount`. Null where there is none",
      }),
      "116.27906977",
    ),
    received: eg(f.decimal.meta({ description: "Seen on the chain, credited or not" }), "100"),
    credited: eg(f.decimal.meta({ description: "Final, before fees" }), "100"),
    missing: eg(
      f.decimal.nullable().meta({
        description:
          "Amount that is still to be sent, rounded to the token's decimals; null without a quote",
      }),
      "16.27907",
    ),
  }).optional().meta({
    description: "All payments together, in the token the page asks for; left out while waiting",
  }),
}).meta({ id: "DepositPageStatus" });

/** The interval at which an open page asks for its payment, milliseconds. */
export const PACE = {
  /** After opening the page, and after every change. */
  first: 2_000,
  /** Each answer without news makes the pause this many times longer. */
  growth: 1.25,
  /** The longest pause while the page's time lasts. */
  most: 8_000,
  /** The longest pause while the service cannot be reached, and once the page's time is over. */
  patient: 30_000,
  /** Bound of one request. */
  timeout: 10_000,
} as const;

/**
 * Least time from one read of the polls' answers to the next, milliseconds. A poll that comes alone
 * is answered at once; a thousand open pages ask 125 times a second and are answered by five reads.
 * Customers do not notice a fifth of a second where pages ask every 2 to 8, and it halves what they cost.
 */
export const POLL_SPACING_MS = 200;

/** The status that is shown for a deposit's. */
const PAYMENT_STATUS = {
  PENDING: "received",
  CONFIRMED: "completed",
  FAILED: "failed",
  CANCELLED: "failed",
} as const satisfies Record<DepositStatus, string>;

/** A hosted payment as the interface shows it. */
export function statusView(
  session: Pick<SessionRow, "amount" | "currency" | "network" | "requestedAmount">,
  payment: SessionPayment | null,
) {
  if (payment === null) return { status: "waiting" } as const;
  const { seen: received, credited, missing } = progressOf(session, payment);
  const { amount: quote, currency } = session;
  const { deposit } = payment;
  return shown(depositPageStatus, {
    status: PAYMENT_STATUS[deposit.status],
    deposit: {
      ...deposit,
      txHash: deposit.txid,
      receivedAt: deposit.createdAt,
      creditedAt: deposit.clearedAt,
    },
    progress: {
      currency,
      amount: quote === null ? null : formatQuote(quote),
      received,
      credited,
      missing,
    },
  });
}

export const getDepositPageStatus = route({
  at: "GET /api/deposit-page/status",
  summary: "Status of a hosted payment",
  access: { scope: "public" },
  description:
    "Safe to poll from a browser, by a page of any origin: the session token is all it needs. " +
    "`completed` is the first credited payment; a quote is met when `progress.credited` is the payable " +
    "amount: `progress.missing` counts what was only seen. Where no rate was at hand only the merchant " +
    "knows what is enough.",
  rateCategory: "hosted",
  anyOrigin: true,
  query: z.object({ token: z.string().optional() }),
  responses: {
    200: {
      description: "waiting, received, completed or failed",
      schema: depositPageStatus,
      examples: { waiting: { status: "waiting" }, completed: exampleOf(depositPageStatus) },
    },
  },
  errors: ["token_required", "invalid_token", "session_expired"],
  handler: async ({ query, now }, { hostedStatuses }) => {
    if (query.token === undefined || query.token === "") return errorAnswer("token_required", {});
    const found = await hostedStatuses(hashSessionToken(query.token).toHex());
    if (found === undefined) return errorAnswer("invalid_token", {});
    if (now >= found.session.expiresAt) return errorAnswer("session_expired", {});
    return ok(statusView(found.session, found.payment));
  },
});
