import { assertEquals, assertMatch } from "@std/assert";
import { REFUSALS } from "../../actors/merchant/refusal.ts";
import { type ErrorCode, ERRORS } from "../../api/http/error_table.ts";
import { errorAnswer, exampleAnswer, refused } from "../../api/http/errors.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];

Deno.test("errors: every row makes an answer in which all facts are filled in", () => {
  for (const code of CODES) {
    const { status, body, headers } = exampleAnswer(code);
    assertEquals(status, ERRORS[code].status, code);
    assertEquals(/\{\w+\}|undefined|\[object/.test(JSON.stringify(body)), false, code);
    assertEquals(status === 503, headers?.["retry-after"] !== undefined, code);
  }
  assertEquals(new Set(CODES.map((code) => ERRORS[code].name)).size, CODES.length);
});

Deno.test("errors: no row of the interface takes the place of a refusal", () => {
  for (const [code, row] of Object.entries(REFUSALS)) {
    assertEquals(Object.entries(ERRORS).find(([name]) => name === code)?.[1], row);
  }
});

Deno.test("errors: texts, fields and their order are those of the facts", () => {
  const move = { from: "PENDING", to: "FAILED" };
  assertEquals(
    JSON.stringify(refused({ code: "wrong_state", ...move }).body),
    '{"error":"Conflict","message":"Cannot move from PENDING to FAILED.","from":"PENDING","to":"FAILED"}',
  );
  assertEquals(refused({ code: "same_administrator", isSecondMissing: true }).body, {
    error: "Insufficient permissions",
    message: "Another administrator has to decide on this one.",
  });
  assertEquals(refused({ code: "amount_not_exact", decimals: 6 }, "requestedAmount").body, {
    error: "Invalid request data",
    details: [{
      path: ["requestedAmount"],
      message: "The amount may have 6 decimal places on this network",
      code: "not_exact",
    }],
  });
  const unknown = JSON.stringify(errorAnswer("outcome_unknown", { settlementId: "stl_1" }).body);
  assertMatch(unknown, /^\{"error":"Outcome unknown","message":".+","settlementId":"stl_1"\}$/);
});
