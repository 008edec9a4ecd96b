/**
 * The API reference, as a document and as a page; everything the page loads comes from this service.
 *
 * @module
 */

import { notFound } from "../http/errors.ts";
import { type Route, route } from "../http/route.ts";
import { StaticFile } from "../http/static_file.ts";
import { VERSION } from "../http/version.ts";
import { CHANGE_RECORD, latestChange } from "./change_record.ts";
import { openApiDocument } from "./document.ts";

/** Only files of this service run, and the page talks to it alone. */
const DOCS_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Starts the reference; a file of its own because the policy allows no inline script. */
const DOCS_SCRIPT = `"use strict";
window.addEventListener("DOMContentLoaded", () => {
  SwaggerUIBundle({
    url: "/api/openapi.json",
    dom_id: "#reference",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 3,
    docExpansion: "list",
    filter: true,
    persistAuthorization: false,
    tryItOutEnabled: false,
    validatorUrl: null,
  });
});
`;

/** Adds the head of the page to the reference's own style. */
const DOCS_STYLE = `:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #1f2933; font: 16px/1.5 system-ui, sans-serif; }
.head { max-width: 1420px; margin: 0 auto; padding: 28px 20px 0; }
.head h1 { margin: 0; font-size: 28px; line-height: 1.2; }
.head p { margin: 6px 0 14px; color: #3e4c59; }
.head a { color: #0b5cad; }
.head table { border-collapse: collapse; margin: 10px 0 4px; }
.head td, .head th { text-align: left; vertical-align: top; padding: 6px 16px 6px 0; border-top: 1px solid #e4e7eb; }
.head td:first-child { white-space: nowrap; font-variant-numeric: tabular-nums; }
.swagger-ui .info { margin: 20px 0; }
.swagger-ui .info hgroup.main, .swagger-ui .info .title, .swagger-ui .info .base-url { display: none; }
.swagger-ui .scheme-container { box-shadow: none; border-block: 1px solid #e4e7eb; padding: 14px 0; }
@media (max-width: 640px) {
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; word-break: break-word; }
  .swagger-ui .wrapper { padding: 0 10px; }
}
`;

/** The page; the version in its addresses makes browsers fetch new files after an upgrade. */
function docsPage(): string {
  const rows = CHANGE_RECORD.map(({ date, change }) =>
    `<tr><td><time datetime="${date}">${date}</time></td><td>${withCode(change)}</td></tr>`
  ).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stablecoin Payments API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/api/docs/swagger-ui.css?v=${VERSION}">
<link rel="stylesheet" href="/api/docs/reference.css?v=${VERSION}">
<script src="/api/docs/swagger-ui-bundle.js?v=${VERSION}" defer></script>
<script src="/api/docs/reference.js?v=${VERSION}" defer></script>
</head>
<body>
<header class="head">
<h1>Stablecoin Payments API</h1>
<p>Version ${VERSION} · Latest change: <time datetime="${latestChange()}">${latestChange()}</time> ·
<a href="/api/openapi.json">OpenAPI 3.1 document</a></p>
<noscript>
<p>The interactive part needs JavaScript; the document does not.</p>
<table>
<thead><tr><th scope="col">Date (UTC)</th><th scope="col">Change</th></tr></thead>
<tbody>
${rows}
</tbody>
</table>
</noscript>
</header>
<main id="reference"></main>
</body>
</html>
`;
}

/** Text with \`code\` marked up; the change record is ours, but it is escaped all the same. */
function withCode(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

const JAVASCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** The time that browsers keep the files of the reference: their addresses change with the version. */
const KEPT = "public, max-age=86400";

/** Files of the package, by the name they are served under. */
const PACKAGED: Readonly<Record<string, { readonly url: string; readonly type: string }>> = {
  "swagger-ui-bundle.js": {
    url: import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js"),
    type: JAVASCRIPT,
  },
  "swagger-ui.css": {
    url: import.meta.resolve("swagger-ui-dist/swagger-ui.css"),
    type: STYLE,
  },
};

const OWN: Readonly<Record<string, { readonly text: string; readonly type: string }>> = {
  "reference.js": { text: DOCS_SCRIPT, type: JAVASCRIPT },
  "reference.css": { text: DOCS_STYLE, type: STYLE },
};

/** The routes of the reference, by operation id. */
export interface ReferenceRoutes {
  readonly getOpenApiDocument: Route;
  readonly getDocs: Route;
  readonly getDocsFile: Route;
}

/**
 * Declares the routes of the reference.
 *
 * @param operations every route there is, these included, by operation id
 */
export function referenceRoutes(
  operations: () => Readonly<Record<string, Route>>,
): ReferenceRoutes {
  const document = new StaticFile(
    () => JSON.stringify(openApiDocument(operations())),
    { "content-type": "application/json", "cache-control": "no-cache" },
  );
  const page = new StaticFile(docsPage, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "content-security-policy": DOCS_CSP,
    "referrer-policy": "no-referrer",
  });
  const files = new Map([
    ...Object.entries(OWN).map(([name, { text, type }]) =>
      [name, asFile(() => text, type)] as const
    ),
    ...Object.entries(PACKAGED).map(([name, { url, type }]) =>
      [name, asFile(() => Deno.readTextFile(new URL(url)), type, true)] as const
    ),
  ]);

  return {
    getOpenApiDocument: route({
      at: "GET /api/openapi.json",
      summary: "This document",
      access: { scope: "public" },
      rateCategory: "public",
      responses: {
        200: { description: "OpenAPI 3.1", schema: null, contentType: "application/json" },
        304: UNCHANGED,
      },
      handler: ({ headers }) => document.answer(headers),
    }),
    getDocs: route({
      at: "GET /api/docs",
      summary: "The interactive reference",
      access: { scope: "public" },
      rateCategory: "public",
      responses: {
        200: { description: "A page", schema: null, contentType: "text/html" },
        304: UNCHANGED,
      },
      handler: ({ headers }) => page.answer(headers),
    }),
    getDocsFile: route({
      at: "GET /api/docs/{file}",
      summary: "A file of the interactive reference",
      access: { scope: "public" },
      rateCategory: "public",
      responses: {
        200: { description: "A script or a style sheet", schema: null, contentType: "text/plain" },
        304: UNCHANGED,
      },
      errors: ["record_not_found"],
      handler: ({ params, headers }) => files.get(params.file)?.answer(headers) ?? notFound,
    }),
  };
}

const UNCHANGED = { description: "It is as `If-None-Match` says", schema: null };

function asFile(
  load: () => string | Promise<string>,
  type: string,
  isCompressedOnly = false,
): StaticFile {
  const headers = { "content-type": type, "cache-control": KEPT };
  return new StaticFile(load, headers, isCompressedOnly);
}
