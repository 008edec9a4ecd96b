import { assert, assertEquals } from "@std/assert";
import { Registry } from "prom-client";
import { METRICS, metricsDocument } from "../../api/http/metric_table.ts";
import { createRequestMetrics } from "../../api/http/request_log.ts";
import { openHealth } from "../../app/health/health.ts";
import { testNeeding } from "../support/permissions.ts";
import { anything } from "./support/anything.ts";

/** Everything that the service registers, of parts that are never asked. */
function registered(): Registry {
  const { registry } = openHealth(anything(), anything());
  createRequestMetrics(registry);
  return registry;
}

Deno.test("every metric is a row of the table, and every row is registered with its type", () => {
  const found = registered().getMetricsAsArray().map(({ name, type }) => [name, String(type)]);
  const rows = Object.entries(METRICS).map(([name, [type]]) => [name, type]);
  assertEquals(found.toSorted(), rows.toSorted());
});

Deno.test("metrics are named by the conventions: counters end in _total, units are base units", () => {
  for (const [name, [type, labels, meaning, todo]] of Object.entries(METRICS)) {
    assert(/^(engine|process)(_[a-z]+)+$/.test(name), name);
    assertEquals(name.endsWith("_total"), type === "counter", name);
    assert(!/_(ms|millis|milliseconds|minutes|hours|kb|mb|percent)(_|$)/.test(name), name);
    assert(meaning.length > 5 && todo.length > 5, name);
    for (const label of labels) {
      assert(/^[a-z]+$/.test(label), `${name} ${label}`);
    }
  }
});

testNeeding({ read: true })("docs/metrics.md is what the table says", async () => {
  const path = new URL("../../docs/metrics.md", import.meta.url);
  assertEquals(await Deno.readTextFile(path), metricsDocument());
});

testNeeding({ read: true })("the documents name no metric that there is not", async () => {
  for (
    const document of [
      "docs/operations.md",
      "docs/incidents.md",
      "docs/operations-reference.md",
      "ARCHITECTURE.md",
      "README.md",
    ]
  ) {
    const text = await Deno.readTextFile(new URL(`../../${document}`, import.meta.url));
    const named = [...text.matchAll(/`(engine_[a-z_]+)`/g)].map(([, name]) => name ?? "");
    assertEquals(named.filter((name) => !(name in METRICS)), [], document);
  }
});
