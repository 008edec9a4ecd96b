/**
 * Where the API reference is served.
 *
 * @module
 */

import type { Answer } from "../answer.ts";
import { notFound } from "../errors.ts";
import { publicRoute, type Route } from "../route.ts";
import { latestChange } from "./change_record.ts";
import { DOCS_CSP, DOCS_SCRIPT, DOCS_STYLE, docsPage } from "./docs_page.ts";
import { openApiDocument } from "./document.ts";
import { notFoundDoc } from "./error_catalogue.ts";

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
  // Made on the first request; the routes do not change while the service runs.
  let document: string | null = null;
  const page = docsPage(latestChange());
  const texts = new Map<string, string>();

  async function file(name: string): Promise<Answer> {
    const own = OWN[name];
    if (own !== undefined) return asFile(own.text, own.type);
    const packaged = PACKAGED[name];
    if (packaged === undefined) return notFound;
    const text = texts.get(name) ?? await Deno.readTextFile(new URL(packaged.url));
    texts.set(name, text);
    return asFile(text, packaged.type);
  }

  return {
    getOpenApiDocument: publicRoute({
      method: "GET",
      path: "/api/openapi.json",
      summary: "This document",
      rateCategory: "none",
      responses: {
        200: { description: "OpenAPI 3.1", schema: null, contentType: "application/json" },
      },
      handler: () => ({
        status: 200,
        body: document ??= JSON.stringify(openApiDocument(operations())),
      }),
    }),
    getDocs: publicRoute({
      method: "GET",
      path: "/api/docs",
      summary: "The interactive reference",
      rateCategory: "none",
      responses: { 200: { description: "A page", schema: null, contentType: "text/html" } },
      handler: () => ({
        status: 200,
        body: page,
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": DOCS_CSP,
          "referrer-policy": "no-referrer",
        },
      }),
    }),
    getDocsFile: publicRoute({
      method: "GET",
      path: "/api/docs/{file}",
      summary: "A file of the interactive reference",
      rateCategory: "none",
      responses: {
        200: { description: "A script or a style sheet", schema: null, contentType: "text/plain" },
      },
      errors: [notFoundDoc],
      handler: ({ params }) => file(params.file ?? ""),
    }),
  };
}

function asFile(body: string, type: string): Answer {
  return { status: 200, body, headers: { "content-type": type, "cache-control": KEPT } };
}
