import { assert, assertEquals } from "@std/assert";
import { validate, version } from "uuid";
import { idsFollow, newId } from "../../actors/runtime/ids.ts";

/** The millisecond that an id was made of. */
function timeOf(id: string): number {
  return Number.parseInt(id.slice(4).replaceAll("-", "").slice(0, 12), 16);
}

Deno.test("ids go by the clock that they follow, and keep their order when it is set back", () => {
  let now = 1_800_000_000_000;
  idsFollow(() => now);
  try {
    const ids = [newId("evt"), newId("evt")];
    assertEquals(ids.map(timeOf), [now, now]);
    now += 5;
    ids.push(newId("evt"));
    now -= 3_600_000;
    ids.push(newId("evt"), newId("evt"));
    assertEquals(ids.toSorted(), ids);
    assertEquals(new Set(ids).size, ids.length);
    now += 3_700_000;
    ids.push(newId("evt"));
    assertEquals(timeOf(ids.at(-1) ?? ""), now);
    assert(ids.toSorted().at(-1) === ids.at(-1));
  } finally {
    idsFollow(Date.now);
  }
});

Deno.test("ids are UUIDs of version 7, ordered within a millisecond whatever their number is", () => {
  idsFollow(() => 1_800_000_000_000);
  try {
    const ids = Array.from({ length: 10_000 }, () => newId("evt"));
    for (const id of ids) assert(validate(id.slice(4)) && version(id.slice(4)) === 7, id);
    assertEquals(ids.toSorted(), ids);
    const tails = new Set(ids.map((id) => id.slice(-10)));
    assertEquals(tails.size, ids.length);
  } finally {
    idsFollow(Date.now);
  }
});
