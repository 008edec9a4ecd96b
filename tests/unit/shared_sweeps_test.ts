import { assertEquals } from "@std/assert";
import { sharedTransactions } from "../../actors/treasury/shared_sweeps.ts";
import { outcomesOf } from "../../actors/watcher/outcomes_of.ts";
import type { Transfer } from "../../chains/chain.ts";
import { shareOf } from "../../ledger/money/shares.ts";
import type { QueuedRow } from "../../ledger/treasury/pull_queued.ts";
import type { OwnTransaction } from "../../ledger/watcher/record_outcomes.ts";
import { amount } from "../support/books.ts";
import { paperChain } from "../support/paper_chain.ts";

const SWEEP: QueuedRow = {
  id: "out_0",
  merchantId: "mer_platform",
  kind: "sweep",
  paymentId: null,
  network: "TRX",
  currency: "USDT",
  amount: amount("5"),
  wallet: "1",
  destination: "hot-wallet",
  status: "queued",
  reason: null,
  attempts: 0,
  leaseUntil: null,
  createdAt: 0,
  updatedAt: 0,
  feePayer: "hot",
};

const sweeps = (...changes: Partial<QueuedRow>[]) =>
  changes.map((change, n): QueuedRow => ({ ...SWEEP, id: `${n}`, ...change }));

for (
  const [what, rows, most, expected] of [
    ["as many sweeps as it carries", sweeps({}, {}, {}, {}, {}), 2, ["0,1", "2,3", "4"]],
    ["its sweeps by their ids", sweeps({ id: "2" }, { id: "0" }, { id: "1" }), 9, ["0,1,2"]],
    ["one sweep where it carries one", sweeps({}, {}), 1, ["0", "1"]],
    [
      "sweeps of one currency",
      sweeps({}, { currency: "USDC" }, {}, { currency: "USDC" }),
      9,
      ["0,2", "1,3"],
    ],
    [
      "no sweep that its address pays for",
      sweeps({ feePayer: "wallet" }, {}, { feePayer: "wallet" }, {}),
      9,
      ["0", "1,3", "2"],
    ],
    [
      "those that wait for lower fees, as for anything that comes by itself",
      sweeps({ reason: "waiting: fees are above the cap" }, { reason: "waiting for USDT" }, {}),
      9,
      ["0,1,2"],
    ],
    ["nothing but sweeps", sweeps({ kind: "cold" }, { kind: "cold" }, {}), 9, ["0", "1", "2"]],
    ["no sweep that expired before", sweeps({}, { attempts: 1 }, {}), 9, ["0,2", "1"]],
    [
      "no sweep that would fail, that the signer refuses or that nodes do not answer for",
      sweeps(
        { reason: "the transfer would fail" },
        { reason: "signer: wrong-destination: Cannot sign" },
        { reason: "waiting for another try" },
        { reason: "it cannot be prepared: odd" },
      ),
      9,
      ["0", "1", "2", "3"],
    ],
    [
      "sweeps that wait for what comes by itself",
      sweeps({ reason: "waiting for the chain's coin" }, { reason: "waiting for the signer" }),
      9,
      ["0,1"],
    ],
  ] as const
) {
  Deno.test(`a transaction carries ${what}`, () => {
    const groups = sharedTransactions(rows, most, new Set());
    assertEquals(groups.map((group) => group.map(({ id }) => id).join()), [...expected]);
  });
}

Deno.test("a sweep whose address had one that did not succeed goes alone", () => {
  const groups = sharedTransactions(sweeps({}, {}, {}), 9, new Set(["1"]));
  assertEquals(groups.map((group) => group.map(({ id }) => id).join()), ["0,2", "1"]);
});

Deno.test("shares are exactly the amount, and the first takes what is left over", () => {
  for (
    const [whole, count] of [["1", 3], ["0.000000000000000002", 3], ["7.5", 1], ["0", 5]] as const
  ) {
    const shares = Array.from({ length: count }, (_, n) => shareOf(amount(whole), n, count));
    assertEquals(shares.reduce((sum, share) => sum + share, 0n), amount(whole));
    assertEquals(new Set(shares.slice(1)).size <= 1, true);
    assertEquals((shares[0] ?? 0n) >= (shares[1] ?? 0n), true);
  }
});

const intent = (place: number, change: Partial<OwnTransaction> = {}): OwnTransaction => ({
  outgoingId: `out_${place}`,
  number: 1,
  merchantId: "mer_platform",
  kind: "sweep",
  paymentId: null,
  settlementId: null,
  txid: "tx",
  currency: "USDT",
  amount: amount("5"),
  wallet: "1",
  destination: "hot-wallet",
  purpose: "pay",
  nonce: null,
  payer: "hot",
  place,
  intents: 2,
  bytes: null,
  outcome: null,
  ...change,
});

const transfer = (logIndex: number, change: Partial<Transfer> = {}): Transfer => ({
  txid: "tx",
  logIndex,
  currency: "USDT",
  eventFrom: "address-1",
  eventTo: "hot-wallet",
  amount: amount("5"),
  diesAfter: 1,
  expiresAt: 1,
  ...change,
});

for (
  const [what, own, transfers, success, expected] of [
    ["two alike, two transfers", [intent(0), intent(1)], [transfer(0), transfer(1)], true, [
      "paid",
      "paid",
    ]],
    ["two alike, one transfer", [intent(0), intent(1)], [transfer(0)], true, [
      "paid",
      "unexpected",
    ]],
    [
      "two alike, one of which has ended, one transfer",
      [intent(1), intent(0, { outcome: "paid" })],
      [transfer(0)],
      true,
      ["paid", "unexpected"],
    ],
    [
      "each its own transfer",
      [intent(0), intent(1, { wallet: "2", amount: amount("7") })],
      [transfer(0, { eventFrom: "address-2", amount: amount("7") }), transfer(1)],
      true,
      ["paid", "paid"],
    ],
    [
      "one moved less",
      [intent(0), intent(1, { wallet: "2" })],
      [transfer(0), transfer(1, { eventFrom: "address-2", amount: amount("4") })],
      true,
      ["paid", "unexpected"],
    ],
    ["the transaction failed", [intent(0), intent(1)], [], false, ["failed", "failed"]],
  ] as const
) {
  Deno.test(`each transfer of a transaction ends one intent at most: ${what}`, () => {
    const transaction = {
      txid: "tx",
      success,
      failure: success ? null : "REVERT",
      fee: amount("3"),
    };
    const ends = outcomesOf(paperChain("TRX"), own, {
      transaction,
      transfers,
      height: 9,
      hash: "b9",
    });
    assertEquals(ends.map(({ result }) => result), [...expected]);
    assertEquals(ends.reduce((sum, { fee }) => sum + fee, 0n), amount("3"));
  });
}
