import { createHmac } from "node:crypto";
import type { Draw } from "./draw.ts";
import { generatedValue, type Known } from "./generated_value.ts";
import { HOSTILE_BODIES, HOSTILE_TEXTS } from "./hostile_values.ts";
import { type Operation, REFERENCE } from "./reference.ts";

/** Key of the signatures of upstream systems during a run. */
export const INGEST_SECRET = "the key of upstream systems, while hostile requests are sent";

/** A request as it is sent. */
export interface GeneratedRequest {
  readonly operation: Operation;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** True when the reference allows the body; null where it was not made as JSON. */
  readonly isAllowed: boolean | null;
}

/** Operations that change what everybody depends on are seldom drawn, or nothing else is served. */
const SELDOM =
  /^(?:PUT \/api\/admin\/(?:pairs|settings|withdrawal-fees)|POST \/api\/admin\/failover)/;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/** A request for any endpoint of the reference; one in ten is hostile as a whole. */
export function generatedRequest(draw: Draw, known: Known): GeneratedRequest {
  let operation = draw.of(REFERENCE);
  while (SELDOM.test(`${operation.method} ${operation.template}`) && !draw.chance(0.1)) {
    operation = draw.of(REFERENCE);
  }
  const method = draw.chance(0.01) ? draw.of(METHODS) : operation.method;
  const path = pathOf(operation, draw, known) + queryOf(operation, draw, known);
  const hasBody = method !== "GET" && method !== "HEAD" &&
    (operation.body !== null || draw.chance(0.05));
  const { body, isAllowed } = hasBody
    ? bodyOf(operation, draw, known)
    : { body: null, isAllowed: null };
  return { operation, method, path, headers: headersOf(body, draw), body, isAllowed };
}

function pathOf({ template }: Operation, draw: Draw, known: Known): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const told = known.take(name, draw);
    if (told !== null && draw.chance(0.8)) return encodeURIComponent(told);
    const text = draw.of(HOSTILE_TEXTS).slice(0, 2_000);
    // a lone surrogate has no encoding, and an empty part is another path
    return text === "" ? "unknown" : encodeURIComponent(text.toWellFormed());
  });
}

function queryOf({ parameters }: Operation, draw: Draw, known: Known): string {
  const pairs = parameters.filter((parameter) => parameter.in === "query").flatMap((parameter) => {
    if (draw.chance(parameter.required === true ? 0.1 : 0.7)) return [];
    const value = generatedValue(parameter.schema, parameter.name, draw, known);
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
    return [[parameter.name, text.slice(0, 4_000)] as const];
  });
  const [first] = pairs;
  if (first !== undefined && draw.chance(0.05)) pairs.push(first);
  if (draw.chance(0.03)) pairs.push([draw.of(HOSTILE_TEXTS).slice(0, 200), "1"]);
  if (pairs.length === 0) return draw.chance(0.02) ? "?%ff%00&&=&a" : "";
  const parts = pairs.map(([name, value]) =>
    `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`
  );
  return `?${parts.join("&")}`;
}

function bodyOf(
  operation: Operation,
  draw: Draw,
  known: Known,
): Pick<GeneratedRequest, "body" | "isAllowed"> {
  if (draw.chance(0.06)) return { body: draw.of(HOSTILE_BODIES), isAllowed: null };
  const value = generatedValue(operation.body ?? {}, "body", draw, known);
  const body = JSON.stringify(value);
  // what is sent is judged, not what was meant: -0 and numbers beyond doubles change on their way
  return { body, isAllowed: operation.allows(JSON.parse(body)) };
}

function headersOf(body: string | null, draw: Draw): Record<string, string> {
  const timestamp = String(draw.chance(0.9) ? Date.now() : draw.below(2 ** 31));
  const signature = createHmac("sha256", INGEST_SECRET).update(body ?? "").digest("hex");
  return {
    // the runs come from addresses of many, so that no limit per address is all that is met
    "x-forwarded-for": Array.from({ length: 4 }, () => 1 + draw.below(222)).join("."),
    "x-timestamp": timestamp,
    "x-signature": draw.chance(0.9) ? signature : draw.of(["", "00", "z".repeat(64)]),
    ...(draw.chance(0.1) ? { "idempotency-key": draw.of(["a", "a b", "x".repeat(300)]) } : {}),
    ...(draw.chance(0.1) ? { accept: draw.of(["text/html", "*/*;q=0", "application/xml"]) } : {}),
    ...(draw.chance(0.05) ? { "x-request-id": draw.of(["a", "x".repeat(5_000)]) } : {}),
    ...(body === null ? {} : {
      "content-type": draw.chance(0.97)
        ? "application/json"
        : draw.of(["text/plain", "application/json; charset=utf-16", "application/x-json", ";"]),
    }),
  };
}
