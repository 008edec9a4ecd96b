import { assert, assertEquals } from "@std/assert";
import { configure, getJsonLinesFormatter, type LogRecord, reset } from "@logtape/logtape";
import { logMove, type PaymentMove } from "../../actors/journal/payment_moves.ts";
import { type EventName, EVENTS } from "../../log/event_table.ts";
import { logEvent } from "../../log/log_event.ts";
import { logsDocument } from "../../log/logs_document.ts";
import { amount } from "../support/books.ts";
import { testNeeding } from "../support/permissions.ts";

/** The lines that some work logs. */
async function logged(work: () => void): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  await configure({
    sinks: { kept: (record) => void records.push(record) },
    loggers: [{ category: ["engine"], lowestLevel: "debug", sinks: ["kept"] }, {
      category: ["logtape", "meta"],
      lowestLevel: "error",
      sinks: ["kept"],
    }],
  });
  try {
    work();
  } finally {
    await reset();
  }
  return records;
}

testNeeding({ read: true })("docs/logs.md is what the table says", async () => {
  const path = new URL("../../docs/logs.md", import.meta.url);
  assertEquals(await Deno.readTextFile(path), logsDocument());
});

Deno.test("events have stable names: an area and what happened", () => {
  for (const [name, [, words]] of Object.entries(EVENTS)) {
    assert(/^[a-z]+\.[a-z]+(_[a-z]+)*$/.test(name), name);
    assert(words.length > 5 && !/merchantId|outgoingId|eventId|\{error\}/.test(words), name);
  }
});

Deno.test("the words of each event show every field that they name", async () => {
  for (const [name, [, words]] of Object.entries(EVENTS)) {
    const fields = [...words.matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => field);
    const lines = await logged(() => {
      logEvent(name as EventName, Object.fromEntries(fields.map((field) => [field, "shown"])));
    });
    assertEquals(
      lines[0]?.message.filter((_, at) => at % 2 === 1),
      fields.map(() => "shown"),
      name,
    );
  }
});

testNeeding({ read: true, run: true })(
  "every event of the table is logged somewhere",
  async () => {
    const files = await new Deno.Command("git", {
      args: ["grep", "-hoE", '"[a-z]+\\.[a-z_]+"', "--", "*.ts", ":!tests", ":!log/event_table.ts"],
      cwd: new URL("../../", import.meta.url),
    }).output();
    const used = new Set(
      new TextDecoder().decode(files.stdout).split("\n").map((s) => s.slice(1, -1)),
    );
    assertEquals(Object.keys(EVENTS).filter((name) => !used.has(name)), []);
  },
);

Deno.test("a failed payout is a warning with all that one asks for first", async () => {
  const move: PaymentMove = {
    kind: "withdrawal",
    id: "wd_1",
    merchantId: "mer_1",
    network: "TRX",
    currency: "USDT",
    amount: amount("12.5"),
    status: "FAILED",
    reason: "OUT_OF_ENERGY",
    txid: "ab",
  };
  const [line, ...others] = await logged(() => {
    logMove(move);
    logMove({ ...move, status: "PENDING" });
  });
  assertEquals(others, []);
  assertEquals(line?.level, "warning");
  assertEquals(line?.properties, {
    event: "payout.failed",
    kind: "withdrawal",
    payment: "wd_1",
    merchant: "mer_1",
    network: "TRX",
    currency: "USDT",
    amount: "12.5",
    txid: "ab",
    reason: "OUT_OF_ENERGY",
  });
});

Deno.test("no field takes the place of what every line has of its own", async () => {
  const fields = { "@timestamp": 1, level: 2, logger: 3, message: 4, event: 5, kept: 6 };
  const [line] = await logged(() => logEvent("service.stopping", fields));
  assert(line !== undefined);
  const written = JSON.parse(getJsonLinesFormatter({ properties: "flatten" })(line));
  assertEquals(written, {
    "@timestamp": new Date(line.timestamp).toISOString(),
    level: "INFO",
    logger: "engine.service",
    message: "stopping",
    event: "service.stopping",
    time: 1,
    degree: 2,
    writer: 3,
    content: 4,
    occurrence: 5,
    kept: 6,
  });
});

const MOVES: readonly (readonly [PaymentMove["kind"], PaymentMove["status"], EventName])[] = [
  ["deposit", "PENDING", "deposit.seen"],
  ["deposit", "CONFIRMED", "deposit.confirmed"],
  ["deposit", "FAILED", "deposit.failed"],
  ["withdrawal", "PENDING_APPROVAL", "payout.approval"],
  ["settlement", "CONFIRMED", "payout.confirmed"],
  ["withdrawal", "FAILED", "payout.failed"],
  ["settlement", "CANCELLED", "payout.cancelled"],
];

for (const [kind, status, event] of MOVES) {
  Deno.test(`one line with payment, merchant, network, amount and txid: ${kind} ${status}`, async () => {
    const lines = await logged(() =>
      logMove({
        kind,
        status,
        id: "pay_1",
        merchantId: "mer_1",
        network: "TRX",
        currency: "USDT",
        amount: amount("12.5"),
        reason: null,
        txid: "ab",
      })
    );
    assertEquals(lines.map(({ properties }) => properties), [{
      event,
      kind,
      payment: "pay_1",
      merchant: "mer_1",
      network: "TRX",
      currency: "USDT",
      amount: "12.5",
      txid: "ab",
    }]);
  });
}

Deno.test("an expected fault is words alone, a fault of the program has its stack", async () => {
  class Away extends Error {
    override name = "Away";
  }
  const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const errors = [new Away("gone", { cause: refused }), refused, new TypeError("oh"), "text"];
  const event: EventName = "journal.batch_given_up";
  const lines = await logged(() => errors.forEach((error) => logEvent(event, { error })));
  assertEquals(lines.map(({ properties }) => properties.reason), [
    "Away: gone, as refused",
    "refused",
    "TypeError: oh",
    "text",
  ]);
  assertEquals(lines.map(({ properties }) => "stack" in properties), [false, false, true, false]);
});
