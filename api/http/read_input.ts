/**
 * From the bytes of a request to the values a handler works with: body and query, within bounds.
 *
 * @module
 */

import { z } from "zod";
import type { Answer, Detail } from "./answer.ts";
import { errorAnswer, invalidField, invalidRequest } from "./errors.ts";
import { misspeltGuard, withMisspelt } from "./misspelt.ts";
import { parseQuery, type Query, readableFields } from "./request_url.ts";
import type { Route } from "./route.ts";
import { parseStrictJson } from "./strict_json.ts";

/** Largest request body, in bytes. */
export const LARGEST_BODY = 65_536;

/**
 * Pieces of a body without an announced length: reading one takes a tenth of a millisecond of the
 * one thread, however small it is.
 */
export const MOST_PIECES = 256;

/** Buffer of a body without an announced length at first, bytes; doubled where it is too small. */
const FIRST_BUFFER = 2_048;

export type BodyText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "too_large" }
  /** In more than {@linkcode MOST_PIECES} pieces. */
  | { readonly kind: "fragmented" }
  /** Not UTF-8, or the connection broke within it. */
  | { readonly kind: "unreadable" };

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
/** The mark that the lenient reading puts in place of bytes that are not UTF-8. */
const REPLACEMENT = "\uFFFD";

/**
 * The text of bytes in UTF-8. The strict reading takes three times as long as the lenient one, which leaves a
 * mark wherever they differ.
 *
 * @throws {TypeError} where they are not UTF-8
 */
function textOf(bytes: Uint8Array): string {
  const text = lenient.decode(bytes);
  return text.includes(REPLACEMENT) ? strict.decode(bytes) : text;
}

/**
 * Reads a body of at most {@linkcode LARGEST_BODY} bytes, whether or not its length is announced.
 *
 * @param announced its Content-Length; null: none was sent
 */
export async function readBody(
  request: Request,
  announced: string | null = request.headers.get("content-length"),
): Promise<BodyText> {
  if (announced !== null && Number(announced) > LARGEST_BODY) return { kind: "too_large" };
  try {
    const bytes = announced !== null ? await request.bytes() : await readStream(request.body);
    if (typeof bytes === "string") return { kind: bytes };
    if (bytes.byteLength > LARGEST_BODY) return { kind: "too_large" };
    return { kind: "text", text: textOf(bytes) };
  } catch (error) {
    // A client that hangs up in the middle or sends other bytes than UTF-8 is its own fault.
    if (error instanceof TypeError || isAborted(error)) return { kind: "unreadable" };
    throw error;
  }
}

function isAborted(error: unknown): boolean {
  return error instanceof Error &&
    ["AbortError", "BadResource", "ConnectionReset", "UnexpectedEof", "Interrupted", "Http"]
      .includes(error.name);
}

/** Reads pieces into one buffer: a piece that is kept would keep the large buffer that it came in. */
async function readStream(
  body: ReadableStream<Uint8Array> | null,
): Promise<Uint8Array | "too_large" | "fragmented"> {
  if (body === null) return new Uint8Array(0);
  let whole = new Uint8Array(FIRST_BUFFER);
  let [size, pieces] = [0, 0];
  for await (const piece of body) {
    const end = size + piece.byteLength;
    if (end > LARGEST_BODY) return "too_large";
    if (++pieces > MOST_PIECES) return "fragmented";
    if (end > whole.byteLength) {
      const larger = new Uint8Array(Math.max(end, 2 * whole.byteLength));
      larger.set(whole.subarray(0, size));
      whole = larger;
    }
    whole.set(piece, size);
    size = end;
  }
  return whole.subarray(0, size);
}

/** The faults a schema found; the values that were sent are not repeated. */
export function detailsOf(error: z.ZodError): readonly Detail[] {
  return error.issues.map((issue) => ({
    path: issue.path.map(String),
    message: issue.message,
    code: codeOf(issue),
  }));
}

/** The interface names codes as zod 3 did. */
function codeOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_value":
      return "invalid_enum_value";
    case "invalid_format":
      return "invalid_string";
    case "invalid_key":
    case "invalid_element":
    case "invalid_type":
    case "invalid_union":
    case "too_big":
    case "too_small":
    case "not_multiple_of":
    case "unrecognized_keys":
    case "custom":
      return issue.code;
    default: {
      const never: never = issue;
      return never;
    }
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  malformed: "The text cannot be read",
  too_deep: "Nested too deeply",
  duplicate_key: "A name occurs twice",
  forbidden_key: "A name is not allowed",
  forbidden_text: "NUL characters and lone surrogates are not allowed",
};

/** A fault of the whole body or query string. */
function faultOf(code: string): Detail {
  return { path: [], message: FAULTS[code] ?? "The request cannot be read", code };
}

/** Query and body after their schemas, or the answer that refuses them. */
export type Input =
  | { readonly kind: "input"; readonly query: unknown; readonly body: unknown }
  | { readonly kind: "refused"; readonly answer: Answer };

/**
 * Judges what was sent as it was read, before its schema: whether it is authentic has to be known
 * before the answer says what it should look like.
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

/** Reads what a request sent; at once where its route takes no body. */
export function readInput(
  route: Route,
  request: Request,
  verify: Verify,
): Input | Promise<Input> {
  const query = readQuery(route, request.url);
  if (query.kind === "fault") return refuse(invalidRequest([faultOf(query.code)]));
  const unknown = unknownParameter(route, query.fields);
  if (unknown !== null) {
    return refuse(invalidField(unknown, "There is no such parameter", "unrecognized_keys"));
  }
  let queryValue: unknown;
  if (route.query !== null) {
    const checked = route.query.safeParse(query.fields);
    if (!checked.success) return refuse(invalidRequest(detailsOf(checked.error)));
    queryValue = checked.data;
  }
  if (route.body === null) return { kind: "input", query: queryValue, body: undefined };
  return readJsonBody(route.body, request, queryValue, verify);
}

/**
 * A parameter that the route does not know, null where there is none. A filter that is passed over would
 * answer everything for one record. Routes without a key are open to links, which gather parameters.
 */
function unknownParameter(route: Route, fields: object): string | null {
  if (route.access.scope === "public") return null;
  const known = route.query instanceof z.ZodObject ? route.query.shape : {};
  return Object.keys(fields).find((name) => !Object.hasOwn(known, name)) ?? null;
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
  // without an announced length only reading shows whether there is a body
  const announced = request.headers.get("content-length");
  const early = announced === null ? await readBody(request, null) : null;
  if (announced === "0" || (early?.kind === "text" && early.text === "")) {
    // where everything in a body may be left out, the body may be
    const checked = schema.safeParse(undefined);
    if (checked.success) return { kind: "input", query, body: checked.data };
  }
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) {
    return refuse(errorAnswer("unsupported_media_type", {}));
  }
  const body = early ?? await readBody(request, announced);
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
      const wrong = misspeltGuard(schema, parsed.value);
      if (wrong !== null) return refuse(invalidRequest([wrong]));
      const checked = schema.safeParse(parsed.value);
      if (!checked.success) {
        const details = withMisspelt(detailsOf(checked.error), schema, parsed.value);
        return refuse(invalidRequest(details));
      }
      return { kind: "input", query, body: checked.data };
    }
    default: {
      const never: never = body;
      return never;
    }
  }
}
