/**
 * The table of all routes.
 *
 * @module
 */

import { ADMIN_OPERATIONS } from "./admin_operations.ts";
import { getBalance } from "./balance.ts";
import { claimDeposit } from "./claim_deposit.ts";
import { createDepositAddress, getDepositAddresses } from "./deposit_address.ts";
import { getCharges } from "./charges.ts";
import { createDeposit } from "./create_deposit.ts";
import { getDepositPageStatus } from "./deposit_page_status.ts";
import { getDepositPage, getDepositPageOfToken } from "./hosted_page/deposit_page.tsx";
import { createDepositUrl, getDepositUrls } from "./deposit_url.ts";
import { getDeposits } from "./deposits.ts";
import { getEarnings } from "./earnings.ts";
import { getExchangeRates } from "./exchange_rates.ts";
import { healthz, metrics, readyz } from "./health.ts";
import { getMerchant, updateMerchant } from "./merchants.ts";
import { referenceRoutes } from "./openapi/reference_routes.ts";
import { redeliverMerchantWebhooks, redeliverWebhooks } from "./redeliver_range.ts";
import type { Route } from "./route.ts";
import {
  createSettlementAddress,
  deleteSettlementAddress,
  getSettlementAddresses,
} from "./settlement_addresses.ts";
import { cancelSettlement, createSettlement, getSettlements } from "./settlements.ts";
import { getTopUpAddress } from "./top_up_address.ts";
import { getTransactions } from "./transactions.ts";
import { getWebhookDeliveries, redeliverWebhook } from "./webhook_deliveries.ts";
import { getWebhookStatus, resumeWebhook } from "./webhook_endpoint.ts";
import { rotateWebhookSecret, testWebhook } from "./webhook_settings.ts";
import { cancelWithdrawal, createWithdrawal, getWithdrawals } from "./withdrawals.ts";

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
