/**
 * How a hosted payment stands, for the page that polls it. The session token is all it needs.
 *
 * @module
 */

import { z } from "zod";
import { ok } from "../http/answer.ts";
import { errorAnswer } from "../http/errors.ts";
import { statusView } from "../hosted_page/status_view.ts";
import { publicRoute } from "../http/route.ts";
import { DEPOSIT_PAGE_STATUS_EXAMPLES, depositPageStatus } from "./deposit_url_schema.ts";
import { hashSessionToken } from "../http/session_token.ts";

/** `GET /api/deposit-page/status`. */
export const getDepositPageStatus = publicRoute({
  method: "GET",
  path: "/api/deposit-page/status",
  summary: "Status of a hosted payment",
  description:
    "Safe to poll from a browser, by a page of any origin: the session token is all it needs. " +
    "`completed` is the first credited payment; whether a quote is met, `progress.missing` tells, " +
    "and where no rate was at hand only the merchant can.",
  rateCategory: "hosted",
  anyOrigin: true,
  query: z.object({ token: z.string().optional() }),
  responses: {
    200: {
      description: "waiting, received, completed or failed",
      schema: depositPageStatus,
      examples: DEPOSIT_PAGE_STATUS_EXAMPLES,
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
