import { assertEquals, assertMatch } from "@std/assert";
import { Registry } from "prom-client";
import { ChangePlaces, type Place } from "../../api/http/change_places.ts";
import { placeReasons, registerPlaceMetrics } from "../../app/health/places.ts";

/** Takes places until there is none. */
function fill(places: ChangePlaces, account: string): Place[] {
  const taken: Place[] = [];
  for (;;) {
    const place = places.enter(account);
    if (place === null || !places.keep(place)) return taken;
    taken.push(place);
  }
}

Deno.test("an account that floods gets two thirds of the places, the next ones of what is left", () => {
  const places = new ChangePlaces(448);
  assertEquals(["a", "b", "c"].map((account) => fill(places, account).length), [256, 86, 28]);
  assertEquals(places.enter("d")?.isHeld, true);
  assertEquals(places.figures.underWay, 371);
});

Deno.test("thirty accounts that flood together leave others places", () => {
  const places = new ChangePlaces();
  const held = new Map<string, Place[]>();
  for (let n = 0; n < 30; n++) held.set(`flood_${n}`, fill(places, `flood_${n}`));
  const other = fill(places, "mer_a");
  assertEquals([other.length, fill(places, "mer_b").length], [1, 1]);
  for (const place of other) places.leave(place);
  // many more are needed to use all of them up
  for (let n = 30; n < 50; n++) held.set(`flood_${n}`, fill(places, `flood_${n}`));
  assertEquals(places.hasRoom("mer_a"), false);
  assertEquals([...held.values()].findIndex((taken) => taken.length === 0) > 35, true);
});

Deno.test("an account that is refused leaves places to those who have none", () => {
  const places = new ChangePlaces();
  const taken = fill(places, "flood");
  places.refuse();
  assertEquals([taken.length, places.hasRoom("flood")], [256, false]);
  assertEquals(["a", "b", "c"].map((account) => fill(places, account).length), [1, 1, 1]);
  for (const place of taken) places.leave(place);
  assertEquals(places.figures.underWay, 3);
});

Deno.test("a place that is given back while places are scarce goes to who has few, and floods become equal", () => {
  const places = new ChangePlaces();
  const held = Array.from({ length: 6 }, (_, n) => fill(places, `flood_${n}`));
  const [largest = []] = held;
  const place = largest.pop();
  if (place !== undefined) places.leave(place);
  assertEquals([places.hasRoom("flood_0"), places.hasRoom("mer_a")], [false, true]);
  // in turns each gives one back, and all ask for more
  for (let turn = 0; turn < 2_000; turn++) {
    const given = held[turn % 6]?.shift();
    if (given !== undefined) places.leave(given);
    for (const [n, taken] of held.entries()) taken.push(...fill(places, `flood_${n}`));
  }
  const counts = held.map((taken) => taken.length);
  assertEquals(counts.every((count) => count >= 40 && count <= 70), true, counts.join());
  assertEquals(fill(places, "mer_a").length >= 4, true);
});

Deno.test("many accounts with one request each get all places", () => {
  const places = new ChangePlaces(448);
  const entered = Array.from({ length: 500 }, (_, n) => places.enter(`mer_${n}`));
  const taken = entered.filter((place) => place !== null);
  assertEquals([taken.length, places.figures.accounts], [448, 448]);
  for (const place of taken) places.leave(place);
  assertEquals([places.figures.underWay, places.figures.accounts], [0, 0]);
});

Deno.test("a place that is given back is there for the next one, of any account", () => {
  const places = new ChangePlaces(6);
  const [first] = fill(places, "a");
  assertEquals([places.figures.underWay, fill(places, "b").length], [4, 2]);
  if (first !== undefined) places.leave(first);
  assertEquals([places.hasRoom("a"), places.hasRoom("c")], [false, true]);
});

Deno.test("a body that does not arrive keeps no place, and finds one later only where one is free", () => {
  let now = 0;
  const places = new ChangePlaces(3, () => now);
  const slow = [places.enter("a"), places.enter("a")];
  const kept = places.enter("b");
  assertEquals([places.hasRoom("c"), kept !== null && places.keep(kept)], [false, true]);
  now = 100;
  assertEquals([places.figures.underWay, places.hasRoom("c")], [1, true]);
  const [first, second] = slow;
  if (first === null || first === undefined || second === null || second === undefined) {
    throw new Error("Cannot go on as there was no place");
  }
  const other = places.enter("c");
  assertEquals(other !== null && places.keep(other), true);
  assertEquals([places.keep(first), places.keep(second)], [true, false]);
  // who has lost a place gives none back
  places.leave(second);
  places.leave(first);
  places.leave(first);
  assertEquals(places.figures.underWay, 2);
});

Deno.test("nobody is looked at more closely while every account finds a place", () => {
  const places = new ChangePlaces(448);
  const found: boolean[] = [];
  for (let n = 0; n < 256; n++) {
    found.push(places.isCrowded);
    places.enter("a");
  }
  assertEquals(found.includes(true), false);
  assertEquals([places.isCrowded, places.hasRoom("a")], [true, false]);
});

Deno.test("refused changes are told with how long they have been, and forgotten after ten seconds", async () => {
  let now = 5_000;
  const places = new ChangePlaces(1, () => now);
  const registry = new Registry();
  registerPlaceMetrics(registry, places);
  assertEquals(placeReasons(places), []);
  places.refuse();
  const place = places.enter("a");
  assertEquals(place !== null && places.keep(place), true);
  now += 9_000;
  places.refuse();
  now += 500;
  assertEquals(placeReasons(places), [
    "changes are refused for 10 s as too many are under way: 1 of 1 accounts, 2 were refused since the start",
  ]);
  const metrics = await registry.metrics();
  assertMatch(metrics, /^engine_http_changes_under_way 1$/m);
  assertMatch(metrics, /^engine_http_changes_crowded_seconds 9.5$/m);
  assertMatch(metrics, /^engine_http_changes_refused_total 2$/m);
  now += 9_500;
  assertEquals(placeReasons(places), []);
  places.refuse();
  assertEquals(places.figures.crowdedMs, 0);
});

Deno.test("while changes are refused fewer are under way at a time, and all places are back a second later", () => {
  let now = 0;
  const places = new ChangePlaces(448, () => now);
  const entered = Array.from({ length: 448 }, (_, n) => places.enter(`mer_${n}`));
  assertEquals([entered.includes(null), places.enter("late")], [false, null]);
  places.refuse();
  const taken = entered.filter((place) => place !== null && places.keep(place)) as Place[];
  // more than are given now: no account finds a place until that many are back
  for (const place of taken.splice(128)) places.leave(place);
  assertEquals([places.figures.underWay, places.hasRoom("late")], [128, false]);
  for (const place of taken.splice(127)) places.leave(place);
  assertEquals([places.hasRoom("late"), places.isCrowded], [true, true]);
  now = 999;
  assertEquals(fill(places, "a").length < 4, true);
  now = 1_000;
  for (const place of taken.splice(0)) places.leave(place);
  assertEquals(fill(places, "b").length > 200, true);
});
