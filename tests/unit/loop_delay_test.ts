import { assertEquals, assertMatch } from "@std/assert";
import { Registry } from "prom-client";
import { LoopDelay, registerLoopMetrics } from "../../app/health/process.ts";

function measured(...delays: readonly number[]): LoopDelay {
  const delay = new LoopDelay();
  for (const ms of delays) delay.add(ms);
  return delay;
}

const times = (count: number, ms: number) => Array<number>(count).fill(ms);

Deno.test("a loop that stays late is told, one long turn or a short start is not", () => {
  const told: readonly [readonly number[], number][] = [
    [[], 0],
    [times(39, 900), 0],
    [[...times(39, 1), 9_000], 0],
    [[...times(21, 1), ...times(19, 900)], 0],
    [[...times(19, 1), ...times(21, 900)], 1],
    // the thread is held for seconds again and again: few measurements, most of the time
    [[...times(36, 1), ...times(4, 6_000)], 1],
    // what is over is forgotten after ten seconds
    [[...times(40, 900), ...times(40, 1)], 0],
  ];
  for (const [delays, count] of told) {
    assertEquals(measured(...delays).reasons().length, count, `${delays.length}`);
  }
  assertMatch(measured(...times(40, 900)).reasons()[0] ?? "", /late by 900 ms/);
});

Deno.test("the measured delays are told by their share", async () => {
  const delay = measured(...times(30, 10), ...times(9, 200), 5_000);
  assertEquals([delay.within(0.5), delay.within(0.9), delay.within(1)], [10, 200, 5_000]);
  const registry = new Registry();
  registerLoopMetrics(registry, delay);
  assertMatch(await registry.metrics(), /^engine_event_loop_delay_seconds\{quantile="1"\} 5$/m);
});
