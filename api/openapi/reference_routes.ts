/**
 * Where the API reference is served.
 *
 * @module
 */

import { notFound } from "../http/errors.ts";
import { publicRoute, type Route } from "../http/route.ts";
import { StaticFile } from "../http/static_file.ts";
import { latestChange } from "./change_record.ts";
import { DOCS_CSP, DOCS_SCRIPT, DOCS_STYLE, docsPage } from "./docs_page.ts";
import { openApiDocument } from "./document.ts";

const JAVASCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** How long browsers keep the files of the reference: their addresses change with the version. */
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
  const page = new StaticFile(() => docsPage(latestChange()), {
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
    getOpenApiDocument: publicRoute({
      method: "GET",
      path: "/api/openapi.json",
      summary: "This document",
      rateCategory: "public",
      responses: {
        200: { description: "OpenAPI 3.1", schema: null, contentType: "application/json" },
        304: UNCHANGED,
      },
      handler: ({ headers }) => document.answer(headers),
    }),
    getDocs: publicRoute({
      method: "GET",
      path: "/api/docs",
      summary: "The interactive reference",
      rateCategory: "public",
      responses: {
        200: { description: "A page", schema: null, contentType: "text/html" },
        304: UNCHANGED,
      },
      handler: ({ headers }) => page.answer(headers),
    }),
    getDocsFile: publicRoute({
      method: "GET",
      path: "/api/docs/{file}",
      summary: "A file of the interactive reference",
      rateCategory: "public",
      responses: {
        200: { description: "A script or a style sheet", schema: null, contentType: "text/plain" },
        304: UNCHANGED,
      },
      errors: ["record_not_found"],
      handler: ({ params, headers }) => files.get(params.file ?? "")?.answer(headers) ?? notFound,
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
