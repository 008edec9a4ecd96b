import { assertEquals } from "@std/assert";
import { AddressGuard, type IssuedAddress } from "../../actors/addresses/address_guard.ts";

const row = (walletIndex: number | null, address = `own-${walletIndex}`): IssuedAddress => ({
  network: "TRX",
  address,
  walletIndex,
});

const UNDERIVABLE = 1_000_000;

/** A guard and the indexes that it derived. */
function guarded(options: { held?: () => string | null; remembered?: number } = {}) {
  const derived: number[] = [];
  const guard = new AddressGuard({
    ...options,
    derive: (_, index) => {
      derived.push(index);
      if (index === UNDERIVABLE) throw new RangeError("Cannot derive");
      return `own-${index}`;
    },
  });
  return { guard, derived };
}

const cases: readonly (readonly [string, readonly IssuedAddress[], boolean])[] = [
  ["nothing at all", [], true],
  ["own addresses", [row(0), row(1)], true],
  ["another one's address", [row(0), row(1, "strange")], false],
  ["an address without an index", [row(null)], false],
  ["an index that cannot be derived", [row(UNDERIVABLE)], false],
  ["a long list with one strange address", [
    ...Array.from({ length: 30 }, (_, n) => row(100 + n)),
    row(7, "strange"),
  ], false],
];
for (const [what, rows, isCleared] of cases) {
  Deno.test(`the guard of addresses ${isCleared ? "clears" : "refuses"} ${what}`, async () => {
    const { guard } = guarded();
    assertEquals(await guard.clears(rows), isCleared);
    assertEquals(guard.mismatches, isCleared ? 0 : 1);
  });
}

Deno.test("an address is derived once, and again only when it was forgotten", async () => {
  const { guard, derived } = guarded({ remembered: 20 });
  const rows = Array.from({ length: 20 }, (_, n) => row(n));
  for (let times = 0; times < 3; times++) assertEquals(await guard.clears(rows), true);
  assertEquals(derived.length, 20);
  // what is remembered is compared all the same
  assertEquals(await guard.clears([row(3, "strange")]), false);
  await guard.clears([row(50)]);
  assertEquals(await guard.clears([row(0)]), true);
  assertEquals(derived.slice(20), [50, 0]);
});

Deno.test("a long list leaves the thread to others while it is derived", async () => {
  const { guard, derived } = guarded();
  let isOver = false;
  const list = guard.clears(Array.from({ length: 200 }, (_, n) => row(n))).then(() =>
    isOver = true
  );
  let others = 0;
  let most = 0;
  let before = 0;
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve));
    others++;
    most = Math.max(most, derived.length - before);
    before = derived.length;
  }
  await list;
  assertEquals([most <= 16, others >= 12], [true, true], `${most} at once, ${others} turns`);
});

Deno.test("lists beyond a bound are refused at once instead of waiting", async () => {
  const { guard } = guarded();
  const lists = Array.from(
    { length: 60 },
    (_, list) => guard.clears(Array.from({ length: 9 }, (_, n) => row(list * 9 + n))),
  );
  const refused = (await Promise.all(lists)).filter((isCleared) => !isCleared).length;
  assertEquals([refused, guard.mismatches], [10, 0]);
});

Deno.test("what holds addresses back holds all of them, also a list under way", async () => {
  let held: string | null = null;
  const { guard } = guarded({ held: () => held });
  const list = guard.clears(Array.from({ length: 30 }, (_, n) => row(n)));
  held = "the signer has another wallet";
  assertEquals([await list, await guard.clears([]), guard.mismatches], [false, false, 0]);
});
