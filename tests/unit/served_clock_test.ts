import { assertEquals } from "@std/assert";
import { ServedClock } from "../../app/http/served_clock.ts";

Deno.test("time in which the thread was held counts as one turn, all other time as it passed", () => {
  let at = 5_000;
  const clock = new ServedClock(() => at, false);
  const rows: readonly (readonly [string, number, number])[] = [
    ["between two turns", 20, 20],
    ["a turn in time", 25, 45],
    ["four seconds without a turn", 4_000, 145],
    ["a second without one", 1_000, 245],
    ["in time again", 25, 270],
  ];
  for (const [name, passed, served] of rows) {
    at += passed;
    assertEquals(clock.now(), served, name);
    clock.tick();
    assertEquals(clock.now(), served, name);
  }
});
