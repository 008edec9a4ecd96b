import { assert, assertEquals } from "@std/assert";
import { RateWindows, WINDOW_MS } from "../../api/http/rate_windows.ts";

Deno.test("a bucket has its limit per window, and again when the window has ended", () => {
  const windows = new RateWindows();
  const taken = [0, 1, 2].map((i) => windows.take("a", 2, 1_000 + i));
  assertEquals(taken.map(({ allowed, remaining }) => [allowed, remaining]), [
    [true, 1],
    [true, 0],
    [false, 0],
  ]);
  assertEquals(taken[2]?.endsAt, 1_000 + WINDOW_MS);
  assert(!windows.take("a", 2, 1_000 + WINDOW_MS - 1).allowed);
  assert(windows.take("b", 2, 1_000).allowed);
  assert(windows.take("a", 2, 1_000 + WINDOW_MS).allowed);
});

Deno.test("a limit that is changed within a window holds at once", () => {
  const windows = new RateWindows();
  for (let i = 0; i < 5; i++) windows.take("a", 5, 0);
  assert(!windows.take("a", 5, 1).allowed);
  assertEquals(windows.take("a", 10, 1).remaining, 4);
  assert(!windows.take("a", 3, 1).allowed);
});

Deno.test("a clock that is set back does not lock a bucket for longer than a window", () => {
  const windows = new RateWindows();
  assert(windows.take("a", 1, 10 * WINDOW_MS).allowed);
  assert(windows.take("a", 1, 0).allowed);
});

Deno.test("memory is bounded, and no window is given up before its end", () => {
  const windows = new RateWindows();
  for (let i = 0; i < 1_000; i++) windows.take(`early ${i}`, 1, 0);
  windows.take("late", 1, WINDOW_MS);
  assertEquals(windows.size, 1);
  let refused = 0;
  for (let i = 0; i < 150_000; i++) {
    if (!windows.take(`many ${i}`, 1, WINDOW_MS + 1).allowed) refused++;
  }
  assert(windows.size <= 102_000, `${windows.size} windows`);
  for (const bucket of ["late", "many 0", "many 99998"]) {
    assert(!windows.take(bucket, 1, WINDOW_MS + 2).allowed, bucket);
  }
  // those without room share windows, which have their limit as well
  assert(refused >= 48_000, `${refused} were refused`);
  assert(windows.take("many 0", 1, 2 * WINDOW_MS + 1).allowed);
});
