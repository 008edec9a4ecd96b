import { assertEquals } from "@std/assert";
import { z } from "zod";
import { misspeltGuard, withMisspelt } from "../../api/http/misspelt.ts";
import { isNearMiss, lettersOf } from "../../api/http/near_miss.ts";

Deno.test("a name is a near miss of another by its letters, two slips or its usual short form, no further", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["referenceID", "referenceId", true],
    ["reference_id", "referenceId", true],
    ["refrenceId", "referenceId", true],
    ["referneceId", "referenceId", true],
    ["refereneceIdd", "referenceId", true],
    ["reference", "referenceId", true],
    ["webhokUrl", "webhookUrl", true],
    ["webhook_url", "webhookUrl", true],
    ["metaData", "metadata", true],
    ["referenceNo", "referenceId", true],
    ["idempotency_key", "referenceId", true],
    ["orderId", "referenceId", true],
    ["client-order-id", "referenceId", true],
    ["externalId", "referenceId", true],
    ["refId", "referenceId", true],
    ["price", "requestedAmount", true],
    ["callback_url", "webhookUrl", true],
    ["expires_in", "expiresAt", true],
    ["destinaton", "destination", true],
    ["nam", "name", true],
    ["tx_hash", "txHash", true],
    ["txId", "txHash", true],
    ["transaction-hash", "txHash", true],
    // three slips, and words of their own
    ["refrncId", "referenceId", false],
    ["preference", "referenceId", false],
    ["difference", "referenceId", false],
    ["border", "referenceId", false],
    ["orderNote", "referenceId", false],
    ["preference_id", "referenceId", false],
    ["webhookId", "webhookUrl", false],
    ["txDate", "txHash", false],
    ["transactionId", "txHash", false],
    ["note", "name", false],
    ["description", "referenceId", false],
    ["webhookSecret", "webhookUrl", false],
    ["webhook", "webhookUrl", false],
    ["data", "metadata", false],
    ["", "metadata", false],
    ["x".repeat(60_000), "metadata", false],
  ];
  for (const [name, meant, expected] of rows) {
    const isMeant = isNearMiss(lettersOf(name), lettersOf(meant));
    assertEquals(isMeant, expected, `${name.slice(0, 20)} ${meant}`);
  }
});

const PAYOUT = z.object({
  amount: z.string(),
  referenceId: z.string().nullish(),
  metadata: z.unknown().optional(),
  webhookUrl: z.string().nullish(),
});

Deno.test("names that are too long for any field take no place of those that are compared", () => {
  const long = Array.from({ length: 40 }, (_, index) => [`${index}`.padEnd(1_000, "x"), 1]);
  const body = { ...Object.fromEntries(long), reference_id: "a", amuont: "1" };
  assertEquals(misspeltGuard(PAYOUT, body)?.path, ["reference_id"]);
  const missing = { path: ["amount"], message: "Required", code: "invalid_type" };
  const [named] = withMisspelt([missing], PAYOUT, body);
  assertEquals(named?.message, "Required. Is amuont meant to be it?");
  // what is written apart or has another name is longer than the field, and is still compared
  for (const name of ["r-e-f-e-r-e-n-c-e-i-d", "Idempotency - Key"]) {
    assertEquals(misspeltGuard(PAYOUT, { amount: "1", [name]: "a" })?.path, [name]);
  }
});

Deno.test("the letters of a name are made once, however many fields it is compared with", () => {
  const names = Array.from({ length: 32 }, (_, index) => [`other${index}`, 1]);
  const body = { ...Object.fromEntries(names), amount: "1" };
  const made: string[] = [];
  const { toLowerCase } = String.prototype;
  String.prototype.toLowerCase = function () {
    made.push(`${this}`);
    return toLowerCase.call(this);
  };
  try {
    assertEquals(misspeltGuard(PAYOUT, body), null);
  } finally {
    String.prototype.toLowerCase = toLowerCase;
  }
  assertEquals(made.filter((name) => name.startsWith("other")).length, 32);
});
