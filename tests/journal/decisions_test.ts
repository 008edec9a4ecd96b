import { assert, assertEquals } from "@std/assert";
import { settlePayout } from "../../actors/merchant/decide/end_payout.ts";
import { settle, submitSettlement } from "../../actors/merchant/decide/settlement.ts";
import { fundsRefusal } from "../../actors/merchant/decide/withdrawal.ts";
import type { OutcomeEvent } from "../../actors/merchant/chain_events.ts";
import type { CreateSettlement } from "../../actors/merchant/messages.ts";
import { type MerchantView, Records } from "../../actors/merchant/state.ts";
import { type Amount, ZERO } from "../../ledger/money/amount.ts";
import { depositFees, withdrawalFees } from "../../ledger/money/fees.ts";
import { mayMove, type RecordKind, TRANSITIONS } from "../../ledger/money/transitions.ts";
import { NO_HANDS, type SettlementRow, type WithdrawalRow } from "../../ledger/rows.ts";
import { amount } from "../support/books.ts";

const NOW = 1_700_000_000_000;
const DAY_MS = 24 * 3_600_000;

/** A merchant with 100 USDT, as far as decisions look at it. */
function view(
  rows: {
    readonly withdrawal?: WithdrawalRow;
    readonly settlement?: SettlementRow;
    readonly payout?: "queued" | "dead";
    readonly hot?: Amount;
  } = {},
): MerchantView {
  const records = new Records();
  const { withdrawal, settlement, payout, hot } = rows;
  if (withdrawal !== undefined) records.withdrawals.set(withdrawal.id, withdrawal);
  if (settlement !== undefined) records.settlements.set(settlement.id, settlement);
  if (payout !== undefined) records.outgoing.set("out_1", payout);
  return {
    records,
    liquidity: { left: () => hot ?? null },
    state: {
      merchant: {
        merchantId: "mer_1",
        slot: 0,
        status: "ACTIVE",
        name: "one",
        depositCommissionRate: "0",
        directDepositFee: ZERO,
        webhookUrl: null,
        webhookSecret: "secret",
        webhookSecretPrevious: null,
        webhookPreviousUntil: null,
        webhookEnabled: false,
        webhookEvents: null,
        webhookTimeoutMs: 10_000,
        webhookRetryCount: 3,
        successUrl: null,
        failureUrl: null,
        pageOrigins: null,
        logoColor: null,
        rateLimits: {},
        resellerId: null,
        marginRate: "0",
        marginBeneficiary: null,
        createdAt: NOW,
      },
      version: 1,
      lastCommit: "1",
      depositSeq: 0,
      withdrawalSeq: 0,
      transactionSeq: 0,
      chargeSeq: 0,
      settlementSeq: 0,
      lastAt: 0,
      balances: new Map([["USDT/TRX", {
        available: amount("100"),
        pending: ZERO,
        reserved: amount("10"),
      }]]),
    },
  };
}

const withdrawal: WithdrawalRow = {
  id: "wd_1",
  merchantId: "mer_1",
  seq: 1,
  transactionSeq: 1,
  settlementId: null,
  outgoingId: "out_1",
  currency: "USDT",
  network: "TRX",
  amount: amount("10"),
  baseFee: ZERO,
  markupRate: "0",
  markupAmount: ZERO,
  networkFee: ZERO,
  margin: ZERO,
  marginTo: null,
  destination: "T",
  referenceId: null,
  description: null,
  status: "PENDING",
  reason: null,
  txid: null,
  createdAt: NOW,
  processedAt: null,
  ...NO_HANDS,
};

const settlement: SettlementRow = {
  id: "stl_1",
  merchantId: "mer_1",
  seq: 1,
  withdrawalId: "wd_1",
  currency: "USDT",
  network: "TRX",
  amount: amount("10"),
  totalFees: ZERO,
  address: "T",
  label: "own",
  status: "PROCESSING",
  reason: null,
  idempotencyKey: "key",
  bodyHash: "body",
  neededApproval: false,
  createdAt: NOW,
  updatedAt: NOW,
  history: ["PENDING" as const, "PROCESSING" as const].map((status) => ({
    status,
    at: new Date(NOW).toISOString(),
  })),
  ...NO_HANDS,
};

const key = {
  merchantId: "mer_1",
  network: "TRX",
  txid: "aa",
  logIndex: -1,
  phase: "outcome",
} as const;

Deno.test("what has ended stays as it is, and what is signed is not given up without proof", () => {
  const forbidden: readonly (readonly [RecordKind, RegExp, RegExp])[] = [
    ["deposit", /CONFIRMED|CANCELLED/, /./],
    ["withdrawal", /CONFIRMED|FAILED|CANCELLED/, /./],
    ["transaction", /CONFIRMED|CANCELLED/, /./],
    ["settlement", /COMPLETED|FAILED|CANCELLED|REJECTED/, /./],
    ["outgoing", /final|void/, /./],
    ["outgoing", /signed/, /queued|void/],
    ["outgoing", /queued/, /final|dead/],
  ];
  for (const [record, from, to] of forbidden) {
    const states = Object.keys(TRANSITIONS[record]);
    for (const one of states.filter((state) => from.test(state))) {
      for (const other of states.filter((state) => to.test(state))) {
        assert(!mayMove(record, one, other), `${record}: ${one} -> ${other}`);
      }
    }
  }
});

Deno.test("a withdrawal of exactly what the hot wallet has left is funded, of a unit more it is not", () => {
  const fees = withdrawalFees(
    amount("10"),
    { enabled: false, baseFee: ZERO, markupRate: "0" },
    ZERO,
    6,
  );
  const refusal = (hot: string) =>
    fundsRefusal(view({ hot: amount(hot) }), "USDT", "TRX", fees)?.code ?? null;
  assertEquals(refusal("10"), null);
  assertEquals(refusal("9.999999"), "treasury_short");
});

Deno.test("a payout that failed is refunded only while its row is proven dead", () => {
  const event: OutcomeEvent = {
    type: "outcome",
    key,
    at: NOW,
    outgoingId: "out_1",
    withdrawalId: "wd_1",
    settlementId: null,
    result: "failed",
    reason: "REVERT",
    height: 7,
    chargeIds: ["chg_1", "chg_2"],
    eventIds: ["evt_1", "evt_2"],
  };
  // queued again for another attempt: what moved it decides
  const result = settlePayout(view({ withdrawal, payout: "queued" }), event);
  assert(result.kind === "decided");
  assertEquals(
    [result.decision.withdrawals, result.decision.postings, result.decision.consumed],
    [[], [], [key]],
  );
});

Deno.test("a settlement that has ended is not on its way again", () => {
  for (const [status, moved] of [["PROCESSING", 1], ["COMPLETED", 0], ["FAILED", 0]] as const) {
    const rows = {
      withdrawal: { ...withdrawal, settlementId: "stl_1" },
      settlement: { ...settlement, status },
    };
    const result = submitSettlement(view(rows), {
      type: "submitted",
      key: { ...key, phase: "submitted" },
      at: NOW,
      withdrawalId: "wd_1",
      settlementId: "stl_1",
    });
    assert(result.kind === "decided");
    assertEquals(result.decision.settlements.length, moved, status);
  }
});

Deno.test("a settlement's key answers for a day, and is free afterwards", () => {
  const settings = {
    epoch: "1",
    fees: { enabled: false, baseFee: ZERO, markupRate: "0" },
    settlementThresholds: new Map(),
    pairs: new Map(),
  };
  const message: CreateSettlement = {
    type: "create-settlement",
    at: NOW,
    settlementId: "stl_2",
    withdrawalId: "wd_2",
    transactionId: "txn_2",
    outgoingId: "out_2",
    chargeIds: ["chg_1", "chg_2"],
    currency: "USDT",
    network: "TRX",
    amount: amount("10"),
    destination: "T",
    fromAddress: null,
    dynamicFee: { estimate: null, floor: ZERO },
    idempotencyKey: "key",
    bodyHash: "body",
    giveUp: null,
  };
  const askedAt = (at: number) => {
    const result = settle(view({ settlement }), settings, { ...message, at });
    return result.kind === "refused" ? result.refusal.code : result.kind;
  };
  assertEquals(askedAt(NOW + DAY_MS - 1), "decided");
  // it is a new settlement then: here of a pair that is closed
  assertEquals(askedAt(NOW + DAY_MS), "withdrawals_closed_for_pair");
});

Deno.test("a deposit's commission is never more than the deposit, however it is rounded", () => {
  for (const [text, rate] of [["0.0000006", "0.9"], ["0.000001", "1"], ["5", "1"]] as const) {
    const fees = depositFees(amount(text), rate, false, true, 6);
    assert(fees.commission <= amount(text), `${text} at ${rate}`);
    assert(fees.receivable >= ZERO, `${text} at ${rate}`);
  }
});
