/**
 * From the bytes of a request to the values a handler works with.
 *
 * @module
 */

import type { z } from "zod";
import type { Answer } from "./answer.ts";
import { detailsOf, faultOf } from "./details.ts";
import { errorAnswer, invalidField, invalidRequest } from "./errors.ts";
import { parseQuery, type Query, readableFields } from "./parse_query.ts";
import { LARGEST_BODY, MOST_PIECES, readBody } from "./read_body.ts";
import type { Route } from "./route.ts";
import { parseStrictJson } from "./strict_json.ts";

/** Query and body after their schemas, or the answer that refuses them. */
export type Input =
  | { readonly kind: "input"; readonly query: unknown; readonly body: unknown }
  | { readonly kind: "refused"; readonly answer: Answer };

/**
 * Judges what was sent as it was read, before its schema: whether it is authentic has to be known
 * before anything is told of what it should look like.
 *
 * @returns the answer that refuses it, otherwise null
 */
export type Verify = (body: unknown) => Answer | null;

function refuse(answer: Answer): Input {
  return { kind: "refused", answer };
}

/** Reads the query of a request as its route takes it; whatever goes by a query goes by this. */
export function readQuery(route: Route, url: string): Query {
  return route.problemPage === null
    ? parseQuery(url)
    : { kind: "fields", fields: readableFields(url) };
}

/** Reads what the route's schemas ask for. */
export async function readInput(route: Route, request: Request, verify: Verify): Promise<Input> {
  const query = readQuery(route, request.url);
  if (query.kind === "fault") return refuse(invalidRequest([faultOf(query.code)]));
  let queryValue: unknown;
  if (route.query !== null) {
    const checked = route.query.safeParse(query.fields);
    if (!checked.success) return refuse(invalidRequest(detailsOf(checked.error)));
    queryValue = checked.data;
  }
  if (route.body === null) return { kind: "input", query: queryValue, body: undefined };
  return await readJsonBody(route.body, request, queryValue, verify);
}

const FRAGMENTED =
  `Expected at most ${MOST_PIECES} pieces; send the body at once, with its Content-Length`;

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

async function readJsonBody(
  schema: z.ZodType,
  request: Request,
  query: unknown,
  verify: Verify,
): Promise<Input> {
  // without an announced length only reading tells whether there is a body
  const announced = request.headers.get("content-length");
  const early = announced === null ? await readBody(request) : null;
  if (announced === "0" || (early?.kind === "text" && early.text === "")) {
    // where everything in a body may be left out, the body may be
    const checked = schema.safeParse(undefined);
    if (checked.success) return { kind: "input", query, body: checked.data };
  }
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) {
    return refuse(errorAnswer("unsupported_media_type", {}));
  }
  const body = early ?? await readBody(request);
  switch (body.kind) {
    case "too_large":
      return refuse(errorAnswer("body_too_large", { limit: LARGEST_BODY }));
    case "fragmented":
      return refuse(invalidField("", FRAGMENTED, "fragmented"));
    case "unreadable":
      return refuse(invalidRequest([faultOf("malformed")]));
    case "text": {
      const parsed = parseStrictJson(body.text);
      if (parsed.kind === "fault") return refuse(invalidRequest([faultOf(parsed.code)]));
      const refusal = verify(parsed.value);
      if (refusal !== null) return refuse(refusal);
      const checked = schema.safeParse(parsed.value);
      if (!checked.success) return refuse(invalidRequest(detailsOf(checked.error)));
      return { kind: "input", query, body: checked.data };
    }
    default: {
      const never: never = body;
      return never;
    }
  }
}
