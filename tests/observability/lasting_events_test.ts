import { assert, assertEquals } from "@std/assert";
import { configure, getJsonLinesFormatter, getTextFormatter, reset } from "@logtape/logtape";
import { EVENTS } from "../../log/event_table.ts";
import { LASTING, withoutRepeats } from "../../log/lasting_events.ts";
import { logEvent } from "../../log/log_event.ts";

const MINUTE_MS = 60_000;
const json = getJsonLinesFormatter({ properties: "flatten" });
const text = getTextFormatter({ timestamp: "none" });

/** Runs work with a clock of its own, and returns what was told, in a form. */
async function told<T>(
  work: (later: (ms: number) => void) => void,
  form: (line: string, people: string) => T,
): Promise<T[]> {
  const lines: T[] = [];
  let now = 0;
  const sink = withoutRepeats(
    (record) => void lines.push(form(json(record), text(record).trim())),
    () => now,
  );
  await configure({
    sinks: { sink },
    loggers: [
      { category: ["engine"], lowestLevel: "info", sinks: ["sink"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["sink"] },
    ],
  });
  try {
    work((ms) => now += ms);
  } finally {
    await reset();
  }
  return lines;
}

const reasonOf = (line: string): unknown => JSON.parse(line).reason;
const leftOf = (line: string): unknown => JSON.parse(line).left_out;

Deno.test("an outage of an hour is told at its begin and with ever longer pauses, and how often it was met", async () => {
  const lefts = await told((later) => {
    for (let n = 0; n < 60 * 60; n++, later(1_000)) {
      logEvent("wallet.unread", { network: "TRX", error: "gone" });
    }
  }, leftOf);
  // at 0, 1, 3, 7, 15, 25, 35, 45 and 55 minutes
  assertEquals(lefts, [undefined, 59, 119, 239, 479, 599, 599, 599, 599]);
});

Deno.test("what is met of two networks at once is told of both", async () => {
  const lines = await told(() => {
    for (const network of ["TRX", "ETH", "TRX", "ETH"]) {
      logEvent("wallet.unread", { network, error: "gone" });
    }
  }, (line) => JSON.parse(line).network);
  assertEquals(lines, ["TRX", "ETH"]);
});

Deno.test("what was not met for two minutes has ended: the next one is told at once", async () => {
  const lines = await told((later) => {
    for (const reason of ["first", "left out"]) logEvent("node.failed", { node: "a", reason });
    later(2 * MINUTE_MS);
    logEvent("node.failed", { node: "a", reason: "second" });
  }, reasonOf);
  assertEquals(lines, ["first", "second"]);
});

Deno.test("payments, refusals of the books and faults of the program are told each time", async () => {
  const lines = await told(() => {
    for (let n = 0; n < 2; n++) {
      logEvent("payout.failed", { reason: `payout ${n}` });
      logEvent("wallet.unknown_spend", { reason: `spend ${n}` });
      logEvent("actor.reloaded", {
        kind: "k",
        id: "i",
        what: "w",
        error: new TypeError(`bug ${n}`),
      });
    }
  }, reasonOf);
  assertEquals(lines, [
    "payout 0",
    "spend 0",
    "TypeError: bug 0",
    "payout 1",
    "spend 1",
    "TypeError: bug 1",
  ]);
});

Deno.test("a line for people says how often it was left out", async () => {
  const lines = await told((later) => {
    for (let n = 0; n < 3; n++, later(30_000)) {
      logEvent("wallet.unread", { network: "TRX", error: "gone" });
    }
  }, (_, people) => people);
  assertEquals(lines, [
    '[WRN] engine·wallet: "TRX": the hot wallet cannot be looked at: "gone"',
    '[WRN] engine·wallet: "TRX": the hot wallet cannot be looked at: "gone" (and 1 times since it was last told)',
  ]);
});

Deno.test("what is remembered is bounded, and what was met longest ago goes first", async () => {
  const nodes = await told(() => {
    logEvent("node.failed", { node: "first" });
    for (let n = 0; n < 5_000; n++) {
      logEvent("node.failed", { node: "kept" });
      logEvent("node.failed", { node: n });
    }
    logEvent("node.failed", { node: "kept" });
    logEvent("node.failed", { node: "first" });
  }, (line) => JSON.parse(line).node);
  assertEquals(nodes.filter((node) => node === "first" || node === "kept"), [
    "first",
    "kept",
    "first",
  ]);
});

Deno.test("what an event lasts for are fields of its own", () => {
  for (const [event, fields] of Object.entries(LASTING)) {
    const [, words] = EVENTS[event as keyof typeof EVENTS];
    for (const field of fields) assert(words.includes(`{${field}}`), `${event}: ${field}`);
  }
});
