/**
 * The table of all routes, each under its operation id.
 *
 * @module
 */

import {
  getWebhookDeliveries,
  redeliverMerchantWebhooks,
  redeliverWebhook,
  redeliverWebhooks,
} from "./callbacks/webhook_deliveries.ts";
import {
  getFailingEndpoints,
  getWebhookStatus,
  resumeWebhook,
} from "./callbacks/webhook_endpoint.ts";
import { rotateWebhookSecret, testWebhook } from "./callbacks/webhook_settings.ts";
import { claimDeposit } from "./deposits/claim_deposit.ts";
import { createDeposit } from "./deposits/create_deposit.ts";
import {
  cancelDeposit,
  confirmDeposit,
  failDeposit,
  getOpenDeposits,
} from "./deposits/decide_deposits.ts";
import {
  createDepositAddress,
  getDepositAddresses,
  getTopUpAddress,
} from "./deposits/deposit_address.ts";
import { createDepositUrl, getDepositUrls } from "./deposits/deposit_url.ts";
import { getDeposits } from "./deposits/deposits.ts";
import { getDepositPage, getDepositPageOfToken } from "./hosted_page/deposit_page.tsx";
import { getDepositPageStatus } from "./hosted_page/status.ts";
import type { Route } from "./http/route.ts";
import { createMerchant, getMerchants } from "./merchants/admin_merchants.ts";
import {
  approveApiKey,
  createAdminKey,
  createApiKey,
  getAdminKeys,
  getApiKeys,
  revokeAdminKey,
  revokeApiKey,
  rotateAdminKey,
  rotateApiKey,
} from "./merchants/api_keys.ts";
import { getMerchant, updateMerchant } from "./merchants/merchants.ts";
import {
  getMerchantReseller,
  getResellerEarnings,
  getResellerMerchants,
  putMerchantReseller,
} from "./merchants/reseller_line.ts";
import { createReseller, getReseller, getResellers, putReseller } from "./merchants/resellers.ts";
import { referenceRoutes } from "./openapi/reference_routes.ts";
import { getAudit } from "./operations/audit.ts";
import { getChains, rescanChain } from "./operations/chains.ts";
import { declareHistory, endFailover, getFailover } from "./operations/failover.ts";
import { healthz, metrics, readyz } from "./operations/health.ts";
import {
  acknowledgeInboxRow,
  discardInboxRow,
  getQuarantine,
  retryInboxRow,
} from "./operations/inbox.ts";
import { getReconciliation } from "./operations/reconcile.ts";
import { getPairs, getSettings, updatePairs, updateSettings } from "./operations/settings.ts";
import { settleUnexpectedSweep, writeOffTransfers } from "./operations/sweeps.ts";
import {
  adoptTransaction,
  cancelTransfer,
  disownTransaction,
  showSender,
} from "./operations/lanes.ts";
import { getTreasury } from "./operations/treasury.ts";
import { getTreasuryCosts } from "./operations/treasury_costs.ts";
import { bookSpend, matchSpend, writeOffSpend } from "./operations/unknown_spends.ts";
import {
  approveSettlement,
  approveWithdrawal,
  getApprovals,
  rejectSettlement,
  rejectWithdrawal,
} from "./payouts/approvals.ts";
import { createSettlement } from "./payouts/create_settlement.ts";
import { settleUnexpectedWithdrawal } from "./payouts/settle_withdrawal.ts";
import {
  activateSettlementAddress,
  createSettlementAddress,
  deactivateSettlementAddress,
  deleteSettlementAddress,
  getSettlementAddresses,
  getWhitelist,
} from "./payouts/settlement_addresses.ts";
import { cancelSettlement, getSettlement, getSettlements } from "./payouts/settlements.ts";
import {
  getWithdrawalFees,
  setWithdrawalFees,
  testWithdrawalFees,
} from "./payouts/withdrawal_fees.ts";
import { cancelWithdrawal, createWithdrawal, getWithdrawals } from "./payouts/withdrawals.ts";
import { getBalance } from "./statements/balance.ts";
import { getCharges, getEarnings } from "./statements/charges.ts";
import { getExchangeRates } from "./statements/exchange_rates.ts";
import { getTransactions } from "./statements/transactions.ts";
import { ingestEvent } from "./upstream/webhook_event.ts";

/** Operations of administrators and resellers. */
const ADMIN_OPERATIONS = {
  getApiKeys,
  createApiKey,
  rotateApiKey,
  approveApiKey,
  revokeApiKey,
  getAdminKeys,
  createAdminKey,
  rotateAdminKey,
  revokeAdminKey,
  createMerchant,
  getMerchants,
  getApprovals,
  approveWithdrawal,
  rejectWithdrawal,
  approveSettlement,
  rejectSettlement,
  getOpenDeposits,
  confirmDeposit,
  failDeposit,
  cancelDeposit,
  getWhitelist,
  activateSettlementAddress,
  deactivateSettlementAddress,
  getWithdrawalFees,
  setWithdrawalFees,
  testWithdrawalFees,
  getPairs,
  updatePairs,
  getSettings,
  updateSettings,
  getTreasury,
  getChains,
  getReconciliation,
  getTreasuryCosts,
  showSender,
  adoptTransaction,
  disownTransaction,
  cancelTransfer,
  settleUnexpectedSweep,
  settleUnexpectedWithdrawal,
  writeOffTransfers,
  rescanChain,
  getFailover,
  declareHistory,
  endFailover,
  matchSpend,
  bookSpend,
  writeOffSpend,
  getQuarantine,
  retryInboxRow,
  acknowledgeInboxRow,
  discardInboxRow,
  ingestEvent,
  getAudit,
  getResellers,
  createReseller,
  getReseller,
  putReseller,
  getResellerMerchants,
  getResellerEarnings,
  getMerchantReseller,
  putMerchantReseller,
};

const REFERENCE = referenceRoutes(() => OPERATIONS);

/** Operations of merchants and administrators, by operation id. */
const MERCHANT_OPERATIONS = {
  createWithdrawal,
  getWithdrawals,
  cancelWithdrawal,
  createDepositAddress,
  getDepositAddresses,
  createDepositUrl,
  getDepositUrls,
  getDepositPageStatus,
  getDepositPage,
  getDepositPageOfToken,
  createDeposit,
  claimDeposit,
  getDeposits,
  getExchangeRates,
  getBalance,
  getTransactions,
  createSettlement,
  getSettlements,
  getSettlement,
  cancelSettlement,
  createSettlementAddress,
  getSettlementAddresses,
  deleteSettlementAddress,
  getWebhookDeliveries,
  redeliverWebhook,
  redeliverWebhooks,
  redeliverMerchantWebhooks,
  getWebhookStatus,
  resumeWebhook,
  getFailingEndpoints,
  testWebhook,
  rotateWebhookSecret,
  getTopUpAddress,
  getEarnings,
  getCharges,
  getMerchant,
  updateMerchant,
  ...ADMIN_OPERATIONS,
  ...REFERENCE,
};

/** Operations of operators' tools, by operation id. */
const OPS_OPERATIONS = { healthz, readyz, metrics };

/** Every endpoint there is, by operation id. */
export const OPERATIONS: Readonly<Record<string, Route>> = {
  ...MERCHANT_OPERATIONS,
  ...OPS_OPERATIONS,
};

/** Routes of merchants and administrators. */
export const MERCHANT_ROUTES: readonly Route[] = Object.values(MERCHANT_OPERATIONS);

export const OPS_ROUTES: readonly Route[] = Object.values(OPS_OPERATIONS);

export const ROUTES: readonly Route[] = Object.values(OPERATIONS);

/** The routes but those of the API reference, for services that do not show it. */
export function withoutReference(routes: readonly Route[]): readonly Route[] {
  const reference = new Set<Route>(Object.values(REFERENCE));
  return routes.filter((route) => !reference.has(route));
}
