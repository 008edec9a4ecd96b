import { assertEquals } from "@std/assert";
import { RateLimits } from "../../api/http/rate_limits.ts";

Deno.test("what is no session token is counted per client, not remembered one by one", () => {
  const limits = new RateLimits();
  const ask = (sessionHash: string, address: string) =>
    limits.count("hosted", { caller: null, sessionHash, address }, 1).refusal?.status ?? 200;
  for (let i = 0; i < 600; i++) assertEquals(ask(`${i}`.repeat(5_000), "203.0.113.9"), 200);
  assertEquals(ask("x".repeat(44), "203.0.113.9"), 429);
  assertEquals(ask("x".repeat(44), "203.0.113.10"), 200);
  // what only looks like one is counted there as well
  assertEquals(ask("x".repeat(43), "203.0.113.9"), 429);
});
