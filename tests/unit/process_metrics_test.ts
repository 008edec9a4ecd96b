import { assertEquals, assertMatch } from "@std/assert";
import { Registry } from "prom-client";
import { registerProcessMetrics } from "../../app/health/process.ts";
import { needs } from "../support/permissions.ts";

Deno.test({
  name: "what is measured of the process keeps nobody waiting: no histogram of the loop is read",
  ignore: needs({ read: true, sys: true, env: true }),
  fn: async () => {
    const registry = new Registry();
    registerProcessMetrics(registry);
    const text = await registry.metrics();
    assertMatch(text, /^process_cpu_seconds_total \d/m);
    assertMatch(text, /^process_resident_memory_bytes \d/m);
    assertMatch(text, /^process_open_fds \d/m);
    assertEquals(text.match(/nodejs_eventloop_lag\w*/g), null);
  },
});
