import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { stepByMemory, stepWithoutChain, whatToList } from "../../actors/sweeper/books_step.ts";
import type { AddressState } from "../../actors/sweeper/next_step.ts";
import { coinForSent, ownCoinStep, type OwnCoinView } from "../../actors/sweeper/own_coin_step.ts";
import { sponsoredStep } from "../../actors/sweeper/sponsored_step.ts";
import { carriedBy } from "../../actors/sweeper/what_is_there.ts";
import type { SweepCosts } from "../../chains/fees.ts";
import type { SweepFacts } from "../../ledger/sweeps/sweep_facts.ts";
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

function look(facts: Partial<SweepFacts> = {}, more: Partial<AddressState> = {}): AddressState {
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
      funding: null,
      delegated: NONE,
      isShared: false,
      delegation: null,
      failures: 0,
      failedAt: null,
      failure: null,
      unnotified: [],
      unexpected: null,
      ...facts,
    },
    terms: { enabled: true, gas: "auto", factor: "2", topUpWaitMs: 22 * HOUR },
    pace: { staleMs: 60_000, retryMs: 1_000, failureLimit: 3, coolDownMs: 60_000, pollMs: 5_000 },
    isSupported: true,
    now: NOW,
    ...more,
  };
}

const COSTS: SweepCosts = {
  isActive: true,
  coin: NONE,
  fee: { fee: amount("6.8"), limit: amount("8") },
  cost: amount("6.8"),
  enough: amount("8"),
  costAtMost: amount("8"),
  costDelegated: NONE,
  stakeNeeded: amount("8000"),
  costByCoin: amount("7"),
  costByDelegation: amount("0.6"),
};

const LIVING: NonNullable<SweepFacts["living"]> = {
  id: "out_1",
  kind: "gas",
  status: "signed",
  reason: null,
  currency: "native",
  amount: "8",
  createdAt: NOW,
  foundAt: null,
};

function view(costs: Partial<SweepCosts> = {}, more: Partial<OwnCoinView> = {}): OwnCoinView {
  return {
    balance: amount("100"),
    items: [item("100")],
    costs: { ...COSTS, ...costs },
    delegatable: NONE,
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

const onChain = (facts: Partial<SweepFacts>, seen: OwnCoinView, more: Partial<AddressState> = {}) =>
  told(ownCoinStep(look(facts, more), { ...seen, items: facts.open ?? seen.items }));

Deno.test("coin that is on the address is used before any is given", () => {
  assertEquals(onChain({}, view({ coin: amount("8") })), "sweep 100");
  assertEquals(onChain({}, view({ coin: amount("3") })), "fund-gas 5");
  assertEquals(onChain({}, view()), "fund-gas 8");
});

Deno.test("an address is given more than is enough, and no more of it when prices rise a little", () => {
  const prices = { enough: amount("5"), costAtMost: amount("8") };
  assertEquals(onChain({}, view(prices)), "fund-gas 8");
  assertEquals(onChain({}, view({ ...prices, coin: amount("5") })), "sweep 100");
  assertEquals(onChain({}, view({ ...prices, coin: amount("4") })), "fund-gas 4");
});

/** A sweep that offers all the coin of its address. */
const SENT = { ...LIVING, kind: "sweep" as const, currency: "USDT" as const, amount: "100" };

for (
  const [what, coin, given, expected] of [
    ["holds what blocks ask for", "5", {}, null],
    ["lacks some of it", "4", {}, "fund-gas 4"],
    ["was given the rest a moment ago", "4", {
      coin: amount("8"),
      funding: { at: NOW - 1, count: 2 },
    }, null],
  ] as const
) {
  Deno.test(`an address whose sweep is sent and in no block ${what}`, () => {
    const costs = { ...COSTS, enough: amount("5"), costAtMost: amount("8"), coin: amount(coin) };
    const step = coinForSent(look(given), SENT, "0.3", costs);
    assertEquals(step === null ? null : told(step), expected);
  });
}

for (
  const [what, isTopUp, sent, coinRate, expected] of [
    // 7 of coin are 2.1, twice that is the least
    ["of 4.3", false, { amount: "4.3" }, "0.3", "fund-gas 8"],
    ["of 4.2", false, { amount: "4.2" }, "0.3", "in_flight"],
    ["of coin whose worth is unknown", false, {}, null, "in_flight"],
    ["of a top-up of 2.2", true, { amount: "2.2" }, "0.3", "fund-gas 8"],
    ["of a top-up of 2.1", true, { amount: "2.1" }, "0.3", "in_flight"],
    [
      "of a top-up of 2.1 that has waited for a day",
      true,
      {
        amount: "2.1",
        foundAt: NOW - 24 * HOUR,
      },
      "0.3",
      "fund-gas 8",
    ],
  ] as const
) {
  Deno.test(`coin for a sweep that is sent is given where it pays: ${what}`, () => {
    const { target } = look();
    const state = look({}, { target: { ...target, isTopUp } });
    const step = coinForSent(state, { ...SENT, ...sent }, coinRate, COSTS);
    assertEquals(step === null ? null : told(step), expected);
  });
}

Deno.test("coin that the books gave and a node does not show yet is never given again", () => {
  const funding = { at: NOW - 1_000, count: 1 };
  assertEquals(onChain({ coin: amount("8"), funding }, view()), "waiting_gas");
  // what a failed sweep has burned is made up for
  assertEquals(onChain({ coin: amount("3") }, view({ coin: amount("3") })), "fund-gas 5");
});

Deno.test("energy is delegated where stake is free, to an address that the chain knows", () => {
  const rich = { delegatable: amount("9000") };
  assertEquals(onChain({}, view({}, rich)), "delegate 8000");
  assertEquals(onChain({}, view({}, { delegatable: amount("7999") })), "fund-gas 8");
  const coin = { terms: { ...look().terms, gas: "coin" as const } };
  assertEquals(onChain({}, view({}, rich), coin), "fund-gas 8");
  const asleep = { isActive: false, costDelegated: amount("0.35") };
  assertEquals(onChain({}, view(asleep, rich)), "fund-gas 0.35");
  // after a failure coin is sure
  assertEquals(onChain({ failures: 1, failedAt: 0 }, view({}, rich)), "fund-gas 8");
});

Deno.test("a delegation that is not seen yet is waited for, one that was used is taken back", () => {
  const fresh = { delegated: amount("8000"), delegation: { at: NOW - 1_000, used: false } };
  assertEquals(onChain(fresh, view()), "waiting_gas");
  assertEquals(
    onChain({ ...fresh, delegation: { at: NOW - 61_000, used: false } }, view()),
    "undelegate 8000",
  );
  assertEquals(
    onChain({ ...fresh, delegation: { at: NOW - 1_000, used: true } }, view()),
    "undelegate 8000",
  );
  assertEquals(
    onChain(fresh, view({ enough: NONE, costAtMost: NONE, stakeNeeded: NONE })),
    "sweep 100",
  );
});

Deno.test("an issued address has to be worth its cost several times, a top-up once, and for a day only", () => {
  const poor = view({}, { balance: amount("4") });
  assertEquals(onChain({ open: [item("4")] }, poor), "below_economics");
  const topUp = { target: { ...look().target, isTopUp: true } };
  assertEquals(onChain({ open: [item("4")] }, poor, topUp), "fund-gas 8");
  const dust = view({}, { balance: amount("1") });
  assertEquals(onChain({ open: [item("1")] }, dust, topUp), "below_economics");
  const old = { open: [item("1", { foundAt: NOW - 22 * HOUR })] };
  assertEquals(onChain(old, dust, topUp), "fund-gas 8");
  assertEquals(onChain({}, view({}, { coinRate: null })), "no_rate");
  assertEquals(
    onChain(old, view({}, { balance: amount("1"), coinRate: null }), topUp),
    "fund-gas 8",
  );
  // the look that makes it due is not later than that
  const items = [item("1", { foundAt: NOW - 22 * HOUR + 7_000 })];
  const young = ownCoinStep(look({ open: items }, topUp), { ...dust, items });
  assertEquals(young.do === "wait" && young.pollMs, 7_000);
});

Deno.test("energy does not stay with an address that waits, unless another currency waits for it", () => {
  const delegated = { delegated: amount("8000") };
  const off = { terms: { ...look().terms, enabled: false } };
  assertEquals(told(stepWithoutChain(look(delegated, off))), "undelegate 8000");
  assertEquals(told(stepWithoutChain(look({ ...delegated, isShared: true }, off))), "paused");
  assertEquals(told(stepWithoutChain(look({ ...delegated, open: [] }))), "undelegate 8000");
  assertEquals(told(stepWithoutChain(look({ ...delegated, open: [], isShared: true }))), "close");
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
      living: { ...LIVING, status, createdAt: NOW - ago },
    })));
  assertEquals(living("queued", 60_000), "waiting_gas");
  assertEquals(living("queued", 60_001), "give-up");
  assertEquals(living("signed", 24 * HOUR), "waiting_gas");
});

Deno.test("an address that coin is to wake up says so until it is awake", () => {
  const asleep = { target: { ...look().target, reason: "address_not_activated" } } as const;
  const toldOf = (kind: "gas" | "delegation") =>
    told(stepWithoutChain(look({ living: { ...LIVING, kind } }, asleep)));
  assertEquals([toldOf("gas"), toldOf("delegation")], ["address_not_activated", "waiting_gas"]);
});

Deno.test("coin that was given and is not there after long is given again, each time more rarely", () => {
  const given = (count: number, ago: number) =>
    onChain({ coin: amount("8"), funding: { at: NOW - ago, count } }, view());
  assertEquals([given(1, 60_000), given(1, 60_001)], ["waiting_gas", "fund-gas 8"]);
  assertEquals([given(3, 240_000), given(3, 240_001)], ["waiting_gas", "fund-gas 8"]);
  assertEquals([given(99, 24 * HOUR), given(99, 24 * HOUR + 1)], ["waiting_gas", "fund-gas 8"]);
});

/** Amounts of transfers that would be listed at a balance, newest first. */
function lists(open: SweepFacts["open"], balance: string, isRead = true): string {
  const found = whatToList(look({ open }), amount(balance), isRead);
  if ("do" in found) return told(found);
  return found.items.map((one) => Number(one.amount) / 1e18).join(" ");
}
const OLD = { foundAt: NOW - HOUR };

Deno.test("where less is there than is noted, the newest that are there in whole are listed", () => {
  const open = [item("30", OLD), item("50", OLD), item("100", OLD), item("5", OLD)];
  assertEquals(lists(open, "185"), "30 50 100 5");
  assertEquals(lists(open, "184"), "30 50 100");
  // 5 would fit, and is older than what is gone
  assertEquals(lists(open, "90"), "30 50");
  assertEquals(lists(open, "80"), "30 50");
  assertEquals(lists(open, "79"), "30");
  assertEquals(lists(open, "29"), "balance_differs");
  assertEquals(lists(open, "0"), "balance_differs");
  // more than is noted was brought by others
  assertEquals(lists(open, "186"), "30 50 100 5");
});

Deno.test("nothing is listed on a balance that shows blocks which are not read yet", () => {
  const open = [item("50", OLD), item("20", OLD)];
  assertEquals(lists(open, "69", false), "balance_differs");
  assertEquals(lists(open, "1070", false), "balance_differs");
  // as much as is noted is there, wherever it came from
  assertEquals(lists(open, "70", false), "50 20");
});

Deno.test("what was noted a moment ago, or may not be listed, keeps its place from older ones", () => {
  const young = item("30", { foundAt: NOW - 59_999 });
  assertEquals(lists([young, item("50", OLD), item("20", OLD)], "80"), "50");
  assertEquals(lists([young, item("50", OLD), item("20", OLD)], "50"), "balance_differs");
  const held = item("30", { ...OLD, listable: false });
  assertEquals(lists([held, item("50", OLD), item("20", OLD)], "80"), "50");
  // all that may be listed is there, as noted
  assertEquals(lists([held, item("50", OLD), item("20", OLD)], "100"), "50 20");
  assertEquals(lists([held, item("50", OLD), item("20", OLD)], "70"), "50 20");
});

Deno.test("whatever was moved unknown to us is listed by no later sweep, and all that came since by the next", () => {
  const amounts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });
  fc.assert(fc.property(amounts, amounts, fc.nat(6), (gone, since, unseen) => {
    // newest first; a node that lags does not show the youngest
    const open = [...since, ...gone].map((units, index) =>
      item(`${units}`, index < unseen ? {} : OLD)
    );
    const units = since.slice(unseen).reduce((sum, one) => sum + one, 0);
    const found = whatToList(look({ open }), amount(`${units}`), true);
    const items = "do" in found ? [] : found.items;
    assert(items.every((one) => open.indexOf(one) < since.length));
    assert(items.reduce((sum, one) => sum + one.amount, 0n) <= amount(`${units}`));
    if (unseen === 0) assertEquals(items.length, since.length);
  }));
});

Deno.test("energy goes back from an address whose money is gone", () => {
  const open = [item("50", OLD)];
  // energy goes back first, also while merchants wait for the notice of an earlier sweep
  const heard = look({ open, delegated: amount("8000"), unnotified: ["out_1"] });
  const first = whatToList(heard, NONE, true);
  assertEquals("do" in first && told(first), "undelegate 8000");
  const gone = whatToList(look({ open, delegated: amount("8000") }), NONE, true);
  assertEquals("do" in gone && told(gone), "undelegate 8000");
});

Deno.test("a sweep that moved less than what is open is not said to have carried what is still there", () => {
  const late = item("20", { ...OLD, height: 9 });
  const held = item("30", { ...OLD, height: 8, listable: false });
  const sweep = { spare: amount("30"), height: 10 };
  const carried = (open: SweepFacts["open"], balance: string | null) =>
    carriedBy(sweep, open, balance === null ? null : amount(balance), NOW, 60_000)
      .map((one) => Number(one.amount) / 1e18).join(" ");
  // it was there after the sweep was planned, so that the place belongs to the older one
  assertEquals(carried([late, held], "20"), "");
  assertEquals(carried([late, { ...held, listable: true }], "20"), "30");
  assertEquals(carried([late, held], null), "");
  // where all of it fits nothing has to be known
  assertEquals(carried([late], null), "20");
  const gone = item("25", { ...OLD, height: 2 });
  assertEquals(carried([{ ...held, listable: true }, gone], "0"), "30");
  assertEquals(carried([item("25", { ...OLD, height: 10 })], "0"), "");
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

Deno.test("an address with more transfers than are read is looked at in full, as dust may be all that is new", () => {
  const dust = (count: number) => Array.from({ length: count }, () => item("0.000001"));
  const step = (count: number) =>
    told(stepByMemory(look({ open: dust(count) }), amount("5"), "0.3"));
  assertEquals([step(499), step(500)], ["below_economics", "ask the chain"]);
});

Deno.test("an address whose transfers the hot wallet pays for is given nothing, and swept where it pays", () => {
  const sponsored = (balance: string, cost: string, more: Partial<AddressState> = {}) => {
    const open = [item(balance)];
    const holding = { balance: amount(balance), items: open, coinRate: "0.3" };
    return told(sponsoredStep(look({ open }, more), { ...holding, cost: amount(cost) }));
  };
  assertEquals(sponsored("100", "7"), "sweep 100");
  // worth 4.2 with a cost of 7 coins at 0.3, twice
  assertEquals(sponsored("4.2", "7"), "below_economics");
  assertEquals(sponsored("4.3", "7"), "sweep 4.3");
  const topUp = { target: { ...look().target, isTopUp: true } };
  assertEquals(sponsored("2.1", "7", topUp), "below_economics");
  assertEquals(sponsored("2.2", "7", topUp), "sweep 2.2");
});
