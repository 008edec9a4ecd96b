/**
 * A merchant's account in memory, for decisions without a database.
 *
 * @module
 */

import type { MerchantState } from "../../../actors/merchant/state.ts";
import { ZERO } from "../../../ledger/money/amount.ts";
import type { BatchRecords } from "../../../ledger/journal/read_records.ts";
import type { Settings } from "../../../ledger/journal/read_settings.ts";
import { pairKey } from "../../../ledger/money/pair.ts";
import { amount } from "../../support/books.ts";

const PAIR = pairKey("USDT", "TRX");

/** One pair that is open, without fees. */
export const SETTINGS: Settings = {
  epoch: "1",
  fees: { enabled: false, baseFee: ZERO, markupRate: "0" },
  settlementThresholds: new Map(),
  pairs: new Map([[PAIR, {
    currency: "USDT",
    network: "TRX",
    depositsEnabled: true,
    withdrawalsEnabled: true,
    minWithdrawal: amount("1"),
    networkFee: ZERO,
    networkFeeMode: "fixed",
  }]]),
};

/** No record is read. */
export const NO_RECORDS: BatchRecords = {
  withdrawals: [],
  deposits: [],
  addresses: [],
  transactions: [],
  settlements: [],
  whitelist: [],
  ingested: [],
  holders: [],
  ofAnother: [],
  outgoing: [],
};

/** A merchant with some USDT on TRX. */
export function merchant(merchantId: string, available: string): MerchantState {
  return {
    merchant: {
      merchantId,
      slot: 0,
      status: "ACTIVE",
      name: "Test",
      depositCommissionRate: "0",
      directDepositFee: ZERO,
      webhookUrl: null,
      webhookSecret: "whsec_dGVzdA==",
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
      createdAt: 0,
    },
    version: 1,
    lastCommit: "1",
    depositSeq: 0,
    withdrawalSeq: 0,
    transactionSeq: 0,
    chargeSeq: 0,
    settlementSeq: 0,
    lastAt: 0,
    balances: new Map([[PAIR, { available: amount(available), pending: ZERO, reserved: ZERO }]]),
  };
}
