/**
 * What administrators and resellers call, each under its operation id.
 *
 * @module
 */

import {
  activateSettlementAddress,
  deactivateSettlementAddress,
  getWhitelist,
} from "./activate_settlement_addresses.ts";
import { createMerchant, getMerchants } from "./admin_merchants.ts";
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
} from "./api_keys.ts";
import {
  approveSettlement,
  approveWithdrawal,
  getApprovals,
  rejectSettlement,
  rejectWithdrawal,
} from "./approvals.ts";
import { acknowledgeInboxRow, getAside, retryInboxRow } from "./aside.ts";
import { discardInboxRow } from "./discard_unproven.ts";
import { getAudit } from "./audit.ts";
import { getChains } from "./chains.ts";
import { cancelDeposit, confirmDeposit, failDeposit, getOpenDeposits } from "./decide_deposits.ts";
import { getPairs, updatePairs } from "./pairs.ts";
import {
  getMerchantReseller,
  getResellerEarnings,
  getResellerMerchants,
  putMerchantReseller,
} from "./reseller_line.ts";
import { createReseller, getReseller, getResellers, putReseller } from "./resellers.ts";
import { declareHistory, endFailover, getFailover } from "./failover.ts";
import { getReconciliation } from "./reconcile.ts";
import { rescanChain } from "./rescan.ts";
import { getSettings, updateSettings } from "./settings.ts";
import { bookSpend, matchSpend, writeOffSpend } from "./unknown_spends.ts";
import { settleUnexpectedSweep } from "./settle_sweep.ts";
import { settleUnexpectedWithdrawal } from "./settle_withdrawal.ts";
import { getTreasury } from "./treasury.ts";
import { getTreasuryCosts } from "./treasury_costs.ts";
import { ingestEvent } from "./webhook_event.ts";
import { getWithdrawalFees, setWithdrawalFees, testWithdrawalFees } from "./withdrawal_fees.ts";
import { writeOffTransfers } from "./write_off_sweep.ts";

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
