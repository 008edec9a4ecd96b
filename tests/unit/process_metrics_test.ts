import { assert, assertMatch } from "@std/assert";
import { Registry } from "prom-client";
import { registerProcessMetrics } from "../../app/health/process.ts";

Deno.test("what is measured of the process is measured: none of its figures is zero", async () => {
  const registry = new Registry();
  registerProcessMetrics(registry, "1.2.3");
  const text = await registry.metrics();
  assertMatch(text, /^engine_build_info\{version="1.2.3"\} 1$/m);
  const figures = text.split("\n").filter((line) => /^[a-z]/.test(line));
  assert(figures.length >= 5, text);
  for (const line of figures) assert(Number(line.split(" ").at(-1)) > 0, line);
});
