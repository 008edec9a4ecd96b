/**
 * Hosted payment pages: a fresh address in a session of 15 minutes.
 *
 * @module
 */

import { z } from "zod";
import type { Refusal } from "../../actors/merchant/refusal.ts";
import { formatAmount, LARGEST_PAYMENT } from "../../ledger/money/amount.ts";
import { CURRENCIES, type Currency, pairKey } from "../../ledger/money/pair.ts";
import {
  insertSession,
  type ListedSession,
  listSessions,
  type SessionRow,
} from "../../ledger/sessions.ts";
import { formatQuote, quoteAmount } from "../../rates/quote.ts";
import { created, ok } from "../http/answer.ts";
import { heldBack } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
import { invalidField, notDone, refused, validationFailed } from "../http/errors.ts";
import {
  fiatCode,
  identifier,
  limit,
  network,
  page,
  positiveAmount,
  referenceId,
} from "../http/fields.ts";
import { pagination } from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";
import { hashSessionToken } from "../http/session_token.ts";
import { addressDepositView } from "./deposit_address.ts";
import {
  DEPOSIT_URL_CREATED_EXAMPLE,
  DEPOSIT_URL_LIST_EXAMPLE,
  depositUrlCreated,
  depositUrlList,
} from "./deposit_url_schema.ts";

/** The time that a hosted page accepts payments, milliseconds. */
const LIFETIME_MS = 15 * 60_000;

/** Rows of a list's page where the request names no limit. */
const LONGEST_PAGE = 1_000;

const newDepositUrl = z.object({
  network,
  identifier,
  referenceId: referenceId.nullish(),
  requestedCurrency: fiatCode.nullish(),
  requestedAmount: positiveAmount.nullish(),
  token: z.string().regex(/^[^\p{C}]{1,64}$/u, {
    message: "Expected 1 to 64 printable characters",
  }).nullish(),
});

/** `POST /api/deposit-url`. */
export const createDepositUrl = keyedRoute({
  method: "POST",
  path: "/api/deposit-url",
  summary: "Create a hosted payment page with a fresh address",
  description:
    "Send the customer to `url`. With `requestedAmount` and `requestedCurrency`, and while " +
    "a fresh rate is known, the page asks for `amount`, rounded up to 8 decimals. The page is " +
    "open for 15 minutes; what is paid later is credited all the same. A `token` that names a " +
    "currency of the service is what the page asks for; any other text is a hint alone.",
  access: { scope: "own", anyOf: ["write", "deposit"] },
  needsActiveMerchant: true,
  rateCategory: "deposits",
  body: newDepositUrl,
  responses: {
    201: {
      description: "The page, open for 15 minutes",
      schema: depositUrlCreated,
      example: DEPOSIT_URL_CREATED_EXAMPLE,
    },
  },
  errors: [
    "deposits_closed_on_network",
    "deposits_closed_for_pair",
    "validation_failed",
  ],
  handler: async ({ merchantId, body, now }, context) => {
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
    // asked before an address is spent; the merchant's actor has the last word
    const currency = await currencyOf(body.network, body.token ?? null, context);
    if (typeof currency !== "string") return refused(currency);
    const held = await heldBack(context, merchantId);
    if (held !== null) return held;
    const outcome = await context.merchants.ask(merchantId, {
      type: "issue-address",
      kind: "session",
      at: now,
      network: body.network,
      identifier: body.identifier,
      referenceId: body.referenceId ?? null,
      createOnly: false,
      fresh: await context.addressBook.take(body.network, merchantId),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, {});
    const { addressId, address, walletIndex } = outcome.value;
    const strange = await heldBack(context, merchantId, [{
      network: body.network,
      address,
      walletIndex,
    }]);
    if (strange !== null) return strange;
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
    };
    const token = context.sessionTokens.of(session.id, session.nonce);
    const hash = hashSessionToken(token);
    await insertSession(context.sql, session, hash);
    context.rateLimits.knowPage(hash.toHex());
    return created(createdView(session, token, context.publicUrl));
  },
});

/**
 * What the page asks for: the token that was named where it is one of the service's, otherwise the
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
  return {
    url: sessionUrl(publicUrl, token, session),
    address: session.address,
    identifier: `${session.merchantId}_${session.identifier}`,
    network: session.network,
    sessionToken: token,
    expiresAt: new Date(session.expiresAt).toISOString(),
    ...(referenceId === null ? {} : { referenceId }),
    ...(requestedAmount === null ? {} : { requestedAmount: formatAmount(requestedAmount) }),
    ...(requestedCurrency === null ? {} : { requestedCurrency }),
    ...(session.token === null ? {} : { token: session.token }),
    ...(exchangeRate === null ? {} : { exchangeRate }),
    ...(amount === null ? {} : { amount: formatQuote(amount) }),
  };
}

/** `GET /api/deposit-url`. */
export const getDepositUrls = keyedRoute({
  method: "GET",
  path: "/api/deposit-url",
  summary: "List hosted payment pages with their newest deposits",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    network: network.optional(),
    page: page.default(1),
    limit: limit.default(LONGEST_PAGE),
  }),
  responses: {
    200: {
      description: "Pages, newest first",
      schema: depositUrlList,
      example: DEPOSIT_URL_LIST_EXAMPLE,
    },
  },
  handler: async ({ merchantId, query }, context) => {
    const found = await listSessions(context.sql, merchantId, query.network ?? null, query);
    const strange = await heldBack(context, merchantId, found.rows);
    if (strange !== null) return strange;
    return ok({
      depositUrls: found.rows.map((session) => listedView(session, context)),
      pagination: pagination(query, found.total),
    });
  },
});

function listedView(session: ListedSession, { publicUrl, sessionTokens }: ApiContext) {
  const token = sessionTokens.of(session.id, session.nonce);
  return {
    id: session.id,
    url: sessionUrl(publicUrl, token, session),
    address: session.address,
    network: session.network,
    createdAt: new Date(session.createdAt).toISOString(),
    deposits: session.deposits.map(addressDepositView),
  };
}

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
