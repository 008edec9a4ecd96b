/**
 * What administrators read.
 *
 * @module
 */

import { z } from "zod";
import {
  DEPOSIT_PAGE_EXAMPLE,
  DEPOSIT_STATUSES,
  depositSchema,
} from "../deposits/deposit_schema.ts";
import { FEE_INFO_EXAMPLE, feeInfoSchema } from "../http/fee_info.ts";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  fraction,
  id,
  madeBy,
  onePage,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";
import {
  SETTLEMENT_ADDRESS_EXAMPLE,
  settlementAddressSchema,
} from "../payouts/settlement_schema.ts";

/** Answer of the approval queue. */
export const approvalPage = z.object({
  approvals: z.array(
    z.object({
      type: z.enum(["withdrawal", "settlement"]),
      id: z.string(),
      merchantId: id("mer"),
      merchantName: z.string(),
      currency: shownCurrency,
      network: shownNetwork,
      amount: decimal,
      totalFees: decimal,
      destination: address,
      status: z.enum(["PENDING_APPROVAL", "APPROVAL_REQUIRED"]),
      createdAt: timestamp,
      createdBy: madeBy,
    }).meta({ id: "Approval" }),
  ),
  pagination: paginationSchema,
});

/** What the reference shows for the approval queue. */
export const APPROVAL_PAGE_EXAMPLE = {
  approvals: [{
    type: "withdrawal",
    id: exampleId("wd"),
    merchantId: exampleId("mer"),
    merchantName: "Example Reseller",
    currency: "USDT",
    network: "TRX",
    amount: "100",
    totalFees: "2",
    destination: EXAMPLE.address,
    status: "PENDING_APPROVAL",
    createdAt: EXAMPLE.time,
    createdBy: exampleId("key"),
  }],
  pagination: onePage(20),
};

/** Answer to a decision about a deposit. */
export const depositDecided = z.object({
  success: z.literal(true),
  depositId: id("dep"),
  status: z.enum(DEPOSIT_STATUSES),
  message: z.string().optional().meta({ description: "Present while another has to confirm it" }),
});

/** What the reference shows for a decided deposit. */
export const DEPOSIT_DECIDED_EXAMPLE = {
  success: true,
  depositId: exampleId("dep"),
  status: "CONFIRMED",
};

/** A whitelisted address as administrators see it. */
export const settlementAddressOfMerchant = settlementAddressSchema.extend({
  merchantId: id("mer"),
}).meta({ id: "SettlementAddressOfMerchant" });

/** What the reference shows for it. */
export const SETTLEMENT_ADDRESS_OF_MERCHANT_EXAMPLE = {
  ...SETTLEMENT_ADDRESS_EXAMPLE,
  active: true,
  merchantId: exampleId("mer"),
};

/** Answer of the list of all merchants' settlement addresses. */
export const whitelistPage = z.object({
  settlementAddresses: z.array(settlementAddressOfMerchant),
  pagination: paginationSchema,
});

/** What the reference shows for it. */
export const WHITELIST_PAGE_EXAMPLE = {
  settlementAddresses: [SETTLEMENT_ADDRESS_OF_MERCHANT_EXAMPLE],
  pagination: onePage(20),
};

/** Answer of the deposits that wait for a decision. */
export const openDepositPage = z.object({
  deposits: z.array(
    depositSchema.extend({
      merchantId: id("mer"),
      confirmedBy: madeBy.meta({
        description: "The first of two administrators, while another has to confirm it as well",
      }),
    }).meta({ id: "DepositOfMerchant" }),
  ),
  pagination: paginationSchema,
});

/** What the reference shows for them. */
export const OPEN_DEPOSIT_PAGE_EXAMPLE = {
  deposits: DEPOSIT_PAGE_EXAMPLE.deposits.map((deposit) => ({
    ...deposit,
    merchantId: exampleId("mer"),
    status: "PENDING",
    source: "bank transfer",
    clearedAt: null,
    fee: "0",
    commission: "0",
    createdBy: exampleId("key"),
    confirmedBy: null,
  })),
  pagination: onePage(20),
};

/** Fee settings of withdrawals. */
export const withdrawalFeeSettings = z.object({
  baseFee: decimal,
  markupRate: fraction,
  enabled: z.boolean(),
}).meta({ id: "WithdrawalFeeSettings" });

/** What the reference shows for them. */
export const WITHDRAWAL_FEE_SETTINGS_EXAMPLE = { baseFee: "1", markupRate: "0", enabled: true };

/** Answer of a fee calculation. */
export const feeCalculation = z.object({ feeInfo: feeInfoSchema });

/** What the reference shows for it. */
export const FEE_CALCULATION_EXAMPLE = { feeInfo: FEE_INFO_EXAMPLE };

const pair = {
  currency: shownCurrency,
  network: shownNetwork,
  depositsEnabled: z.boolean(),
  withdrawalsEnabled: z.boolean(),
  minWithdrawal: decimal,
  networkFee: decimal.meta({
    description: "The fixed fee; of a dynamic pair what is charged while nothing is estimated",
  }),
  networkFeeMode: z.enum(["fixed", "dynamic"]),
  quotedNetworkFee: decimal.meta({ description: "What a payout is quoted at the moment" }),
  estimate: z.object({
    networkFee: decimal.nullable().meta({ description: "What `dynamic` charges; null: `missing`" }),
    floor: decimal.meta({ description: "The least that `dynamic` charges" }),
    costToHolder: decimal.nullable().meta({
      description: "In the network's coin, to an address that holds the token",
    }),
    costToNewHolder: decimal.nullable().meta({ description: "To one that does not" }),
    estimatedAt: timestamp.nullable(),
    coinRate: decimal.nullable().meta({ description: "Units of the currency per coin" }),
    missing: z.string().nullable().meta({ description: "Why there is no estimate" }),
  }).nullable().meta({ description: "Null where the service has no node of the network" }),
  connected: z.boolean().meta({ description: "Whether the service has a node of the network" }),
};

/** A pair after a change. */
export const pairSettings = z.object(pair).meta({ id: "PairSettings" });

/** Answer of the list of pairs. */
export const pairList = z.object({
  pairs: z.array(z.object({
    ...pair,
    unclaimed: z.int().min(0).meta({ description: "Transfers set aside while it was disabled" }),
  })),
});

const PAIR = {
  currency: "USDT",
  network: "TRX",
  depositsEnabled: true,
  withdrawalsEnabled: true,
  minWithdrawal: "1",
  networkFee: "1",
  networkFeeMode: "dynamic",
  quotedNetworkFee: "4.42",
  estimate: {
    networkFee: "4.42",
    floor: "0.1",
    costToHolder: "6.7785",
    costToNewHolder: "13.3785",
    estimatedAt: EXAMPLE.time,
    coinRate: "0.3",
    missing: null,
  },
  connected: true,
};

/** What the reference shows for a pair. */
export const PAIR_EXAMPLE = PAIR;

/** What the reference shows for the list of pairs. */
export const PAIR_LIST_EXAMPLE = { pairs: [{ ...PAIR, unclaimed: 0 }] };

/** Settings that concern all merchants. */
export const globalSettings = z.object({
  settlementThresholds: z.object({ USDT: decimal, USDC: decimal }).meta({
    description: "Settlements of this amount and above wait for approval",
  }),
}).meta({ id: "Settings" });

/** What the reference shows for them. */
export const SETTINGS_EXAMPLE = { settlementThresholds: { USDT: "10000", USDC: "10000" } };

/** Answer of the audit. */
export const auditPage = z.object({
  audit: z.array(
    z.object({
      id: id("aud"),
      merchantId: id("mer").nullable(),
      actor: z.string().meta({ description: "Id of the key that was used" }),
      actorLabel: z.string().nullable(),
      action: z.string(),
      subject: z.string(),
      before: z.unknown(),
      after: z.unknown(),
      refused: z.string().nullable().meta({ description: "Why it was refused; null: done" }),
      requestId: z.string().nullable(),
      createdAt: timestamp,
    }).meta({ id: "AuditLine" }),
  ),
  pagination: paginationSchema,
});

/** What the reference shows for the audit. */
export const AUDIT_PAGE_EXAMPLE = {
  audit: [{
    id: exampleId("aud"),
    merchantId: exampleId("mer"),
    actor: exampleId("key"),
    actorLabel: "operations",
    action: "withdrawal.approve",
    subject: exampleId("wd"),
    before: { status: "PENDING_APPROVAL" },
    after: { status: "PENDING" },
    refused: null,
    requestId: "req_0198a2c47d107c3e9b523f6e1c0d8a41",
    createdAt: EXAMPLE.time,
  }],
  pagination: onePage(20),
};
