import { assertEquals } from "@std/assert";
import { Registry } from "prom-client";
import { journalReasons, registerWorkMetrics } from "../../app/health/work.ts";

const FIGURES = {
  batches: 9,
  messages: 12,
  waiting: 0,
  active: 3,
  paused: 3,
  suspended: 2,
  quarantined: 4,
  givenUp: 5,
};

Deno.test("readiness tells of batches that were given up lately, and of merchants that wait for a lock", () => {
  const rows: readonly [number | null, number, number, readonly string[]][] = [
    [null, Infinity, 0, []],
    [600_000, 90_000, 0, []],
    [599_999, Infinity, 0, ["a batch of the journal was given up in the last 10 minutes"]],
    [null, 89_999, 0, [
      "commands that are audited are refused, as another transaction holds the head of the audit or the duties",
    ]],
    [null, Infinity, 1, ["1 merchant waits for a row that another transaction holds"]],
    [null, Infinity, 7, ["7 merchants wait for a row that another transaction holds"]],
  ];
  for (const [givenUpMs, auditLockedMs, suspended, reasons] of rows) {
    assertEquals(journalReasons({ givenUpMs, auditLockedMs, figures: { suspended } }), reasons);
  }
});

Deno.test("metrics count batches given up, messages quarantined and merchants paused", async () => {
  const registry = new Registry();
  const none = { active: 0, quarantined: 0 };
  const engine = {
    figures: {
      journal: FIGURES,
      payments: none,
      treasuries: none,
      sweepers: none,
      watchers: none,
      headViews: none,
    },
    busyFor: () => [],
    periodic: [],
    timeFigures: { brokenTimers: 0, boundedTimes: 0 },
    merchants: {
      busyMs: 0,
      refusedShort: { all: [{ network: "TRX", currency: "USDT", count: 3 }] as const },
    },
    paymentMoves: { all: [] },
    networks: ["TRX"] as const,
    currencies: () => ["USDT", "USDC"] as const,
  };
  registerWorkMetrics(registry, engine);
  for (let look = 0; look < 2; look++) {
    const lines = (await registry.metrics()).split("\n");
    assertEquals(
      lines.filter((line) => /^engine_journal_.*(given_up|quarantined|suspended)/.test(line)),
      [
        "engine_journal_suspended_merchants 2",
        "engine_journal_batches_given_up_total 5",
        "engine_journal_quarantined_messages_total 4",
      ],
    );
    // zero from the start, or the first refusal would be no increase
    assertEquals(lines.filter((line) => line.startsWith("engine_payouts_refused_short_total{")), [
      'engine_payouts_refused_short_total{network="TRX",currency="USDT"} 3',
      'engine_payouts_refused_short_total{network="TRX",currency="USDC"} 0',
    ]);
  }
});
