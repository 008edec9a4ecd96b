/**
 * The interactive API reference. Everything it loads comes from here: no other host is asked.
 *
 * @module
 */

import { CHANGE_RECORD, latestChange } from "./change_record.ts";

/** Nothing but our own files runs, and the page talks to nobody but this service. */
export const DOCS_CSP = [
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
export const DOCS_SCRIPT = `"use strict";
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
export const DOCS_STYLE = `:root { color-scheme: light; }
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

/** The page; \`version\` makes browsers fetch new files after an upgrade. */
export function docsPage(version: string): string {
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
<link rel="stylesheet" href="/api/docs/swagger-ui.css?v=${version}">
<link rel="stylesheet" href="/api/docs/reference.css?v=${version}">
<script src="/api/docs/swagger-ui-bundle.js?v=${version}" defer></script>
<script src="/api/docs/reference.js?v=${version}" defer></script>
</head>
<body>
<header class="head">
<h1>Stablecoin Payments API</h1>
<p>Latest change: <time datetime="${latestChange()}">${latestChange()}</time> ·
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
