/**
 * The table of all routes.
 *
 * @module
 */

import { getBalance } from "./balance.ts";
import { createDepositAddress, getDepositAddresses } from "./deposit_address.ts";
import { getDeposits } from "./deposits.ts";
import { healthz, metrics, readyz } from "./health.ts";
import { getMerchant, updateMerchant } from "./merchants.ts";
import type { Route } from "./route.ts";
import { getTransactions } from "./transactions.ts";
import { createWithdrawal, getWithdrawals } from "./withdrawals.ts";

/** What merchants and administrators call. */
export const MERCHANT_ROUTES: readonly Route[] = [
  createWithdrawal,
  getWithdrawals,
  createDepositAddress,
  getDepositAddresses,
  getDeposits,
  getBalance,
  getTransactions,
  getMerchant,
  updateMerchant,
];

/** What operators' tools call. */
export const OPS_ROUTES: readonly Route[] = [healthz, readyz, metrics];

/** Every endpoint there is. */
export const ROUTES: readonly Route[] = [...MERCHANT_ROUTES, ...OPS_ROUTES];
