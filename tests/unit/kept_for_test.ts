import { assertEquals, assertRejects } from "@std/assert";
import { beforeEach, describe, it } from "@std/testing/bdd";
import { keptFor } from "../../api/http/kept_for.ts";

describe("an answer that is kept for a while", () => {
  let now = 0;
  let made = 0;

  beforeEach(() => {
    now = 0;
    made = 0;
  });

  it("what is asked for by many is made once, and again when its time is over", async () => {
    const ask = keptFor(1_000, () => now, () => Promise.resolve(++made));
    assertEquals(await Promise.all([ask(), ask(), ask()]), [1, 1, 1]);
    now = 999;
    assertEquals(await ask(), 1);
    now = 1_000;
    assertEquals(await ask(), 2);
    // a clock that is set back does not keep an answer for ever
    now = 500;
    assertEquals(await ask(), 3);
  });

  it("one that takes longer than its time is not made twice at once", async () => {
    const waiting = Promise.withResolvers<string>();
    const ask = keptFor(10, () => now, () => {
      made++;
      return waiting.promise;
    });
    const first = ask();
    now = 1_000;
    const second = ask();
    waiting.resolve("late");
    assertEquals([await first, await second, made], ["late", "late", 1]);
  });

  it("a failure reaches those who wait for it and is not kept", async () => {
    const ask = keptFor(
      1_000,
      () => 0,
      () => ++made === 1 ? Promise.reject(new Error("away")) : Promise.resolve(made),
    );
    const both = [ask(), ask()];
    for (const one of both) await assertRejects(() => one, Error, "away");
    assertEquals([await ask(), await ask()], [2, 2]);
  });
});
