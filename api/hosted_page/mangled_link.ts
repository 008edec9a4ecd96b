import type { Answer } from "../http/answer.ts";
import { notFound } from "../http/errors.ts";
import { problemPage } from "./problem_page.tsx";

/** Where customers are sent to, and what is left of it when a link loses its end. */
const OURS = /^\/(?:deposit|api\/deposit-page)(?:\/|$)/;

/** A whole link to a page, with a slash too much at its end. */
const SLASHED = /^\/(?:deposit\/|api\/(?=deposit-page\/))([^/]+)\/$/;

/**
 * What somebody is answered whose link to a hosted page matches no route: the page, where only a
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
