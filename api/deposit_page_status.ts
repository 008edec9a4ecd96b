/**
 * How a hosted payment stands, for the page that polls it. The session token is all it needs.
 *
 * @module
 */

import { z } from "zod";
import { formatAmount } from "../ledger/amount.ts";
import { findSession } from "../ledger/queries/find_session.ts";
import { findSessionDeposit } from "../ledger/queries/find_session_deposit.ts";
import type { DepositRow } from "../ledger/rows.ts";
import type { DepositStatus } from "../ledger/transitions.ts";
import { ok } from "./answer.ts";
import { invalidToken, sessionExpired, tokenRequired } from "./errors.ts";
import { invalidTokenDoc, sessionExpiredDoc, tokenRequiredDoc } from "./openapi/error_catalogue.ts";
import { publicRoute } from "./route.ts";
import { DEPOSIT_PAGE_STATUS_EXAMPLES, depositPageStatus } from "./schemas/deposit_url.ts";
import { hashSessionToken } from "./session_token.ts";

/** `GET /api/deposit-page/status`. */
export const getDepositPageStatus = publicRoute({
  method: "GET",
  path: "/api/deposit-page/status",
  summary: "Status of a hosted payment",
  description: "Safe to poll from a browser: the session token is all it needs.",
  rateCategory: "hosted",
  query: z.object({ token: z.string().optional() }),
  responses: {
    200: {
      description: "waiting, received, completed or failed",
      schema: depositPageStatus,
      examples: DEPOSIT_PAGE_STATUS_EXAMPLES,
    },
  },
  errors: [tokenRequiredDoc, invalidTokenDoc, sessionExpiredDoc],
  handler: async ({ query, now }, { sql }) => {
    if (query.token === undefined || query.token === "") return tokenRequired;
    const session = await findSession(sql, hashSessionToken(query.token));
    if (session === null) return invalidToken;
    if (now >= session.expiresAt) return sessionExpired;
    const deposit = await findSessionDeposit(sql, session.merchantId, session.addressId);
    if (deposit === null) return ok({ status: "waiting" });
    return ok({ status: PAYMENT_STATUS[deposit.status], deposit: depositView(deposit) });
  },
});

/** What the customer is told of a deposit's status. */
const PAYMENT_STATUS = {
  PENDING: "received",
  CONFIRMED: "completed",
  FAILED: "failed",
  CANCELLED: "failed",
} as const satisfies Record<DepositStatus, string>;

function depositView(deposit: DepositRow) {
  return {
    amount: formatAmount(deposit.amount),
    currency: deposit.currency,
    txHash: deposit.txid,
    receivedAt: new Date(deposit.createdAt).toISOString(),
    creditedAt: deposit.clearedAt === null ? null : new Date(deposit.clearedAt).toISOString(),
  };
}
