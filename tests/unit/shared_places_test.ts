import { assertEquals, assertMatch } from "@std/assert";
import { Registry } from "prom-client";
import { SharedPlaces } from "../../api/http/shared_places.ts";
import { registerSharedMetrics, sharedReasons } from "../../app/health/places.ts";
import { openPagePlaces, openRedeliveryPlaces } from "../../app/health/pools.ts";
import { kindOf } from "../../app/health/reason_table.ts";
import { connect } from "../../ledger/database/connect.ts";
import { testNeeding } from "../support/permissions.ts";

Deno.test("an owner who asks for many at once has every second turn at most", async () => {
  const places = new SharedPlaces({ slots: 1, perMerchant: 1, waitMs: 60_000 });
  const first = await places.take("a");
  const order: string[] = [];
  const later = ["a", "a", "a", "b", "c"].map(async (owner) => {
    const release = await places.take(owner);
    order.push(owner);
    release?.();
  });
  first?.();
  await Promise.all(later);
  assertEquals(order, ["b", "a", "c", "a", "a"]);
});

Deno.test("pages and redeliveries that find no place are counted, and told where others' take long", async () => {
  let now = 5_000;
  const open = () => new SharedPlaces({ slots: 2, perMerchant: 1, waitMs: 1 }, () => now);
  const shared = { pages: open(), redeliveries: open() };
  const registry = new Registry();
  registerSharedMetrics(registry, shared);
  await shared.pages.take("a");
  // behind the same page: nothing is wrong with the others
  assertEquals(await shared.pages.take("a"), null);
  assertEquals(sharedReasons(shared), []);
  await shared.redeliveries.take("a");
  await shared.redeliveries.take("b");
  assertEquals(await shared.redeliveries.take("c"), null);
  await shared.pages.take("b");
  assertEquals(await shared.pages.take("c"), null);
  now += 500;
  const reasons = sharedReasons(shared);
  assertEquals(reasons, [
    "hosted pages are refused for 1 s as those under way take long: 2, 2 were refused since the start",
    "redeliveries are refused for 1 s as those under way take long: 2, 1 were refused since the start",
  ]);
  assertEquals(reasons.map(kindOf), ["pages_crowded", "redeliveries_crowded"]);
  const metrics = await registry.metrics();
  assertMatch(metrics, /^engine_http_places_under_way\{kind="redeliveries"\} 2$/m);
  assertMatch(metrics, /^engine_http_places_refused_total\{kind="pages"\} 2$/m);
  now += 9_500;
  assertEquals(sharedReasons(shared), []);
});

testNeeding({ env: true })(
  "one page has half of the pages' places, redeliveries half of the requests' transactions",
  async () => {
    const sql = connect("postgres://absent@127.0.0.1:9/none", { max: 8 });
    const [pages, redeliveries] = [openPagePlaces(sql), openRedeliveryPlaces(sql)];
    const all = ["a", "b", "c"].flatMap((owner) => Array.from({ length: 9 }, () => owner));
    for (const owner of all) void pages.take(owner).then((release) => release);
    const given = await Promise.all(["a", "b"].map((owner) => redeliveries.take(owner)));
    assertEquals([pages.figures.underWay, redeliveries.figures.underWay], [16, 2]);
    for (const release of given) release?.();
    await sql.end();
  },
);
