import { assertEquals } from "@std/assert";
import { ChangePlaces } from "../../api/http/change_places.ts";

/** Takes places until there is none, and says how many. */
function fill(places: ChangePlaces, key: string): number {
  let taken = 0;
  while (places.take(key)) taken++;
  return taken;
}

Deno.test("an account that floods gets half of the places, the next ones their share of the rest", () => {
  const places = new ChangePlaces(null, 512);
  assertEquals(["a", "b", "c"].map((merchantId) => fill(places, merchantId)), [256, 128, 64]);
  assertEquals(places.take("d"), true);
  assertEquals(places.used, 449);
});

Deno.test("many accounts with one request each get all places", () => {
  const places = new ChangePlaces(null, 512);
  const merchants = Array.from({ length: 600 }, (_, n) => `mer_${n}`);
  assertEquals(merchants.filter((merchantId) => places.take(merchantId)).length, 512);
  for (const merchantId of merchants.slice(0, 512)) places.leave(merchantId);
  assertEquals(places.used, 0);
});

Deno.test("a place that is given back is there for the next one, of any account", () => {
  const places = new ChangePlaces(null, 4);
  assertEquals(fill(places, "a"), 2);
  assertEquals(fill(places, "b"), 1);
  places.leave("a");
  assertEquals(places.take("b"), true);
  assertEquals([places.take("a"), places.take("c")], [false, true]);
});
