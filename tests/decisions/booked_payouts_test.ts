import { assertEquals } from "@std/assert";
import { decideMerchant } from "../../actors/journal/decide_batch.ts";
import { QueuedCommand } from "../../actors/journal/queue.ts";
import { UnitOfWork } from "../../actors/journal/unit_of_work.ts";
import type { MerchantCommand } from "../../actors/merchant/merchants.ts";
import { Records, RemainingLiquidity } from "../../actors/merchant/state.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { pairKey } from "../../ledger/money/pair.ts";
import { reserveCommand } from "../support/books.ts";
import { amount, settingsOf, stateOf } from "./support/account.ts";

const CHARGED = settingsOf({ fees: { base: "1", markup: "0.01" }, networkFee: "2" });

/** Decides commands of a merchant whose line has a margin, one after the other in one batch. */
function decided(commands: readonly MerchantCommand[], marginBeneficiary: string | null) {
  const unit = new UnitOfWork(
    stateOf({ merchant: { marginRate: "0.5", marginBeneficiary } }),
    new Records(),
    new RemainingLiquidity(() => null),
  );
  const queued = commands.map((command) => new QueuedCommand(command, Infinity, () => {}));
  const { messages } = decideMerchant("mer_1", unit, CHARGED, queued);
  return { outcomes: messages.map(({ outcome }) => outcome.kind), unit };
}

const COMMON = {
  ...reserveCommand({ at: 5, referenceId: "r1", description: "paid by aa" }),
  withdrawalId: "wd_1",
};
const ENDS = {
  at: 5,
  network: "TRX",
  withdrawalId: "wd_1",
  eventIds: ["evt_1", "evt_2"],
  ingestion: { eventId: "failover/TRX/aa", bodyHash: "wd_1" },
} as const;
const { destinationCheck: _, pinnedTo: __, ...TERMS } = COMMON;
const BOOK: MerchantCommand = {
  ...TERMS,
  ...ENDS,
  type: "book-payout",
  paidBy: { txid: "aa", height: 7 },
};

for (const beneficiary of [null, "mer_1", "mer_reseller"]) {
  Deno.test(`a booked payout comes to what one that was reserved and confirmed comes to, margin to ${beneficiary}`, () => {
    const apart = decided([COMMON, {
      ...ENDS,
      type: "ingest-withdrawal",
      settlementId: null,
      paidBy: { txid: "aa", height: 7, own: false },
      reason: null,
      chargeIds: ["chg_8", "chg_9"],
    }], beneficiary);
    const booked = decided([BOOK], beneficiary);
    assertEquals([apart.outcomes, booked.outcomes], [["done", "done"], ["done"]]);
    assertEquals(booked.unit.changes(), apart.unit.changes());
    assertEquals(booked.unit.state, apart.unit.state);
    // 10, 1 and a hundredth of 10, 2; half of the commission comes back to the merchant's own line
    const left = beneficiary === "mer_1" ? "87.45" : "86.9";
    assertEquals(booked.unit.state.balances.get(pairKey("USDT", "TRX")), {
      available: amount(left),
      pending: ZERO,
      reserved: ZERO,
    });
  });
}

Deno.test("a booking that is asked for twice in one batch is made once", () => {
  const twice = decided([BOOK, BOOK], null);
  assertEquals(twice.outcomes, ["done", "done"]);
  assertEquals(twice.unit.changes(), decided([BOOK], null).unit.changes());
});

Deno.test("a payout that was declared dead while its transaction was looked up is confirmed as by another wallet's", () => {
  const confirmed = (own: boolean) =>
    decided([COMMON, {
      ...ENDS,
      type: "ingest-withdrawal",
      settlementId: null,
      paidBy: { txid: "aa", height: 7, own },
      reason: null,
      chargeIds: ["chg_8", "chg_9"],
    }], null);
  const [looked, other] = [confirmed(true), confirmed(false)];
  assertEquals([looked.outcomes, other.outcomes], [["done", "done"], ["done", "done"]]);
  assertEquals(looked.unit.changes(), other.unit.changes());
});
