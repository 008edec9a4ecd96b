/**
 * The table of all routes.
 *
 * @module
 */

import { ADMIN_OPERATIONS } from "./admin_routes.ts";
import { getBalance } from "./statements/balance.ts";
import { claimDeposit } from "./deposits/claim_deposit.ts";
import { createDepositAddress, getDepositAddresses } from "./deposits/deposit_address.ts";
import { getCharges } from "./statements/charges.ts";
import { createDeposit } from "./deposits/create_deposit.ts";
import { getDepositPageStatus } from "./deposits/deposit_page_status.ts";
import { getDepositPage, getDepositPageOfToken } from "./hosted_page/deposit_page.tsx";
import { createDepositUrl, getDepositUrls } from "./deposits/deposit_url.ts";
import { getDeposits } from "./deposits/deposits.ts";
import { getEarnings } from "./statements/earnings.ts";
import { getExchangeRates } from "./statements/exchange_rates.ts";
import { healthz, metrics, readyz } from "./operations/health.ts";
import { getMerchant, updateMerchant } from "./merchants/merchants.ts";
import { referenceRoutes } from "./openapi/reference_routes.ts";
import { redeliverMerchantWebhooks, redeliverWebhooks } from "./callbacks/redeliver_range.ts";
import type { Route } from "./http/route.ts";
import {
  createSettlementAddress,
  deleteSettlementAddress,
  getSettlementAddresses,
} from "./payouts/settlement_addresses.ts";
import { cancelSettlement, createSettlement, getSettlements } from "./payouts/settlements.ts";
import { getTopUpAddress } from "./deposits/top_up_address.ts";
import { getTransactions } from "./statements/transactions.ts";
import { getWebhookDeliveries, redeliverWebhook } from "./callbacks/webhook_deliveries.ts";
import { getWebhookStatus, resumeWebhook } from "./callbacks/webhook_endpoint.ts";
import { rotateWebhookSecret, testWebhook } from "./callbacks/webhook_settings.ts";
import { cancelWithdrawal, createWithdrawal, getWithdrawals } from "./payouts/withdrawals.ts";

const REFERENCE = referenceRoutes(() => OPERATIONS);

/** What merchants and administrators call, each under its operation id. */
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

/** What operators' tools call, each under its operation id. */
const OPS_OPERATIONS = { healthz, readyz, metrics };

/** Every endpoint there is, by operation id. */
export const OPERATIONS: Readonly<Record<string, Route>> = {
  ...MERCHANT_OPERATIONS,
  ...OPS_OPERATIONS,
};

/** What merchants and administrators call. */
export const MERCHANT_ROUTES: readonly Route[] = Object.values(MERCHANT_OPERATIONS);

/** What operators' tools call. */
export const OPS_ROUTES: readonly Route[] = Object.values(OPS_OPERATIONS);

/** Every endpoint there is. */
export const ROUTES: readonly Route[] = Object.values(OPERATIONS);

/** The routes but those of the API reference, for services that do not show it. */
export function withoutReference(routes: readonly Route[]): readonly Route[] {
  const reference = new Set<Route>(Object.values(REFERENCE));
  return routes.filter((route) => !reference.has(route));
}
