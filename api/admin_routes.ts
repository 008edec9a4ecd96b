/**
 * What administrators and resellers call, each under its operation id.
 *
 * @module
 */

import {
  activateSettlementAddress,
  deactivateSettlementAddress,
  getWhitelist,
} from "./payouts/activate_settlement_addresses.ts";
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
import {
  approveSettlement,
  approveWithdrawal,
  getApprovals,
  rejectSettlement,
  rejectWithdrawal,
} from "./payouts/approvals.ts";
import { acknowledgeInboxRow, getAside, retryInboxRow } from "./operations/aside.ts";
import { discardInboxRow } from "./deposits/discard_unproven.ts";
import { getAudit } from "./operations/audit.ts";
import { getChains } from "./operations/chains.ts";
import {
  cancelDeposit,
  confirmDeposit,
  failDeposit,
  getOpenDeposits,
} from "./deposits/decide_deposits.ts";
import { getPairs, updatePairs } from "./operations/pairs.ts";
import {
  getMerchantReseller,
  getResellerEarnings,
  getResellerMerchants,
  putMerchantReseller,
} from "./merchants/reseller_line.ts";
import { createReseller, getReseller, getResellers, putReseller } from "./merchants/resellers.ts";
import { declareHistory, endFailover, getFailover } from "./operations/failover.ts";
import { getReconciliation } from "./operations/reconcile.ts";
import { rescanChain } from "./operations/rescan.ts";
import { getSettings, updateSettings } from "./operations/settings.ts";
import { bookSpend, matchSpend, writeOffSpend } from "./operations/unknown_spends.ts";
import { settleUnexpectedSweep } from "./operations/settle_sweep.ts";
import { settleUnexpectedWithdrawal } from "./payouts/settle_withdrawal.ts";
import { getTreasury } from "./operations/treasury.ts";
import { getTreasuryCosts } from "./operations/treasury_costs.ts";
import { ingestEvent } from "./upstream/webhook_event.ts";
import {
  getWithdrawalFees,
  setWithdrawalFees,
  testWithdrawalFees,
} from "./payouts/withdrawal_fees.ts";
import { writeOffTransfers } from "./operations/write_off_sweep.ts";

/** Operations of administrators and resellers. */
export const ADMIN_OPERATIONS = {
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
  getAside,
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
