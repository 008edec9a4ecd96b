/**
 * The page on which a merchant's customer pays.
 *
 * @module
 */

import { z } from "zod";
import { readHostedPage } from "../../ledger/hosted_page.ts";
import type { Answer } from "../http/answer.ts";
import { withheld } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
import { errorAnswer, unavailable } from "../http/errors.ts";
import { type PublicRequest, route } from "../http/route.ts";
import { hashSessionToken } from "../http/session_token.ts";
import { renderDocument } from "./document.tsx";
import { chooseLanguage, type Language } from "./language.ts";
import { type PageView, pageView, redirectOf } from "./page_view.ts";
import { pageHeaders, problemPage, wantsPage } from "./problem_page.tsx";
import { screenOf } from "./payment_screen.tsx";
import { PACE, statusView } from "./status.ts";

const DESCRIPTION = "Needs no API key: the session token opens it. Send `Accept: text/html`, as " +
  "browsers do, to get errors as pages too. After the session's time the page answers 410 and " +
  "explains; it goes on telling what becomes of a payment.";

const lang = z.string().optional().meta({
  description: "`en`, `zh`, `es` or `ar`; otherwise `Accept-Language` decides",
});

const responses = {
  200: { description: "The page", schema: null, contentType: "text/html" },
} as const;

export const getDepositPageOfToken = route({
  at: "GET /deposit/{token}",
  summary: "The hosted payment page",
  access: { scope: "public" },
  description: DESCRIPTION,
  rateCategory: "hosted",
  // what else the address carries is for the customer's eyes
  query: z.object({ lang }),
  responses,
  // a path that is no text is that of no page either
  errors: ["invalid_token", "record_not_found", "session_expired"],
  problemPage,
  handler: ({ params, query, ...request }, context) => {
    const addressOf = (language: Language) => `?lang=${language}`;
    const statusPath = `../api/deposit-page/status?token=${params.token}`;
    return pageOf(params.token, query.lang, { statusPath, addressOf }, request, context);
  },
});

export const getDepositPage = route({
  at: "GET /api/deposit-page",
  summary: "The hosted payment page, by a query parameter",
  access: { scope: "public" },
  description: DESCRIPTION,
  rateCategory: "hosted",
  query: z.object({ token: z.string().optional(), lang }),
  responses,
  errors: ["token_required", "invalid_token", "session_expired"],
  problemPage,
  handler: ({ query, ...request }, context) => {
    const { token } = query;
    if (token === undefined || token === "") return errorAnswer("token_required", {});
    const addressOf = (language: Language) => `?token=${token}&lang=${language}`;
    const statusPath = `deposit-page/status?token=${token}`;
    return pageOf(token, query.lang, { statusPath, addressOf }, request, context);
  },
});

/** Addresses of the page, relative to itself: a proxy may serve it under a path of its own. */
interface Addresses {
  readonly statusPath: string;
  readonly addressOf: (language: Language) => string;
}

async function pageOf(
  token: string,
  wanted: string | undefined,
  addresses: Addresses,
  { headers, now }: Pick<PublicRequest<unknown, unknown>, "headers" | "now">,
  context: ApiContext,
): Promise<Answer> {
  const tokenHash = hashSessionToken(token);
  const release = await context.pagePlaces.take(tokenHash.toHex());
  if (release === null) {
    return unavailable("Too many pages are read just now; ask again.");
  }
  const found = await readHostedPage(context.sql, tokenHash).finally(release);
  if (found === undefined) return errorAnswer("invalid_token", {});
  const { session, walletIndex, payment, merchant } = found;
  const isOver = now >= session.expiresAt;
  if (isOver && !wantsPage(headers)) return errorAnswer("session_expired", {});
  if (!isOver) {
    const { network, address } = session;
    const refusal = await withheld(context, session.merchantId, [{
      network,
      address,
      walletIndex,
    }]);
    if (refusal !== null) return refusal;
  }
  const view = pageView({
    session,
    payment,
    merchant,
    paymentLink: context.chains.get(session.network)?.paymentLink,
    isDevelopment: context.environment === "development",
    language: chooseLanguage(wanted ?? null, headers.get("accept-language")),
    now,
  });
  return {
    status: isOver ? 410 : 200,
    body: renderPage(view, addresses),
    headers: pageHeaders(merchant.pageOrigins),
  };
}

function renderPage(view: PageView, { statusPath, addressOf }: Addresses): string {
  const { texts, merchant, session, payment, state } = view;
  const { message, body } = screenOf(view);
  const redirect = redirectOf(state, merchant);
  return renderDocument({
    title: texts.pageTitle(merchant.name),
    language: view.language,
    merchant,
    reseller: merchant.reseller,
    referenceId: session.referenceId,
    isTest: view.isTest,
    inLanguage: addressOf,
    hasScript: true,
    children: (
      <>
        <div
          id="lost"
          class="lost"
          hidden
          data-back={texts.connectionBack}
        >
          <strong>{texts.connectionLost.title}</strong> {texts.connectionLost.detail}
        </div>
        <main
          id="main"
          data-state={state.kind}
          data-say={`${message.title}. ${message.detail}`}
          data-status={JSON.stringify(statusView(session, payment))}
          data-status-path={statusPath}
          data-poll={view.poll}
          data-pace={JSON.stringify(PACE)}
          data-left={Math.max(-view.overMs, 0)}
          data-life={session.expiresAt - session.createdAt}
          {...(redirect === null || redirect.afterS === null
            ? {}
            : { "data-go": redirect.url, "data-go-after": redirect.afterS })}
        >
          {body}
          <noscript>
            <p class="unscripted">
              {texts.withoutScript} <a href="">{texts.checkAgain}</a>
            </p>
          </noscript>
        </main>
        <p id="say" class="unseen" role="status" aria-live="polite" />
      </>
    ),
  });
}
