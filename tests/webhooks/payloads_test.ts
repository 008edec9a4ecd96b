import { assertEquals } from "@std/assert";
import { parseAmount, ZERO } from "../../ledger/money/amount.ts";
import {
  type DepositConfirmed,
  depositConfirmedPayload,
  depositFailedPayload,
  transactionSettledPayload,
  withdrawalConfirmedPayload,
  withdrawalFailedPayload,
} from "../../webhooks/events.ts";
import { amount } from "../support/books.ts";

const DEPOSIT: DepositConfirmed = {
  eventId: "evt_1",
  depositId: "dep_1",
  amount: amount("100"),
  currency: "USDT",
  network: "TRX",
  identifier: "mer_1_customer",
  txHash: "ab",
  referenceId: "order",
  address: "TX",
  isTopUp: false,
  commission: amount("1"),
  commissionRate: "0.01",
  activationFee: amount("0.5"),
  flatFee: ZERO,
  receivable: amount("98.5"),
};

Deno.test("deposit.confirmed has the fields of the interface in their order", () => {
  assertEquals(
    depositConfirmedPayload(DEPOSIT),
    '{"type":"deposit","depositId":"dep_1","amount":"100","currency":"USDT","network":"TRX","status":"confirmed",' +
      '"identifier":"mer_1_customer","txHash":"ab","referenceId":"order","address":"TX",' +
      '"isMerchantDirectDeposit":false,"feeCharges":{"amount":"1","percentage":"0.01",' +
      '"type":"HYBRID","activationFee":{"amount":"0.5","charged":true}},' +
      '"receivableAmount":"98.5","eventId":"evt_1"}',
  );
});

Deno.test("feeCharges of a deposit names what was charged", () => {
  const charges = (fields: Partial<DepositConfirmed>) =>
    JSON.parse(depositConfirmedPayload({ ...DEPOSIT, ...fields })).feeCharges;
  assertEquals(charges({ activationFee: ZERO }), {
    amount: "1",
    percentage: "0.01",
    type: "PERCENTAGE",
    activationFee: { amount: "0", charged: false },
  });
  assertEquals(charges({ commission: ZERO, commissionRate: "0" }).type, "FIXED_AMOUNT");
  assertEquals(charges({ commission: ZERO, activationFee: ZERO }).type, "NONE");
  assertEquals(
    charges({ isTopUp: true, flatFee: parseAmount("1")!, commission: ZERO, activationFee: ZERO }),
    {
      amount: "1",
      percentage: "0",
      type: "FIXED_AMOUNT",
      activationFee: { amount: "0", charged: false },
    },
  );
});

Deno.test("a value that does not exist is null, and its key is there", () => {
  const text = depositConfirmedPayload({
    ...DEPOSIT,
    identifier: null,
    txHash: null,
    referenceId: null,
    address: null,
  });
  const { identifier, txHash, referenceId, address } = JSON.parse(text);
  assertEquals([identifier, txHash, referenceId, address], [null, null, null, null]);
});

Deno.test("deposit.failed tells the reason", () => {
  const { eventId, depositId, currency, network, identifier, txHash, referenceId, address } =
    DEPOSIT;
  assertEquals(
    depositFailedPayload({
      eventId,
      depositId,
      amount: DEPOSIT.amount,
      currency,
      network,
      identifier,
      reason: 'expired "x"',
      txHash,
      referenceId,
      address,
    }),
    '{"type":"deposit","depositId":"dep_1","amount":"100","currency":"USDT","network":"TRX",' +
      '"identifier":"mer_1_customer","status":"failed","reason":"expired \\"x\\"","txHash":"ab",' +
      '"referenceId":"order","address":"TX","eventId":"evt_1"}',
  );
});

const WITHDRAWAL = {
  eventId: "evt_2",
  withdrawalId: "wd_1",
  amount: amount("50"),
  currency: "USDT",
  network: "TRX",
  txHash: "cd",
  referenceId: "payout-1",
  address: "TY",
} as const;

Deno.test("withdrawal.confirmed carries the merchant's reference and what was charged", () => {
  assertEquals(
    withdrawalConfirmedPayload({
      ...WITHDRAWAL,
      baseFee: amount("1"),
      markupAmount: amount("0.1"),
      markupRate: "0.002",
      networkFee: amount("2"),
    }),
    '{"type":"withdrawal","withdrawalId":"wd_1","amount":"50","currency":"USDT","network":"TRX",' +
      '"status":"confirmed","txHash":"cd","referenceId":"payout-1","address":"TY",' +
      '"identifier":"payout-1","feeCharges":{"amount":"1.1","percentage":"0.002","type":"HYBRID",' +
      '"networkFee":"2"},"receivableAmount":"48.9","eventId":"evt_2"}',
  );
  const free = JSON.parse(withdrawalConfirmedPayload({
    ...WITHDRAWAL,
    amount: amount("1"),
    baseFee: amount("3"),
    markupAmount: ZERO,
    markupRate: "0",
    networkFee: ZERO,
  }));
  assertEquals(free.feeCharges.type, "FIXED_AMOUNT");
  assertEquals(free.receivableAmount, "0");
  const none = JSON.parse(withdrawalConfirmedPayload({
    ...WITHDRAWAL,
    referenceId: null,
    baseFee: ZERO,
    markupAmount: ZERO,
    markupRate: "0",
    networkFee: amount("1"),
  }));
  assertEquals(none.feeCharges, { amount: "0", percentage: "0", type: "NONE", networkFee: "1" });
  assertEquals([none.referenceId, none.identifier], [null, null]);
});

Deno.test("withdrawal.failed and the transaction events have their documented fields", () => {
  assertEquals(
    withdrawalFailedPayload({ ...WITHDRAWAL, txHash: null, reason: "Cancelled" }),
    '{"type":"withdrawal","withdrawalId":"wd_1","amount":"50","currency":"USDT","network":"TRX",' +
      '"status":"failed","reason":"Cancelled","txHash":null,"referenceId":"payout-1",' +
      '"address":"TY","identifier":"payout-1","eventId":"evt_2"}',
  );
  assertEquals(
    transactionSettledPayload({
      eventId: "evt_3",
      transactionId: "txn_1",
      transactionType: "WITHDRAWAL",
      amount: amount("0"),
      fee: amount("2"),
      currency: "USDT",
      network: "TRX",
      status: "failed",
      txHash: null,
      referenceId: null,
      balanceAfter: amount("7.25"),
      createdAt: 0,
    }),
    '{"type":"transaction","transactionId":"txn_1","transactionType":"WITHDRAWAL","amount":"0",' +
      '"fee":"2","currency":"USDT","network":"TRX","status":"failed","txHash":null,' +
      '"referenceId":null,"balanceAfter":"7.25","createdAt":"1970-01-01T00:00:00.000Z",' +
      '"eventId":"evt_3"}',
  );
});
