import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { uuidV7 } from "../../ledger/uuid_v7.ts";

Deno.test("ids are UUIDs of version 7, all different and in the order they were made", () => {
  const ids = Array.from({ length: 20_000 }, () => uuidV7());
  for (const [index, id] of ids.entries()) {
    assertMatch(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    if (index > 0) assert(id > (ids[index - 1] as string), `${ids[index - 1]} then ${id}`);
  }
});

Deno.test("an id begins with the milliseconds it was made at", () => {
  const before = Date.now();
  const ms = parseInt(uuidV7().replaceAll("-", "").slice(0, 12), 16);
  assert(before <= ms && ms <= Date.now() + 1, `${before} ${ms}`);
});

Deno.test("the last 42 bits of an id are nothing that one could count on", () => {
  const tails = new Set(Array.from({ length: 5_000 }, () => uuidV7().slice(-10)));
  assertEquals(tails.size, 5_000);
  const bits = Array.from(
    { length: 40 },
    (_, bit) => [...tails].filter((tail) => BigInt(`0x${tail}`) >> BigInt(bit) & 1n).length,
  );
  // fair bits: 2,500 each, with a standard deviation of 35
  for (const ones of bits) assertGreater(300, Math.abs(ones - 2_500));
});
