import { assertEquals } from "@std/assert";
import { isNearMiss } from "../../api/http/near_miss.ts";

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
    ["expires_in", "expiresAt", true],
    ["destinaton", "destination", true],
    ["nam", "name", true],
    // three slips, and words of their own
    ["refrncId", "referenceId", false],
    ["preference", "referenceId", false],
    ["difference", "referenceId", false],
    ["orderId", "referenceId", false],
    ["preference_id", "referenceId", false],
    ["webhookId", "webhookUrl", false],
    ["note", "name", false],
    ["description", "referenceId", false],
    ["webhookSecret", "webhookUrl", false],
    ["webhook", "webhookUrl", false],
    ["data", "metadata", false],
    ["", "metadata", false],
    ["x".repeat(60_000), "metadata", false],
  ];
  for (const [name, meant, expected] of rows) {
    assertEquals(isNearMiss(name, meant), expected, `${name.slice(0, 20)} ${meant}`);
  }
});
