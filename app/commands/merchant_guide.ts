/**
 * Writes the parts of `docs/merchant.md` that the service itself knows: the table of errors, the bodies
 * of callbacks and a signed one, the limits. They stand between comments that name them.
 *
 * @module
 */

import { EVENT_PAYLOADS } from "../../api/callbacks/event_payloads.ts";
import { exampleOf } from "../../api/http/example.ts";
import { type ErrorCode, ERRORS, publishedCode } from "../../api/http/error_table.ts";
import { DEFAULT_LIMITS } from "../../api/http/rate_limits.ts";
import { errorsOf } from "../../api/openapi/errors.ts";
import { OPERATIONS } from "../../api/routes.ts";
import { signedHeaders } from "../../webhooks/signature.ts";

/** Remedies of errors; others follow from the status. */
const REMEDIES: Readonly<Partial<Record<ErrorCode, string>>> = {
  reference_taken: "the payout exists: read `GET /api/withdrawals?referenceId=...`",
  no_balance_row: "wait for a deposit of this pair",
  insufficient_balance: "pay out `largestWithdrawal` at most, or wait for deposits",
  idempotency_conflict: "use another key",
  treasury_short: "repeat after `Retry-After`",
  outcome_unknown: "repeat with the same reference or key",
  payout_initiation_failed: "repeat",
  settlement_initiation_failed: "repeat",
  session_expired: "make another page",
};

function remedyOf(row: ErrorCode): string {
  const known = REMEDIES[row];
  if (known !== undefined) return known;
  const { status } = ERRORS[row];
  if (status === 429 || status === 503) return "repeat after `Retry-After`";
  if (status === 500) return "repeat what is safe to repeat; report `X-Request-Id`";
  if (status === 404 || status === 409) return "look the record up";
  return status === 401 || status === 403 ? "use another key, or ask the operator" : "correct it";
}

/** Errors that requests of merchants are answered with. */
function merchantErrors(): readonly ErrorCode[] {
  const routes = Object.values(OPERATIONS).filter(({ path, access }) =>
    !/^(?!\/api\/)|^\/api\/(admin|resellers|webhook\/|docs|openapi)/.test(path) &&
    access.scope !== "admin"
  );
  const names = new Set(routes.flatMap((route) => errorsOf(route).map(({ name }) => name)));
  const rows = Object.keys(ERRORS) as ErrorCode[];
  return rows.filter((row) => names.has(ERRORS[row].name));
}

function errorTable(): string {
  const rows = merchantErrors().map((row) => {
    const { status, error, cause } = ERRORS[row];
    const text = error.replaceAll(/\{(\w+)\}/g, "<$1>");
    return `| \`${publishedCode(ERRORS[row])}\` | ${status} | \`${text}\` | ${cause} | ${
      remedyOf(row)
    } |`;
  });
  return ["| `code` | Status | `error` | Cause | What to do |", "|---|---|---|---|---|", ...rows]
    .join("\n");
}

function eventList(): string {
  return Object.entries(EVENT_PAYLOADS).map(([event, schema]) =>
    `\`${event}\`:\n\n\`\`\`json\n${JSON.stringify(exampleOf(schema), null, 2)}\n\`\`\``
  ).join("\n\n");
}

/** Secret of the signed example: `whsec_` and the base64 of `0123456789abcdef0123456789abcdef`. */
const EXAMPLE_SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

function signedExample(): string {
  const eventId = "evt_0198a2c4-7d10-7c3e-9b52-3f6e1c0d8a41";
  const timestamp = 1_786_613_400;
  const body = JSON.stringify({ type: "deposit", amount: "100", status: "confirmed", eventId });
  const headers = signedHeaders({ current: EXAMPLE_SECRET, previous: null }, {
    eventId,
    type: "deposit.confirmed",
    timestamp,
    body,
  });
  const rows = [
    ["secret", EXAMPLE_SECRET],
    ["webhook-id", eventId],
    ["webhook-timestamp", String(timestamp)],
    ["body", body],
    ["X-Webhook-Signature", headers["X-Webhook-Signature"]],
    ["webhook-signature", headers["webhook-signature"]],
  ].map(([name, value]) => `| ${name} | \`${value}\` |`);
  return ["| Part | Value |", "|---|---|", ...rows].join("\n");
}

function limitTable(): string {
  const { balance, deposits, withdrawals, transactions } = DEFAULT_LIMITS;
  const rows = [
    ["`/api/balance`", balance],
    ["creating under `/api/deposits`, `/api/deposit-address`, `/api/deposit-url`", deposits],
    [
      "creating under `/api/withdrawals`, `/api/settlements`, `/api/settlement-addresses`",
      withdrawals,
    ],
    ["every other request, lists included", transactions],
  ].map((cells) => `| ${cells.join(" | ")} |`);
  return ["| Requests | A minute and key |", "|---|---|", ...rows].join("\n");
}

const PARTS: readonly (readonly [string, () => string])[] = [
  ["errors", errorTable],
  ["signature", signedExample],
  ["events", eventList],
  ["limits", limitTable],
];

/**
 * The guide with these parts as they are now.
 *
 * @throws {Error} where the guide has no place for one
 */
export function withParts(guide: string): string {
  return PARTS.reduce((text, [name, part]) => {
    const [before, rest] = text.split(`<!-- begin: ${name} -->`);
    const [, after] = rest?.split(`<!-- end: ${name} -->`) ?? [];
    if (before === undefined || after === undefined) {
      throw new Error(`Cannot write the guide as it has no place for a part: ${name}`);
    }
    return `${before}<!-- begin: ${name} -->\n\n${part()}\n\n<!-- end: ${name} -->${after}`;
  }, guide);
}

if (import.meta.main) {
  const path = new URL("../../docs/merchant.md", import.meta.url);
  await Deno.writeTextFile(path, withParts(await Deno.readTextFile(path)));
}
