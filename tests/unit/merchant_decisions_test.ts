import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  ActiveMerchants,
  decideBatch,
  decideMerchant,
  type Deciding,
} from "../../actors/journal/decide_batch.ts";
import { DoubtfulMerchants } from "../../actors/journal/merchant_standing.ts";
import { QueuedCommand, type QueuedMessage } from "../../actors/journal/queue.ts";
import { recover, type Recovering, unanswered } from "../../actors/journal/recover.ts";
import { UnitOfWork } from "../../actors/journal/unit_of_work.ts";
import { apply, decided, post } from "../../actors/merchant/decision.ts";
import { Records, RemainingLiquidity } from "../../actors/merchant/state.ts";
import type { BatchRecords } from "../../ledger/journal/read_records.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { pairKey } from "../../ledger/money/pair.ts";
import { amount, refundCommand, reserveCommand } from "../support/books.ts";
import { merchant, NO_RECORDS, SETTINGS } from "./support/merchant_state.ts";

const PAIR = pairKey("USDT", "TRX");

function unitOf(read: Partial<BatchRecords> = {}): UnitOfWork {
  const records = Records.of("mer_1", { ...NO_RECORDS, ...read });
  return new UnitOfWork(merchant("mer_1", "100"), records, new RemainingLiquidity(() => null));
}

/** What the chain said of a withdrawal that is not there. */
const BROKEN_EVENT: QueuedMessage = {
  kind: "event",
  message: {
    type: "outcome",
    key: { merchantId: "mer_1", network: "TRX", txid: "aa", logIndex: 0, phase: "outcome" },
    at: 1,
    outgoingId: "out_none",
    withdrawalId: "wd_none",
    settlementId: null,
    result: "paid",
    reason: null,
    height: 7,
    chargeIds: ["chg_1", "chg_2"],
    eventIds: ["evt_1", "evt_2"],
  },
};

for (const from of ["available", "pending", "reserved"] as const) {
  Deno.test(`a decision that would take more from ${from} than there is breaks, before any database`, () => {
    const take = (text: string) => {
      const to = from === "available" ? "reserved" : "available";
      const payment = { id: "wd_1", currency: "USDT", network: "TRX" } as const;
      const result = decided(1, null, {
        postings: post(payment, { leg: "test", from, to, amount: amount(text) }),
      });
      assert(result.kind === "decided");
      const ten = amount("10");
      const balances = new Map([[PAIR, { available: ten, pending: ten, reserved: ten }]]);
      const state = { ...merchant("mer_1", "10"), balances };
      return apply({ state, records: new Records() }, result.decision);
    };
    assertEquals(take("10").balances.get(PAIR)?.[from], ZERO);
    assertThrows(() => take("10.000000000000000001"), Error, "would be negative");
  });
}

Deno.test("a reference is taken as the database says, and as earlier messages of the batch have left it", () => {
  const unit = unitOf({
    holders: [{ merchantId: "mer_1", referenceId: "order-1", withdrawalId: "wd_1" }],
    withdrawals: [],
  });
  const ask = (referenceId: string, withdrawalId: string) => {
    const command = { ...reserveCommand({ referenceId }), withdrawalId };
    const queued = new QueuedCommand(command, Infinity, () => {});
    const { outcome } = decideMerchant("mer_1", unit, SETTINGS, [queued]).messages[0] ?? {};
    return outcome?.kind === "refused" ? outcome.refusal : outcome?.kind;
  };
  const release = (withdrawalId: string) => {
    const queued = new QueuedCommand(refundCommand(withdrawalId), Infinity, () => {});
    decideMerchant("mer_1", unit, SETTINGS, [queued]);
  };
  assertEquals(ask("order-1", "wd_2"), { code: "reference_taken", withdrawalId: "wd_1" });
  assertEquals(ask("order-2", "wd_3"), "done");
  assertEquals(ask("order-2", "wd_4"), { code: "reference_taken", withdrawalId: "wd_3" });
  release("wd_3");
  assertEquals(ask("order-2", "wd_5"), "done");
  assertEquals(ask("order-2", "wd_6"), { code: "reference_taken", withdrawalId: "wd_5" });
});

Deno.test("merchants of one batch are promised no more together than the hot wallet has", async () => {
  for (const [left, done] of [["9.999999", 0], ["10", 1], ["25", 2], ["1000", 4]] as const) {
    const active = new ActiveMerchants(10);
    const work = new Map<string, readonly QueuedMessage[]>();
    for (const id of ["mer_1", "mer_2", "mer_3", "mer_4"]) {
      active.put(id, merchant(id, "100"));
      work.set(id, [new QueuedCommand(reserveCommand(), Infinity, () => {})]);
    }
    const deciding = {
      store: {
        readRecords: () => Promise.resolve(NO_RECORDS),
        readAccounts: () => Promise.resolve(new Map()),
      },
      active,
      liquidity: () => amount(left),
      retry: (ask) => ask(),
    } satisfies Deciding;
    const parts = await decideBatch(deciding, work, SETTINGS);
    const kinds = parts.flatMap(({ messages }) => messages.map(({ outcome }) => outcome.kind));
    assertEquals(kinds.filter((kind) => kind === "done").length, done, left);
    assertEquals(kinds.length, 4);
  }
});

Deno.test("a chain event that breaks an assumption is quarantined, and the messages beside it are decided", () => {
  const asked = new QueuedCommand(reserveCommand(), Infinity, () => {});
  const part = decideMerchant("mer_1", unitOf(), SETTINGS, [BROKEN_EVENT, asked]);
  assertEquals(part.quarantined.map(({ event }) => event), [BROKEN_EVENT]);
  assert(part.quarantined[0]?.reason.startsWith("bug: Error: Cannot settle a payout"));
  assertEquals(part.messages.map(({ outcome }) => outcome.kind), ["failed", "done"]);
});

Deno.test("a sender whose message goes back to be decided again is told that nothing happened", () => {
  const told: string[] = [];
  const queued = new QueuedCommand(reserveCommand(), 0, ({ kind }) => told.push(kind));
  const answered = new QueuedCommand(reserveCommand(), 0, () => {});
  answered.answer({ kind: "failed" });
  queued.decided = true;
  const left = unanswered(new Map([["mer_1", [queued, answered]], ["mer_2", [answered]]]));
  assertEquals([...left], [["mer_1", [queued]]]);
  queued.expire();
  assertEquals(told, ["withdrawn"]);
});

/** What recovering does with a batch that always fails the same way. */
async function recovered(
  kind: "poisoned" | "locked" | "transient",
  work: ReadonlyMap<string, readonly QueuedMessage[]>,
  isConnectionError: boolean,
) {
  const error = new Error("test");
  const did: string[] = [];
  const merchantIds = [...work.keys()];
  const why = kind === "poisoned" ? { kind, error } : { kind, error, costMs: 50, merchantIds };
  const recovering: Recovering = {
    store: { isConnectionError: () => isConnectionError },
    process: (again, attempt) => recover(recovering, why, unanswered(again), attempt),
    doubts: new DoubtfulMerchants(() => 0),
    suspect: (id) => did.push(`suspect ${id}`),
    pause: (id, { length }, costMs) => did.push(`pause ${id} ${length} ${costMs}`),
    giveBack: (id, { length }) => length > 0 && did.push(`give back ${id} ${length}`),
    quarantine: (queued) => {
      did.push(`quarantine ${queued.kind}`);
      if (queued.kind === "command") queued.answer({ kind: "failed" });
      return Promise.resolve();
    },
  };
  await recover(recovering, why, work, 1);
  return [...new Set(did)];
}

Deno.test("what becomes of a message that fails even alone", async () => {
  const told: string[] = [];
  const command = () => new QueuedCommand(reserveCommand(), 0, ({ kind }) => told.push(kind));
  const rows: readonly [
    Parameters<typeof recovered>[0],
    "command" | "event",
    boolean,
    readonly string[],
    readonly string[],
  ][] = [
    ["poisoned", "command", false, ["suspect mer_1", "quarantine command"], ["failed"]],
    ["poisoned", "command", true, ["suspect mer_1", "quarantine command"], ["failed"]],
    ["poisoned", "event", false, ["suspect mer_1", "quarantine event"], []],
    // a database that goes away is not the row's fault: it stays for a later wake-up
    ["poisoned", "event", true, ["suspect mer_1"], []],
    ["locked", "command", false, ["suspect mer_1", "pause mer_1 1 50"], []],
    ["locked", "event", false, ["suspect mer_1", "pause mer_1 1 50"], []],
    ["transient", "command", false, [], ["overloaded"]],
    ["transient", "event", false, [], []],
  ];
  for (const [kind, sort, isConnectionError, did, answers] of rows) {
    told.length = 0;
    const work = new Map([["mer_1", [sort === "event" ? BROKEN_EVENT : command()]]]);
    assertEquals(await recovered(kind, work, isConnectionError), did, `${kind} ${sort}`);
    assertEquals(told, answers, `${kind} ${sort}`);
  }
});

Deno.test("a merchant with many messages that fail keeps others for a few of them at a time", async () => {
  const commands = Array.from(
    { length: 100 },
    () => new QueuedCommand(reserveCommand(), 0, () => {}),
  );
  const did = await recovered("poisoned", new Map([["mer_1", commands]]), false);
  assertEquals(did, ["suspect mer_1", "give back mer_1 68", "quarantine command"]);
  assertEquals(commands.filter(({ isAnswered }) => isAnswered).length, 32);
});
