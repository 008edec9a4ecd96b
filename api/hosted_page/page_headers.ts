/**
 * What a browser may do with a hosted page: run our script, use our styles, ask us, and nothing
 * else.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { INLINE } from "./document.tsx";

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
