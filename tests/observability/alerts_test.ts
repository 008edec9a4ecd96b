import { assert, assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { METRICS } from "../../api/http/metric_table.ts";
import { ALERTS, alertsDocument } from "../../app/health/alert_table.ts";
import { REASON_KINDS } from "../../app/health/reason_table.ts";
import { anchorOf } from "../support/anchors.ts";
import { testNeeding } from "../support/permissions.ts";
import { evaluate, parse, samplesOf, selectorsOf } from "./support/promql.ts";

const test = testNeeding({ read: true });
const file = (path: string) => new URL(`../../${path}`, import.meta.url);

/** Labels by the names of series, those of histograms among them. */
const SERIES = new Map(
  Object.entries(METRICS).flatMap(([name, [type, labels]]): [string, readonly string[]][] =>
    type !== "histogram" ? [[name, labels]] : [
      [`${name}_bucket`, [...labels, "le"]],
      [`${name}_count`, labels],
      [`${name}_sum`, labels],
    ]
  ),
);

/** Faults of an expression: no syntax, no such metric, no such label. */
function faultsOf(expression: string): readonly string[] {
  return selectorsOf(parse(expression)).flatMap(({ name, labels }) => {
    const known = SERIES.get(name);
    if (known === undefined) return [`${expression}: there is no ${name}`];
    return labels.filter((label) => !known.includes(label)).map((label) =>
      `${expression}: ${name} has no ${label}`
    );
  });
}

Deno.test("what is no expression is refused, and so are metrics and labels that there are not", () => {
  for (
    const text of ["a >", "a{b}", 'a{b="c"', "rate(a)", "foo(a)", "a b", "a[5m", "a $ b", "sum(a"]
  ) {
    assertThrows(() => parse(text), SyntaxError);
  }
  assertEquals(faultsOf("engine_no > 1").length, 1);
  assertEquals(faultsOf('engine_ready{network="TRX"} == 0').length, 1);
  assertEquals(faultsOf('sum by (network) (engine_payouts{state="held"}) > 1'), []);
});

Deno.test("an expression leaves the series that it is true of", () => {
  const now = samplesOf('a{n="x"} 5\na{n="y"} 1\nb_total 7\n');
  const before = samplesOf("b_total 4\n");
  const left = (text: string) => evaluate(parse(text), { before, now }).map(({ value }) => value);
  assertEquals(left("a > 2"), [5]);
  assertEquals(left('a{n=~"x|y"} < 9'), [5, 1]);
  assertEquals(left("sum(a) + 1"), [7]);
  assertEquals(left("increase(b_total[5m]) > 2"), [3]);
  assertEquals(left("a - ignoring (n) b_total > 0"), []);
  assertEquals(left("absent(c)"), [1]);
  assertEquals(left("absent(a)"), []);
});

test("docs/alerts.yml is what the table says, and its rules are well formed", async () => {
  assertEquals(await Deno.readTextFile(file("docs/alerts.yml")), alertsDocument());
  assertEquals(ALERTS.flatMap(({ expression }) => faultsOf(expression)), []);
  assertEquals(new Set(ALERTS.map(({ name }) => name)).size, ALERTS.length);
  for (const { name, lasts, summary, meaning } of ALERTS) {
    assert(/^Engine[A-Za-z]+$/.test(name) && /^\d+[smh]$/.test(lasts), name);
    assert(summary.length > 5 && meaning.length > 5, name);
  }
});

Deno.test("every reason of readiness has a rule of its own", () => {
  const expressions = new Set(ALERTS.map(({ expression }) => expression));
  const without = REASON_KINDS.filter((kind) =>
    !expressions.has(`engine_readiness_reasons{reason="${kind}"} > 0`)
  );
  assertEquals(without, []);
});

/** Metrics ten minutes after something went away, and the one rule that wakes a person. */
const OUTAGES: Readonly<Record<string, readonly [page: string, metrics: string]>> = {
  "the only node of a network": [
    "EngineChainBlind",
    `engine_ready 1
engine_build_info{version="1"} 1
engine_readiness_reasons{reason="chain_unreached"} 1
engine_readiness_reasons{reason="wallet_unreadable"} 1
engine_chain_reached_age_seconds{network="TRX"} 600
engine_chain_lag_seconds{network="TRX"} 660
engine_chain_reached_age_seconds{network="ETH"} 2
engine_chain_lag_seconds{network="ETH"} 20
engine_signer_open 1
`,
  ],
  "the signer": [
    "EngineReasonSigner",
    `engine_ready 1
engine_build_info{version="1"} 1
engine_readiness_reasons{reason="signer"} 1
engine_chain_reached_age_seconds{network="TRX"} 2
engine_chain_lag_seconds{network="TRX"} 60
engine_signer_open 0
`,
  ],
  "new blocks, while nodes answer": [
    "EngineChainLate",
    `engine_ready 1
engine_build_info{version="1"} 1
engine_chain_reached_age_seconds{network="TRX"} 2
engine_chain_lag_seconds{network="TRX"} 600
engine_chain_finality_seconds{network="TRX"} 57
engine_chain_reached_age_seconds{network="ETH"} 2
engine_chain_lag_seconds{network="ETH"} 1100
engine_chain_finality_seconds{network="ETH"} 1200
`,
  ],
};

for (const [what, [page, metrics]] of Object.entries(OUTAGES)) {
  Deno.test(`one outage wakes a person once: ${what}`, () => {
    const now = samplesOf(metrics);
    const pages = ALERTS.filter(({ severity, expression }) =>
      severity === "page" && evaluate(parse(expression), { before: now, now }).length > 0
    );
    assertEquals(pages.map(({ name }) => name), [page]);
  });
}

Deno.test("an alert of late payouts or blocks fires only beyond the usual time of their network", () => {
  const pages = (signedAge: number, lag: number) => {
    const now = samplesOf(`engine_ready 1
engine_build_info{version="1"} 1
engine_signer_open 1
engine_payouts_oldest_seconds{network="ETH",state="held"} 0
engine_payouts_oldest_seconds{network="ETH",state="signed"} ${signedAge}
engine_payouts_oldest_seconds{network="TRX",state="held"} 0
engine_payouts_oldest_seconds{network="TRX",state="signed"} ${signedAge - 1_150}
engine_chain_finality_seconds{network="ETH"} 1200
engine_chain_finality_seconds{network="TRX"} 57
engine_chain_reached_age_seconds{network="ETH"} 2
engine_chain_reached_age_seconds{network="TRX"} 2
engine_chain_lag_seconds{network="ETH"} ${lag}
engine_chain_lag_seconds{network="TRX"} 60
`);
    return ALERTS.filter(({ severity, expression }) =>
      severity === "page" &&
      evaluate(parse(expression), { before: now, now }).length > 0
    ).map(({ name }) => name);
  };
  assertEquals(pages(1_700, 1_200), []);
  assertEquals(pages(1_801, 1_200), ["EnginePayoutsUnconfirmed"]);
  assertEquals(pages(1_700, 1_510), ["EngineChainLate"]);
});

test("every rule links to the section of incidents.md that names it, and that says what to do", async () => {
  const text = await Deno.readTextFile(file("docs/incidents.md"));
  const named = new Map<string, string>();
  for (
    const [, heading = "", body = ""] of text.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)
  ) {
    const [line = ""] = /^Alerts: .*$/m.exec(body) ?? [];
    for (const [, name = ""] of line.matchAll(/`(\w+)`/g)) {
      assert(!named.has(name), `${name} is named twice`);
      named.set(name, anchorOf(heading));
      assert(body.replace(line, "").includes("`"), `${heading}: there is nothing to look at`);
    }
  }
  assertEquals(
    Object.fromEntries(named),
    Object.fromEntries(ALERTS.map(({ name, task }) => [name, task])),
  );
});

const Dashboard = z.object({
  title: z.string(),
  panels: z.array(z.object({
    title: z.string(),
    type: z.string(),
    targets: z.array(z.object({ expr: z.string() })).optional(),
  })).min(10),
});

test("docs/dashboard.json shows metrics that there are", async () => {
  const { panels } = Dashboard.parse(
    JSON.parse(await Deno.readTextFile(file("docs/dashboard.json"))),
  );
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert(expressions.length >= panels.length / 2);
  assertEquals(expressions.flatMap(faultsOf), []);
});
