import { assert, assertEquals, assertThrows } from "@std/assert";
import { ActiveMerchants } from "../../actors/journal/active_merchants.ts";
import { decideBatch, type Deciding } from "../../actors/journal/decide_batch.ts";
import { DoubtfulMerchants } from "../../actors/journal/doubtful_merchants.ts";
import { Draft } from "../../actors/journal/draft.ts";
import { CommandEnvelope, type Decidable } from "../../actors/journal/envelope.ts";
import { recover, type Recovering, unsettled } from "../../actors/journal/recover.ts";
import { decideSlice } from "../../actors/journal/slice.ts";
import { apply, decided, post } from "../../actors/merchant/decision.ts";
import { HotFunds } from "../../actors/merchant/liquidity.ts";
import { Records } from "../../actors/merchant/state.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { pairKey } from "../../ledger/money/pair.ts";
import { amount, reserveCommand } from "../support/books.ts";
import { merchant, NO_FACTS, SETTINGS } from "./support/merchant_state.ts";

const PAIR = pairKey("USDT", "TRX");

function draftOf(references: ReadonlyMap<string, string> = new Map()): Draft {
  const funds = new HotFunds(() => null);
  return new Draft(merchant("mer_1", "100"), Records.of("mer_1", NO_FACTS), references, funds);
}

/** What the chain said of a withdrawal that is not there. */
const BROKEN_FACT: Decidable = {
  kind: "fact",
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
      const verdict = decided(1, null, {
        postings: post({
          paymentId: "wd_1",
          leg: "test",
          from,
          to,
          currency: "USDT",
          network: "TRX",
          amount: amount(text),
        }),
      });
      assert(verdict.kind === "decided");
      return apply({
        ...merchant("mer_1", "10"),
        balances: new Map([[PAIR, {
          available: amount("10"),
          pending: amount("10"),
          reserved: amount("10"),
        }]]),
      }, verdict.decision);
    };
    assertEquals(take("10").balances.get(PAIR)?.[from], ZERO);
    assertThrows(() => take("10.000000000000000001"), Error, "would be negative");
  });
}

Deno.test("a reference that a batch has released is free for its next message, though it is remembered", () => {
  const draft = draftOf(new Map([["order-1", "wd_1"], ["order-2", "wd_2"]]));
  assertEquals(draft.holderOf("order-1"), "wd_1");
  draft.touchedReferences.set("order-1", null);
  draft.touchedReferences.set("order-3", "wd_3");
  assertEquals(["order-1", "order-2", "order-3"].map((one) => draft.holderOf(one)), [
    undefined,
    "wd_2",
    "wd_3",
  ]);
});

Deno.test("merchants of one batch are promised no more together than the hot wallet has", async () => {
  for (const [left, done] of [["9.999999", 0], ["10", 1], ["25", 2], ["1000", 4]] as const) {
    const active = new ActiveMerchants(10);
    const work = new Map<string, readonly Decidable[]>();
    for (const id of ["mer_1", "mer_2", "mer_3", "mer_4"]) {
      active.open(id, merchant(id, "100"));
      work.set(id, [new CommandEnvelope(reserveCommand(), Infinity, () => {})]);
    }
    const deciding = {
      store: {
        readFacts: () => Promise.resolve(NO_FACTS),
        readAccounts: () => Promise.resolve(new Map()),
        findReferences: () => Promise.resolve([]),
      },
      active,
      liquidity: () => amount(left),
      untilAnswered: (ask) => ask(),
    } satisfies Deciding;
    const slices = await decideBatch(deciding, work, SETTINGS);
    const kinds = slices.flatMap(({ messages }) => messages.map(({ outcome }) => outcome.kind));
    assertEquals(kinds.filter((kind) => kind === "done").length, done, left);
    assertEquals(kinds.length, 4);
  }
});

Deno.test("a fact that breaks an assumption is set aside, and the messages beside it are decided", () => {
  const asked = new CommandEnvelope(reserveCommand(), Infinity, () => {});
  const slice = decideSlice("mer_1", draftOf(), SETTINGS, [BROKEN_FACT, asked]);
  assertEquals(slice.aside.map(({ envelope }) => envelope), [BROKEN_FACT]);
  assert(slice.aside[0]?.reason.startsWith("bug: Error: Cannot settle a payout"));
  assertEquals(slice.messages.map(({ outcome }) => outcome.kind), ["failed", "done"]);
});

Deno.test("a sender whose message goes back to be decided again is told that nothing happened", () => {
  const told: string[] = [];
  const envelope = new CommandEnvelope(reserveCommand(), 0, ({ kind }) => told.push(kind));
  const answered = new CommandEnvelope(reserveCommand(), 0, () => {});
  answered.settle({ kind: "failed" });
  envelope.decided = true;
  const left = unsettled(new Map([["mer_1", [envelope, answered]], ["mer_2", [answered]]]));
  assertEquals([...left], [["mer_1", [envelope]]]);
  envelope.expire();
  assertEquals(told, ["withdrawn"]);
});

/** What recovering does with a batch that always fails the same way. */
async function recovered(
  kind: "poisoned" | "held" | "setback",
  work: ReadonlyMap<string, readonly Decidable[]>,
  isConnectionError: boolean,
) {
  const error = new Error("test");
  const did: string[] = [];
  const merchantIds = [...work.keys()];
  const why = kind === "poisoned" ? { kind, error } : { kind, error, costMs: 50, merchantIds };
  const recovering: Recovering = {
    store: { isConnectionError: () => isConnectionError },
    process: (again, attempt) => recover(recovering, why, unsettled(again), attempt),
    doubts: new DoubtfulMerchants(() => 0),
    suspect: (id) => did.push(`suspect ${id}`),
    hold: (id, { length }, costMs) => did.push(`hold ${id} ${length} ${costMs}`),
    giveBack: (id, { length }) => length > 0 && did.push(`give back ${id} ${length}`),
    quarantine: (envelope) => {
      did.push(`set aside ${envelope.kind}`);
      if (envelope.kind === "command") envelope.settle({ kind: "failed" });
      return Promise.resolve();
    },
  };
  await recover(recovering, why, work, 1);
  return [...new Set(did)];
}

Deno.test("what becomes of a message that fails even alone", async () => {
  const told: string[] = [];
  const command = () => new CommandEnvelope(reserveCommand(), 0, ({ kind }) => told.push(kind));
  const rows: readonly [
    Parameters<typeof recovered>[0],
    "command" | "fact",
    boolean,
    readonly string[],
    readonly string[],
  ][] = [
    ["poisoned", "command", false, ["suspect mer_1", "set aside command"], ["failed"]],
    ["poisoned", "command", true, ["suspect mer_1", "set aside command"], ["failed"]],
    ["poisoned", "fact", false, ["suspect mer_1", "set aside fact"], []],
    // a database that goes away is not the row's fault: it stays for a later wake-up
    ["poisoned", "fact", true, ["suspect mer_1"], []],
    ["held", "command", false, ["suspect mer_1", "hold mer_1 1 50"], []],
    ["held", "fact", false, ["suspect mer_1", "hold mer_1 1 50"], []],
    ["setback", "command", false, [], ["overloaded"]],
    ["setback", "fact", false, [], []],
  ];
  for (const [kind, sort, isConnectionError, did, answers] of rows) {
    told.length = 0;
    const work = new Map([["mer_1", [sort === "fact" ? BROKEN_FACT : command()]]]);
    assertEquals(await recovered(kind, work, isConnectionError), did, `${kind} ${sort}`);
    assertEquals(told, answers, `${kind} ${sort}`);
  }
});

Deno.test("a merchant with many messages that fail keeps others for a few of them at a time", async () => {
  const commands = Array.from(
    { length: 100 },
    () => new CommandEnvelope(reserveCommand(), 0, () => {}),
  );
  const did = await recovered("poisoned", new Map([["mer_1", commands]]), false);
  assertEquals(did, ["suspect mer_1", "give back mer_1 68", "set aside command"]);
  assertEquals(commands.filter(({ settled }) => settled).length, 32);
});
