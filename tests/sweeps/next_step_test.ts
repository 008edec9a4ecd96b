import { assertEquals } from "@std/assert";
import {
  type ChainView,
  type Look,
  stepByMemory,
  stepOnChain,
  stepWithoutChain,
} from "../../actors/sweeper/next_step.ts";
import type { SweepMeans } from "../../chains/gas.ts";
import type { SweepFacts } from "../../ledger/sweeps/read_sweep_facts.ts";
import { amount } from "../support/books.ts";

const NOW = 1_750_000_000_000;
const HOUR = 3_600_000;
const NONE = amount("0");

const item = (text: string, fields: Partial<SweepFacts["open"][number]> = {}) => ({
  merchantId: "mer_1",
  txid: "aa",
  logIndex: 0,
  amount: amount(text),
  height: 7,
  foundAt: NOW - 1_000,
  listable: true,
  ...fields,
});

function look(facts: Partial<SweepFacts> = {}, more: Partial<Look> = {}): Look {
  return {
    target: {
      network: "TRX",
      address: "address-1",
      currency: "USDT",
      walletIndex: 1,
      isTopUp: false,
      reason: null,
      touched: 0,
    },
    facts: {
      open: [item("100")],
      living: null,
      coin: NONE,
      lent: NONE,
      isShared: false,
      loan: null,
      failures: 0,
      failedAt: null,
      failure: null,
      unheard: [],
      isUnexpected: false,
      ...facts,
    },
    terms: { enabled: true, gas: "auto", factor: "2", topUpWaitMs: 22 * HOUR },
    pace: { staleMs: 60_000, retryMs: 1_000, failureLimit: 3, restMs: 60_000, lookMs: 5_000 },
    isSupported: true,
    now: NOW,
    ...more,
  };
}

const MEANS: SweepMeans = {
  isActive: true,
  coin: NONE,
  fee: { fee: amount("6.8"), limit: amount("8") },
  burn: amount("6.8"),
  burnAtMost: amount("8"),
  burnWithLoan: NONE,
  loan: amount("8000"),
  costByCoin: amount("7"),
  costByLoan: amount("0.6"),
};

function view(means: Partial<SweepMeans> = {}, more: Partial<ChainView> = {}): ChainView {
  return {
    balance: amount("100"),
    means: { ...MEANS, ...means },
    lendable: NONE,
    coinRate: "0.3",
    ...more,
  };
}

/** The step in a line. */
function told(step: ReturnType<typeof stepWithoutChain>): string {
  if (step === null) return "ask the chain";
  if (step.do === "wait") return step.reason;
  return "amount" in step ? `${step.do} ${Number(step.amount) / 1e18}` : step.do;
}

const onChain = (facts: Partial<SweepFacts>, seen: ChainView, more: Partial<Look> = {}) =>
  told(stepOnChain(look(facts, more), seen));

Deno.test("coin that is on the address is used before any is given", () => {
  assertEquals(onChain({}, view({ coin: amount("8") })), "sweep 100");
  assertEquals(onChain({}, view({ coin: amount("3") })), "give-coin 5");
  assertEquals(onChain({}, view()), "give-coin 8");
});

Deno.test("coin that the books gave and a node does not show yet is never given again", () => {
  assertEquals(onChain({ coin: amount("8") }, view()), "waiting_gas");
  // what a failed sweep has burned is made up for
  assertEquals(onChain({ coin: amount("3") }, view({ coin: amount("3") })), "give-coin 5");
});

Deno.test("energy is lent where stake is free, to an address that the chain knows", () => {
  const rich = { lendable: amount("9000") };
  assertEquals(onChain({}, view({}, rich)), "lend 8000");
  assertEquals(onChain({}, view({}, { lendable: amount("7999") })), "give-coin 8");
  const coin = { terms: { ...look().terms, gas: "coin" as const } };
  assertEquals(onChain({}, view({}, rich), coin), "give-coin 8");
  const asleep = { isActive: false, burnWithLoan: amount("0.35") };
  assertEquals(onChain({}, view(asleep, rich)), "give-coin 0.35");
  // after a failure coin is sure
  assertEquals(onChain({ failures: 1, failedAt: 0 }, view({}, rich)), "give-coin 8");
});

Deno.test("a loan that is not seen yet is waited for, one that was used is taken back", () => {
  const fresh = { lent: amount("8000"), loan: { at: NOW - 1_000, used: false } };
  assertEquals(onChain(fresh, view()), "waiting_gas");
  assertEquals(
    onChain({ ...fresh, loan: { at: NOW - 61_000, used: false } }, view()),
    "take-back 8000",
  );
  assertEquals(
    onChain({ ...fresh, loan: { at: NOW - 1_000, used: true } }, view()),
    "take-back 8000",
  );
  assertEquals(onChain(fresh, view({ burnAtMost: NONE, loan: NONE })), "sweep 100");
});

Deno.test("an issued address has to be worth its cost several times, a top-up once, and for a day only", () => {
  const poor = view({}, { balance: amount("4") });
  assertEquals(onChain({ open: [item("4")] }, poor), "below_economics");
  const topUp = { target: { ...look().target, isTopUp: true } };
  assertEquals(onChain({ open: [item("4")] }, poor, topUp), "give-coin 8");
  const dust = view({}, { balance: amount("1") });
  assertEquals(onChain({ open: [item("1")] }, dust, topUp), "below_economics");
  const old = { open: [item("1", { foundAt: NOW - 22 * HOUR })] };
  assertEquals(onChain(old, dust, topUp), "give-coin 8");
  assertEquals(onChain({}, view({}, { coinRate: null })), "no_rate");
  assertEquals(
    onChain(old, view({}, { balance: amount("1"), coinRate: null }), topUp),
    "give-coin 8",
  );
  // the look that makes it due is not later than that
  const young = stepOnChain(
    look({ open: [item("1", { foundAt: NOW - 22 * HOUR + 7_000 })] }, topUp),
    dust,
  );
  assertEquals(young.do === "wait" && young.lookMs, 7_000);
});

Deno.test("energy does not stay with an address that waits, unless another currency waits for it", () => {
  const lent = { lent: amount("8000") };
  const off = { terms: { ...look().terms, enabled: false } };
  assertEquals(told(stepWithoutChain(look(lent, off))), "take-back 8000");
  assertEquals(told(stepWithoutChain(look({ ...lent, isShared: true }, off))), "paused");
  assertEquals(told(stepWithoutChain(look({ ...lent, open: [] }))), "take-back 8000");
  assertEquals(told(stepWithoutChain(look({ ...lent, open: [], isShared: true }))), "close");
  assertEquals(told(stepWithoutChain(look({ open: [] }))), "close");
});

Deno.test("failures are tried again soon, then ever later, and say so", () => {
  const after = (failures: number, ago: number) =>
    stepWithoutChain(look({ failures, failedAt: NOW - ago, failure: "failed: REVERT" }));
  assertEquals(told(after(1, 500)), "failed");
  assertEquals(told(after(1, 1_000)), "ask the chain");
  assertEquals(told(after(3, 59_000)), "failed");
  assertEquals(told(after(3, 60_000)), "ask the chain");
  assertEquals(told(after(5, 239_000)), "failed");
  assertEquals(told(after(5, 240_000)), "ask the chain");
  // never more than a day
  assertEquals(told(after(60, 24 * HOUR)), "ask the chain");
});

Deno.test("what waits for its signature too long is taken back; what is signed is never", () => {
  const living = (status: "queued" | "signed", ago: number) =>
    told(stepWithoutChain(look({
      living: { id: "out_1", kind: "gas", status, reason: null, createdAt: NOW - ago },
    })));
  assertEquals(living("queued", 60_000), "waiting_gas");
  assertEquals(living("queued", 60_001), "withdraw");
  assertEquals(living("signed", 24 * HOUR), "waiting_gas");
});

Deno.test("an address that coin is to wake up says so until it is awake", () => {
  const living = { id: "out_1", status: "signed", reason: null, createdAt: NOW } as const;
  const asleep = { target: { ...look().target, reason: "address_not_activated" } } as const;
  const toldOf = (kind: "gas" | "delegation") =>
    told(stepWithoutChain(look({ living: { ...living, kind } }, asleep)));
  assertEquals([toldOf("gas"), toldOf("delegation")], ["address_not_activated", "waiting_gas"]);
});

Deno.test("what is not there is waited for", () => {
  assertEquals(told(stepOnChain(look(), view({}, { balance: amount("99") }))), "balance_differs");
});

Deno.test("an address that surely does not pay asks no node", () => {
  const poor = look({ open: [item("3")] });
  assertEquals(told(stepByMemory(poor, amount("5"), "0.3")), "below_economics");
  assertEquals(told(stepByMemory(poor, amount("4.9"), "0.3")), "ask the chain");
  assertEquals(
    told(stepByMemory(look({ open: [item("3")], coin: amount("1") }), amount("5"), "0.3")),
    "ask the chain",
  );
});
