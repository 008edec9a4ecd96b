/**
 * Balances as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import { decimal, EXAMPLE, shownCurrency, shownNetwork, timestamp } from "../http/formats.ts";

const held = {
  currency: shownCurrency,
  network: shownNetwork,
  available: decimal,
  pending: decimal,
};

const lastUpdatedAt = timestamp.nullable().meta({ description: "Null where nothing ever moved" });

/** Answer for one pair. */
export const balanceRow = z.object({ ...held, lastUpdatedAt }).meta({ id: "Balance" });

/** Answer for several pairs. */
export const balanceList = z.object({
  balances: z.array(
    z.object({
      ...held,
      withdrawalEnabled: z.boolean(),
      networkFee: decimal.nullable().meta({
        description: "What a withdrawal costs on this network now; null when they are disabled",
      }),
      maxWithdrawable: decimal.meta({ description: "Available after the network fee" }),
      lastUpdatedAt,
    }).meta({ id: "BalanceOfPair" }),
  ),
}).meta({ id: "BalanceList" });

/** Answer of the endpoint. */
export const balanceAnswer = z.union([balanceRow, balanceList]);

/** What the reference shows for one pair. */
export const BALANCE_EXAMPLE = {
  currency: "USDT",
  network: "TRX",
  available: "250.5",
  pending: "0",
  lastUpdatedAt: EXAMPLE.time,
};

/** What the reference shows for several pairs. */
export const BALANCE_LIST_EXAMPLE = {
  balances: [{
    currency: "USDT",
    network: "TRX",
    available: "250.5",
    pending: "0",
    withdrawalEnabled: true,
    networkFee: "1",
    maxWithdrawable: "249.5",
    lastUpdatedAt: EXAMPLE.time,
  }],
};
