/**
 * Hosted payment pages: a fresh address in a session of 15 minutes.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { z } from "zod";
import type { Refusal } from "../../actors/merchant/refusal.ts";
import { formatAmount, LARGEST_PAYMENT, roundUpTo } from "../../ledger/money/amount.ts";
import { CURRENCIES, type Currency, pairKey, tokenDecimals } from "../../ledger/money/pair.ts";
import {
  findSessionByKey,
  insertSession,
  type ListedSession,
  listSessions,
  type SessionRow,
} from "../../ledger/sessions.ts";
import { formatQuote, quoteAmount } from "../../rates/quote.ts";
import { type Answer, created } from "../http/answer.ts";
import { readIdempotencyKey, withheld } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
import {
  errorAnswer,
  invalidField,
  refused,
  unavailable,
  validationFailed,
} from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, pageOf, pages } from "../http/list.ts";
import { route } from "../http/route.ts";
import { hashSessionToken } from "../http/session_token.ts";
import { shown } from "../http/shown.ts";
import { issueAddress, storedIdentifier } from "./deposit_address.ts";
import { shortDeposit } from "./deposits.ts";

const PAGE = "https://pay.example/deposit/q7Jt0bXkS3m1Y8wVZr5oLQ2uA9dHfEcN6gTiPsKxB4M";
const PAGE_WITH_QUERY = `${PAGE}?ref=order-1001&amount=10&currency=EUR`;

const url = eg(z.string().min(1), PAGE_WITH_QUERY).meta({
  format: "uri",
  examples: [PAGE_WITH_QUERY],
});

const depositUrlCreated = z.object({
  url,
  address: f.address,
  identifier: storedIdentifier,
  network: f.network,
  sessionToken: eg(z.string().min(1), PAGE.slice(-43)),
  expiresAt: eg(
    f.timestamp.meta({ description: "15 minutes after creation" }),
    "2026-08-13T09:45:00.000Z",
  ),
  referenceId: eg(z.string().optional(), "order-1001"),
  requestedAmount: eg(f.decimal.optional(), "10"),
  requestedCurrency: eg(z.string().optional(), "EUR"),
  token: eg(z.string().optional(), undefined),
  exchangeRate: eg(f.decimal.optional().meta({ description: "Fiat units per USDT" }), "0.86"),
  amount: eg(
    f.eightPlaces.optional().meta({ description: "requestedAmount at exchangeRate" }),
    "11.62790698",
  ),
  payableAmount: eg(
    f.decimal.optional().meta({
      description: "`amount` rounded up to the token's decimals: what the page asks for",
    }),
    "11.627907",
  ),
}).meta({
  id: "DepositUrlCreated",
  description: "Fields that were not supplied, or cannot be quoted, are left out",
});

const depositUrl = z.object({
  id: f.id("ses"),
  url: eg(url, PAGE),
  address: f.address,
  network: f.network,
  createdAt: f.timestamp,
  deposits: z.array(shortDeposit).meta({ description: "The newest 10" }),
}).meta({ id: "DepositUrl" });

/** The time that a hosted page accepts payments, milliseconds. */
const LIFETIME_MS = 15 * 60_000;

/** Rows of a list's page where the request names no limit. */
const LONGEST_PAGE = 1_000;

const newDepositUrl = z.object({
  network: f.network,
  identifier: f.identifier,
  referenceId: f.referenceId.nullish(),
  requestedCurrency: f.fiatCode.nullish(),
  requestedAmount: f.positiveAmount.nullish(),
  token: z.string().regex(/^[^\p{C}]{1,64}$/u, {
    message: "Expected 1 to 64 printable characters",
  }).nullish(),
});

export const createDepositUrl = route({
  at: "POST /api/deposit-url",
  summary: "Create a hosted payment page with a fresh address",
  description:
    "Send the customer to `url`. With `requestedAmount` and `requestedCurrency`, and while " +
    "a fresh rate is known, the page asks for `amount`, rounded up to 8 decimals. The page is " +
    "open for 15 minutes; what is paid later is credited all the same. A `token` that names a " +
    "currency of the service is what the page asks for; any other text is a hint alone.",
  access: { scope: "own", anyOf: ["write", "deposit"] },
  needsActiveMerchant: true,
  rateCategory: "deposits",
  headers: [{
    name: "Idempotency-Key",
    description:
      "The same key gets the same page for 24 hours, also when its 15 minutes are over; with another " +
      "body it is a 409",
    schema: z.string().min(1).max(255),
  }],
  body: newDepositUrl,
  responses: { 201: { description: "The page, open for 15 minutes", schema: depositUrlCreated } },
  errors: [
    "idempotency_conflict",
    "deposits_closed_on_network",
    "deposits_closed_for_pair",
    "validation_failed",
  ],
  handler: async ({ merchantId, body, headers, now }, context) => {
    const idempotencyKey = readIdempotencyKey(headers);
    if (typeof idempotencyKey === "object" && idempotencyKey !== null) return idempotencyKey;
    const bodyHash = idempotencyKey === null ? null : hashOf(body);
    const again = () => repeated({ merchantId, idempotencyKey, bodyHash, now }, context);
    const earlier = await again();
    if (earlier !== null) return earlier;
    const requestedAmount = body.requestedAmount ?? null;
    const requestedCurrency = body.requestedCurrency ?? null;
    if ((requestedAmount === null) !== (requestedCurrency === null)) {
      return requestedAmount === null
        ? validationFailed("requestedAmount", "Needed beside requestedCurrency", "required")
        : validationFailed("requestedCurrency", "Needed beside requestedAmount", "required");
    }
    if (requestedAmount !== null && requestedAmount > LARGEST_PAYMENT) {
      return invalidField("requestedAmount", "Expected at most 1000000000000", "too_big");
    }
    // asked before an address is taken; the merchant's actor has the last word
    const currency = await currencyOf(body.network, body.token ?? null, context);
    if (typeof currency !== "string") return refused(currency);
    const issued = await issueAddress(merchantId, {
      kind: "session",
      at: now,
      network: body.network,
      identifier: body.identifier,
      referenceId: body.referenceId ?? null,
      createOnly: false,
    }, context);
    if ("status" in issued) return issued;
    const { addressId, address } = issued;
    const session: SessionRow = {
      id: context.newId("ses"),
      nonce: crypto.getRandomValues(new Uint8Array(16)).toHex(),
      merchantId,
      addressId,
      address,
      network: body.network,
      identifier: body.identifier,
      referenceId: body.referenceId ?? null,
      requestedAmount,
      requestedCurrency,
      ...quoteOf(currency, requestedAmount, requestedCurrency, context),
      currency,
      token: body.token ?? null,
      expiresAt: now + LIFETIME_MS,
      createdAt: now,
      idempotencyKey,
      bodyHash,
    };
    const token = context.sessionTokens.of(session.id, session.nonce);
    const hash = hashSessionToken(token);
    if (!await insertSession(context.sql, session, hash)) {
      // the same request came twice at once: this one's address stays unused
      return await again() ??
        unavailable("Another request with this Idempotency-Key is under way.");
    }
    context.rateLimits.knowPage(hash.toHex());
    return created(createdView(session, token, context.publicUrl));
  },
});

/** The hash of the fields that make two requests with one Idempotency-Key the same. */
function hashOf(body: z.output<typeof newDepositUrl>): string {
  const { network, identifier, referenceId, requestedCurrency, requestedAmount, token } = body;
  const price = requestedAmount === null || requestedAmount === undefined
    ? null
    : formatAmount(requestedAmount);
  const told = [network, identifier, referenceId, requestedCurrency, price, token];
  return createHash("sha256").update(JSON.stringify(told.map((one) => one ?? null))).digest("hex");
}

/** The answer of an earlier request with the same Idempotency-Key; null where there was none. */
async function repeated(
  { merchantId, idempotencyKey, bodyHash, now }: {
    readonly merchantId: string;
    readonly idempotencyKey: string | null;
    readonly bodyHash: string | null;
    readonly now: number;
  },
  context: ApiContext,
): Promise<Answer | null> {
  if (idempotencyKey === null) return null;
  const { sql, sessionTokens, publicUrl } = context;
  const session = await findSessionByKey(sql, merchantId, idempotencyKey, now);
  if (session === null) return null;
  if (session.bodyHash !== bodyHash) return errorAnswer("idempotency_conflict", {});
  return await withheld(context, merchantId, [session]) ??
    created(createdView(session, sessionTokens.of(session.id, session.nonce), publicUrl));
}

/**
 * The currency that the page asks for: the token that was named where it is one of the service's, otherwise the
 * first that the network takes.
 *
 * @returns the refusal where the network, or the named token on it, takes no deposits
 */
async function currencyOf(
  network: SessionRow["network"],
  hint: string | null,
  context: ApiContext,
): Promise<Currency | Refusal> {
  const closed: Refusal = { code: "deposits_closed_on_network", network };
  if (!context.chains.has(network)) return closed;
  const { pairs } = await context.settings();
  const isTaken = (currency: Currency) =>
    pairs.get(pairKey(currency, network))?.depositsEnabled === true;
  const first = CURRENCIES.find(isTaken);
  if (first === undefined) return closed;
  const named = CURRENCIES.find((currency) => currency === hint?.toUpperCase());
  if (named === undefined) return first;
  return isTaken(named) ? named : { code: "deposits_closed_for_pair", currency: named, network };
}

/** The quote for the customer; nothing where no rate is at hand. */
function quoteOf(
  currency: Currency,
  requestedAmount: SessionRow["requestedAmount"],
  requestedCurrency: string | null,
  context: ApiContext,
): Pick<SessionRow, "exchangeRate" | "amount"> {
  const none = { exchangeRate: null, amount: null };
  if (requestedAmount === null || requestedCurrency === null) return none;
  const found = context.rates.find(currency, requestedCurrency);
  if (found === null) return none;
  const amount = quoteAmount(requestedAmount, found.rate);
  return amount === null ? none : { exchangeRate: found.rate, amount };
}

function createdView(session: SessionRow, token: string, publicUrl: string) {
  const { referenceId, requestedAmount, requestedCurrency, exchangeRate, amount } = session;
  return shown(depositUrlCreated, {
    ...session,
    url: sessionUrl(publicUrl, token, session),
    identifier: `${session.merchantId}_${session.identifier}`,
    sessionToken: token,
    referenceId: referenceId ?? undefined,
    requestedAmount: requestedAmount ?? undefined,
    requestedCurrency: requestedCurrency ?? undefined,
    token: session.token ?? undefined,
    exchangeRate: exchangeRate ?? undefined,
    amount: amount === null ? undefined : formatQuote(amount),
    payableAmount: amount === null
      ? undefined
      : roundUpTo(amount, tokenDecimals(session.currency, session.network)),
  });
}

export const getDepositUrls = route({
  at: "GET /api/deposit-url",
  summary: "List hosted payment pages with their newest deposits",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({ network: f.network.optional(), ...pages(LONGEST_PAGE) }),
  responses: {
    200: {
      description: "Pages, newest first",
      schema: pageOf("depositUrls", depositUrl, LONGEST_PAGE),
    },
  },
  handler: async ({ merchantId, query }, context) => {
    const { sql, publicUrl, sessionTokens } = context;
    const found = await listSessions(sql, merchantId, query.network ?? null, query);
    const view = (session: ListedSession) =>
      shown(depositUrl, {
        ...session,
        url: sessionUrl(publicUrl, sessionTokens.of(session.id, session.nonce), session),
      });
    return await withheld(context, merchantId, found.rows) ??
      listed("depositUrls", found, query, view);
  },
});

/** The address of a hosted payment page, with what the merchant wants it to show. */
function sessionUrl(
  publicUrl: string,
  token: string,
  session: Pick<
    SessionRow,
    "referenceId" | "requestedAmount" | "requestedCurrency" | "token"
  >,
): string {
  const { referenceId, requestedAmount, requestedCurrency } = session;
  const shown = new URLSearchParams();
  if (referenceId !== null) shown.set("ref", referenceId);
  if (requestedAmount !== null && requestedCurrency !== null) {
    shown.set("amount", formatAmount(requestedAmount));
    shown.set("currency", requestedCurrency);
  }
  if (session.token !== null) shown.set("token", session.token);
  const query = shown.size === 0 ? "" : `?${shown}`;
  return `${publicUrl}/deposit/${token}${query}`;
}
