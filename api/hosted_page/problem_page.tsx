/**
 * The policy of a hosted page: browsers run its own script, use its own styles and ask this service
 * alone.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Answer } from "../http/answer.ts";
import { notFound } from "../http/errors.ts";
import { INLINE, renderDocument } from "./document.tsx";
import { chooseLanguage, LANGUAGES } from "./language.ts";
import type { Message, Texts } from "./texts/en.ts";
import { Icon } from "./values.tsx";

function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

const POLICY = [
  "default-src 'none'",
  `script-src ${hashSource(INLINE.script)}`,
  `style-src ${hashSource(INLINE.style)}`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * The headers of a hosted page.
 *
 * @param origins who may show it in a frame; their shape is checked when a merchant sets them, and
 *   by the database
 */
export function pageHeaders(origins: readonly string[] | null): Record<string, string> {
  const isFramed = origins !== null && origins.length > 0;
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `${POLICY}; frame-ancestors ${
      isFramed ? origins.join(" ") : "'none'"
    }`,
    // for browsers that do not know frame-ancestors; there is no way to name origins in it
    ...(isFramed ? {} : { "x-frame-options": "DENY" }),
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "vary": "accept, accept-language",
  };
}

/** True where a browser asks for a page: browsers say so in their headers, programs do not. */
export function wantsPage(headers: Headers): boolean {
  return /(?:^|,)\s*text\/html\s*(?:;|,|$)/i.test(headers.get("accept") ?? "");
}

/** An error as a page where one was asked for, otherwise as it is. */
export function problemPage(answer: Answer, request: { readonly headers: Headers }): Answer {
  if (!wantsPage(request.headers)) return answer;
  const language = chooseLanguage(null, request.headers.get("accept-language"));
  const texts = LANGUAGES[language];
  const { message, canRetry } = problemOf(answer.status, texts);
  const body = renderDocument({
    title: message.title,
    language,
    merchant: null,
    reseller: null,
    referenceId: null,
    isTest: false,
    inLanguage: null,
    hasScript: false,
    children: (
      <main id="main" data-state="problem" data-poll="none">
        <section class="outcome">
          <span class="badge large expired">
            <Icon name={canRetry ? "clock" : "cross"} />
          </span>
          <h1 id="title" tabindex={-1}>{message.title}</h1>
          <p>{message.detail}</p>
        </section>
        {canRetry && (
          <div class="return">
            <a class="button" href="">{texts.checkAgain}</a>
          </div>
        )}
      </main>
    ),
  });
  return { status: answer.status, body, headers: { ...answer.headers, ...pageHeaders(null) } };
}

/** The text for an error. A page whose time is over is none: it explains itself, in its own colours. */
function problemOf(
  status: number,
  texts: Texts,
): { readonly message: Message; readonly canRetry: boolean } {
  switch (status) {
    case 400:
    case 404:
      return { message: texts.unknownPage, canRetry: false };
    case 429:
      return { message: texts.tooManyRequests, canRetry: true };
    default:
      return { message: texts.somethingWrong, canRetry: true };
  }
}

/** The path that customers are sent to, and its rest when a link loses its end. */
const OURS = /^\/(?:deposit|api\/deposit-page)(?:\/|$)/;

/** A whole link to a page, with a slash too much at its end. */
const SLASHED = /^\/(?:deposit\/|api\/(?=deposit-page\/))([^/]+)\/$/;

/**
 * The answer to a customer whose link to a hosted page matches no route: the page, where only a
 * slash at the end is too much; otherwise that the link is incomplete.
 *
 * @returns null where the address is none of the page's
 */
export function mangledLink(request: Request): Answer | null {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const url = URL.parse(request.url);
  if (url === null) return null;
  const { pathname, search } = url;
  const last = SLASHED.exec(pathname)?.[1];
  if (last !== undefined) {
    // relative: a proxy may serve the page under a path of its own
    const headers = { "location": `../${last}${search}`, "referrer-policy": "no-referrer" };
    return { status: 308, body: null, headers };
  }
  return OURS.test(pathname) ? problemPage(notFound, request) : null;
}
