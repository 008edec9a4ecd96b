import { assertEquals } from "@std/assert";
import { z } from "zod";
import { type ErrorCode, ERRORS, publishedCode } from "../../api/http/error_table.ts";
import { exampleAnswer } from "../../api/http/errors.ts";
import { errorCode } from "../../api/openapi/errors.ts";

const ROWS = Object.keys(ERRORS) as ErrorCode[];

/** Codes that programs of merchants compare, with their status: rows are added, none changes or goes. */
const PUBLISHED: Readonly<Record<string, number>> = {
  already_sent: 409,
  amount_not_exact: 400,
  amount_not_positive: 400,
  authentication_required: 401,
  balance_too_large: 400,
  below_minimum: 400,
  body_too_large: 413,
  conflict: 409,
  deposit_address_exists: 409,
  deposits_not_supported: 400,
  deposits_not_supported_on_network: 400,
  destination_invalid: 400,
  destination_is_ours: 400,
  destination_not_registered: 400,
  destination_not_whitelisted: 400,
  duplicate_reference: 409,
  event_conflict: 409,
  idempotency_conflict: 409,
  insufficient_balance: 400,
  insufficient_permissions: 403,
  internal: 500,
  invalid_request: 400,
  invalid_token: 404,
  key_of_another: 403,
  merchant_not_active: 403,
  method_not_allowed: 405,
  no_balance: 400,
  not_found: 404,
  not_manual: 409,
  outcome_unknown: 500,
  pair_not_served: 409,
  payment_used: 409,
  payout_initiation_failed: 500,
  rate_limit_exceeded: 429,
  same_administrator: 403,
  session_expired: 410,
  settlement_address_exists: 409,
  too_many_settlement_addresses: 409,
  settlement_initiation_failed: 500,
  token_required: 400,
  transfer_known: 409,
  transfer_of_another: 409,
  unauthorized: 401,
  unavailable: 503,
  unsupported_media_type: 415,
  validation_failed: 422,
  withdrawal_forbidden: 403,
  withdrawal_unavailable: 503,
  withdrawals_not_supported: 400,
  wrong_state: 409,
};

Deno.test("error codes: every answer has the one of its row, which the reference lists", () => {
  const answered = ROWS.map((row) => {
    const { code } = z.object({ code: z.string() }).parse(exampleAnswer(row).body);
    assertEquals(code, publishedCode(ERRORS[row]));
    return code;
  });
  assertEquals(errorCode.options, answered);
});

Deno.test("error codes: each is one word of its own", () => {
  const codes = ROWS.map((row) => publishedCode(ERRORS[row]));
  assertEquals(codes.filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code)), []);
  assertEquals(new Set(codes).size, codes.length);
});

Deno.test("error codes: one that was published keeps its status", () => {
  const now = ROWS.map((row) => [publishedCode(ERRORS[row]), ERRORS[row].status] as const);
  const kept = now.filter(([code]) => code in PUBLISHED);
  assertEquals(Object.fromEntries(kept), PUBLISHED);
});
