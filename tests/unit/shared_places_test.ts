import { assert, assertEquals, assertMatch } from "@std/assert";
import { Registry } from "prom-client";
import { SharedPlaces } from "../../api/http/shared_places.ts";
import { registerSharedMetrics, sharedReasons } from "../../app/health/places.ts";
import { openPagePlaces, openRedeliveryPlaces } from "../../app/health/pools.ts";
import { kindOf } from "../../app/health/reason_table.ts";
import { connect } from "../../ledger/database/connect.ts";
import { testNeeding } from "../support/permissions.ts";

Deno.test("owners have turns, however many each asks for: next is who waits longest since a turn or without one", async () => {
  const places = new SharedPlaces({ slots: 1, perMerchant: 1, waitMs: 60_000 });
  const first = await places.take("a");
  const order: string[] = [];
  const ask = async (owner: string) => {
    const release = await places.take(owner);
    order.push(owner);
    release?.();
  };
  const late: Promise<void>[] = [];
  const later = ["a", "a", "a", "b", "b", "b", "c"].map((owner) => ask(owner));
  // one that comes while others have queues waits for the turn under way, not for theirs
  const during = places.take("d").then((release) => {
    order.push("d");
    late.push(ask("e"), ask("a"));
    release?.();
  });
  first?.();
  await Promise.all([...later, during]);
  await Promise.all(late);
  assertEquals(order.join(""), "bcdabeabaa");
});

Deno.test("owners who were never seen, or long ago, go before none that waits already", async () => {
  const places = new SharedPlaces({ slots: 1, perMerchant: 1, waitMs: 60_000 });
  for (const owner of ["page", "old1", "old2"]) (await places.take(owner))?.();
  // what had many turns since then is forgotten by no count of them
  for (let i = 0; i < 1_100; i++) (await places.take("page"))?.();
  let release = await places.take("other");
  const order: string[] = [];
  const later: Promise<void>[] = [];
  const ask = (owner: string) =>
    later.push(
      places.take(owner).then((given) => {
        order.push(owner);
        release = given;
      }),
    );
  for (const owner of ["new1", "new2", "page"]) ask(owner);
  for (let i = 3; order.length < 3; i++) {
    // each that had its turn is followed by two that ask for the first time, or for the first time again
    ask(`new${i}`);
    ask(`old${i - 2}`);
    release?.();
    await later.shift();
  }
  assertEquals(order, ["new1", "new2", "page"]);
  while (later.length > 0) {
    release?.();
    await later.shift();
  }
});

Deno.test("of an owner few wait, one more is turned away at once, and others wait as before", async () => {
  const options = { slots: 1, perMerchant: 1, waitMs: 60_000, waitingPerMerchant: 2 };
  const places = new SharedPlaces(options);
  const first = await places.take("a");
  const waiting = [places.take("a"), places.take("a")];
  assertEquals(await places.take("a"), null);
  const other = places.take("b");
  assertEquals(places.figures, { underWay: 1, refused: 1, crowdedMs: null });
  first?.();
  (await other)?.();
  for (const one of waiting) (await one)?.();
  assertEquals(places.figures.underWay, 0);
});

Deno.test("places are crowded only where others' requests are in the way", async () => {
  const open = () =>
    new SharedPlaces({ slots: 1, perMerchant: 1, waitMs: 1, waitingPerMerchant: 1 });
  const own = open();
  await own.take("a");
  assertEquals(await Promise.all([own.take("a"), own.take("a")]), [null, null]);
  assertEquals([own.figures.refused, own.figures.crowdedMs], [2, null]);
  const shared = open();
  await shared.take("a");
  assertEquals(await shared.take("b"), null);
  assert(shared.figures.crowdedMs !== null, "another's place is in the way");
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
  "one page has half of the pages' places, redeliveries half of the requests' transactions, of a merchant four wait",
  async () => {
    const sql = connect("postgres://absent@127.0.0.1:9/none", { max: 8 });
    const [pages, redeliveries] = [openPagePlaces(sql), openRedeliveryPlaces(sql)];
    const all = ["a", "b", "c"].flatMap((owner) => Array.from({ length: 9 }, () => owner));
    for (const owner of all) void pages.take(owner).then((release) => release);
    const given = await Promise.all(["a", "b"].map((owner) => redeliveries.take(owner)));
    assertEquals([pages.figures.underWay, redeliveries.figures.underWay], [16, 2]);
    const own = Array.from({ length: 5 }, () => redeliveries.take("a"));
    assertEquals(await own.at(-1), null);
    for (const release of given) release?.();
    for (const waited of own) (await waited)?.();
    assertEquals(redeliveries.figures, { underWay: 0, refused: 1, crowdedMs: null });
    await sql.end();
  },
);
