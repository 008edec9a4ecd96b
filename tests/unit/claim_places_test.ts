import { assertEquals, assertMatch } from "@std/assert";
import { Registry } from "prom-client";
import { ClaimPlaces } from "../../api/http/claim_places.ts";
import { claimReasons, registerClaimMetrics } from "../../app/health/places.ts";
import { kindOf } from "../../app/health/reason_table.ts";

const NETWORKS = ["ETH", "TRX"] as const;

Deno.test("each network has four places for claims, one for a merchant", async () => {
  const places = new ClaimPlaces(() => 0, 1);
  const held = [];
  for (const merchant of ["a", "b", "c", "d"]) held.push(await places.take("ETH", merchant));
  assertEquals(held.includes(null), false);
  assertEquals(await places.take("ETH", "e"), null);
  const other = await places.take("TRX", "e");
  assertEquals([other === null, await places.take("TRX", "e")], [false, null]);
  held[0]?.();
  assertEquals(await places.take("ETH", "e") === null, false);
  assertEquals([places.figures("ETH").underWay, places.figures("TRX").underWay], [4, 1]);
});

Deno.test("claims that find no place are counted, and told where other merchants' take long", async () => {
  let now = 5_000;
  const places = new ClaimPlaces(() => now, 1);
  const registry = new Registry();
  registerClaimMetrics(registry, places, () => NETWORKS);
  await places.take("TRX", "a");
  // behind a claim of its own merchant: nothing is wrong with the network
  assertEquals(await places.take("TRX", "a"), null);
  assertEquals(claimReasons(places, NETWORKS), []);
  for (const merchant of ["a", "b", "c", "d"]) await places.take("ETH", merchant);
  assertEquals(await places.take("ETH", "e"), null);
  now += 9_000;
  assertEquals(await places.take("ETH", "f"), null);
  now += 500;
  const reasons = claimReasons(places, NETWORKS);
  assertEquals(reasons, [
    "ETH refuses claims for 10 s as those under way take long: 4, 2 were refused since the start",
  ]);
  assertEquals(reasons.map(kindOf), ["claims_crowded"]);
  const metrics = await registry.metrics();
  assertMatch(metrics, /^engine_claims_under_way\{network="ETH"\} 4$/m);
  assertMatch(metrics, /^engine_claims_refused_total\{network="ETH"\} 2$/m);
  assertMatch(metrics, /^engine_claims_refused_total\{network="TRX"\} 1$/m);
  now += 9_500;
  assertEquals(claimReasons(places, NETWORKS), []);
});
