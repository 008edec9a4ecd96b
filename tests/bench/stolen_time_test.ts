import { assertEquals } from "@std/assert";
import { testNeeding } from "../support/permissions.ts";
import { coreTime, parseCoreTime, percent, stolenShare } from "./stolen_time.ts";

const STAT = `cpu  3116537 1111278 982183 3799246 48720 7 59441 243990 11 5
cpu0 1558268 555639 491091 1899623 24360 3 29720 121995 6 2
cpu1 1558269 555639 491092 1899623 24360 4 29721 121995 5 3
intr 284848
ctxt 1234
`;

Deno.test("time of all cores is their eight kinds of it, guests' not counted twice", () => {
  assertEquals(parseCoreTime(STAT), { all: 9_361_402, stolen: 243_990 });
});

Deno.test("a text without stolen time tells nothing", () => {
  assertEquals(
    parseCoreTime("cpu  3116537 1111278 982183 3799246 48720 7 59441\ncpu0 1 2\n"),
    null,
  );
  assertEquals(parseCoreTime("cpu0 1 2 3 4 5 6 7 8 9 10\n"), null);
  assertEquals(parseCoreTime(""), null);
});

testNeeding({ read: true })("a system without /proc tells nothing", async () => {
  assertEquals(await coreTime("/nowhere/proc/stat"), null);
});

Deno.test("the share is of all that the cores could have done", () => {
  const before = { all: 1_000, stolen: 100 };
  assertEquals(stolenShare(before, { all: 3_400, stolen: 1_132 }), 0.43);
  assertEquals(stolenShare(before, { all: 3_400, stolen: 100 }), 0);
  assertEquals(stolenShare(before, { all: 1_100, stolen: 200 }), 1);
});

Deno.test("what cannot be told is no share", () => {
  const before = { all: 1_000, stolen: 100 };
  assertEquals(stolenShare(null, before), null);
  assertEquals(stolenShare(before, null), null);
  assertEquals(stolenShare({ all: 0, stolen: 0 }, { all: 0, stolen: 0 }), null);
  assertEquals(stolenShare(before, { all: 1_200, stolen: 90 }), null);
  assertEquals(stolenShare(before, { all: 1_200, stolen: 301 }), null);
});

Deno.test("a little is not shown as nothing", () => {
  assertEquals([0, 0.001, 0.0149, 0.43, 1, NaN].map(percent), [
    "0 %",
    "< 1 %",
    "1 %",
    "43 %",
    "100 %",
    "-",
  ]);
});
