import { assert, assertEquals, assertThrows } from "@std/assert";
import { apply, decided, post } from "../../actors/merchant/decision.ts";
import { Records } from "../../actors/merchant/state.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { pairKey } from "../../ledger/money/pair.ts";
import { TRANSITIONS } from "../../ledger/money/transitions.ts";
import { NO_ROWS } from "../../ledger/rows.ts";
import { amount, stateOf } from "./support/account.ts";

/** Every move that may happen, written down a second time: a move that is added by mistake is noticed here. */
const MOVES: Readonly<Record<keyof typeof TRANSITIONS, readonly string[]>> = {
  deposit: [
    "PENDING CONFIRMED",
    "PENDING FAILED",
    "PENDING CANCELLED",
    "FAILED CONFIRMED",
  ],
  withdrawal: [
    "PENDING_APPROVAL PENDING",
    "PENDING_APPROVAL CANCELLED",
    "PENDING CONFIRMED",
    "PENDING FAILED",
  ],
  transaction: [
    "PENDING CONFIRMED",
    "PENDING FAILED",
    "PENDING CANCELLED",
    "FAILED CONFIRMED",
  ],
  settlement: [
    "PENDING APPROVAL_REQUIRED",
    "PENDING PROCESSING",
    "APPROVAL_REQUIRED APPROVED",
    "APPROVAL_REQUIRED REJECTED",
    "APPROVAL_REQUIRED CANCELLED",
    "APPROVED PROCESSING",
    "PROCESSING SUBMITTED_TO_LEDGER",
    "PROCESSING FAILED",
    "SUBMITTED_TO_LEDGER COMPLETED",
    "SUBMITTED_TO_LEDGER FAILED",
  ],
  outgoing: [
    "queued signed",
    "queued void",
    "signed final",
    "signed dead",
    "dead queued",
    "dead void",
  ],
};

const KINDS = {
  deposit: "deposits",
  withdrawal: "withdrawals",
  transaction: "transactions",
  settlement: "settlements",
} as const;

/** Applies a decision that moves one record which is at hand; nothing but its status is looked at. */
function move(kind: keyof typeof KINDS, from: string, to: string): void {
  const step = (status: string) => ({ status, at: "2026-01-01T00:00:00.000Z" });
  const before = { id: "one", seq: 0, status: from, history: [step(from)] };
  const after = { ...before, status: to, history: [step(from), step(to)] };
  const rows = (row: unknown) => ({ [KINDS[kind]]: [row] });
  const records = new Records();
  records.put({ ...NO_ROWS, ...rows(before) });
  const { decision } = decided(1, null, rows(after));
  apply({ state: stateOf({ available: "10" }), records }, decision);
}

for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
  Deno.test(`a decision moves a ${kind} as its states allow, and no other way`, () => {
    const states = Object.keys(TRANSITIONS[kind]);
    for (const from of states) {
      for (const to of states) {
        if (MOVES[kind].includes(`${from} ${to}`)) move(kind, from, to);
        else if (from !== to) {
          assertThrows(() => move(kind, from, to), Error, `${from} -> ${to}`, `${from} ${to}`);
        }
      }
    }
  });
}

Deno.test("a decision gives up a payout that is queued or dead, and no other", () => {
  for (const from of ["queued", "signed", "final", "dead", "void"] as const) {
    const records = new Records();
    records.outgoing.set("out_1", from);
    const row = { id: "out_1", merchantId: "mer_1", fromStatus: "queued", reason: "test" } as const;
    const { decision } = decided(1, null, { voided: [row] });
    const giveUp = () => apply({ state: stateOf({ available: "10" }), records }, decision);
    if (MOVES.outgoing.includes(`${from} void`)) giveUp();
    else assertThrows(giveUp, Error, `${from} -> void`);
  }
});

Deno.test("the table of transitions has the moves that may happen, and no other", () => {
  for (const [kind, moves] of Object.entries(TRANSITIONS)) {
    const coded = Object.entries<readonly string[]>(moves)
      .flatMap(([from, tos]) => tos.map((to) => `${from} ${to}`));
    assertEquals(coded.sort(), [...MOVES[kind as keyof typeof MOVES]].sort(), kind);
  }
});

for (const from of ["available", "pending", "reserved"] as const) {
  Deno.test(`a decision that would take more from ${from} than there is breaks, before any database`, () => {
    const pair = pairKey("USDT", "TRX");
    const take = (text: string) => {
      const to = from === "available" ? "reserved" : "available";
      const payment = { id: "wd_1", currency: "USDT", network: "TRX" } as const;
      const result = decided(1, null, {
        postings: post(payment, { leg: "test", from, to, amount: amount(text) }),
      });
      assert(result.kind === "decided");
      const ten = amount("10");
      const balances = new Map([[pair, { available: ten, pending: ten, reserved: ten }]]);
      const state = { ...stateOf({}), balances };
      return apply({ state, records: new Records() }, result.decision);
    };
    assertEquals(take("10").balances.get(pair)?.[from], ZERO);
    assertThrows(() => take("10.000000000000000001"), Error, "would be negative");
  });
}
