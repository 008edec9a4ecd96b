import type { Amount } from "../amount.ts";
import type { Rate } from "../fees.ts";
import type { Currency, Network } from "../pair.ts";
import type { Sql } from "../database/connect.ts";
import { table } from "../table.ts";

/** A hosted payment page: an address, a time limit and, where there is one, a quote. */
export interface SessionRow {
  readonly id: string;
  /** With the id and the service's secret it makes the token; only the token's hash is kept. */
  readonly nonce: string;
  readonly merchantId: string;
  readonly addressId: string;
  readonly address: string;
  readonly network: Network;
  /** The merchant's own identifier of the customer, without the merchant id. */
  readonly identifier: string;
  readonly referenceId: string | null;
  readonly requestedAmount: Amount | null;
  readonly requestedCurrency: string | null;
  /** Fiat units per unit, as of the creation. */
  readonly exchangeRate: Rate | null;
  /** The token that the page asks for. */
  readonly currency: Currency;
  /** What the customer is asked to pay, in 8 decimals. */
  readonly amount: Amount | null;
  /** Display hint of the merchant's. */
  readonly token: string | null;
  readonly expiresAt: number;
  readonly createdAt: number;
}

/** How sessions are read. */
export const sessionTable = table<SessionRow>("hub.session", {
  id: "text",
  nonce: "text",
  merchantId: "text",
  addressId: "text",
  address: "text",
  network: "text",
  identifier: "text",
  referenceId: "text",
  requestedAmount: "amount",
  requestedCurrency: "text",
  exchangeRate: "rate",
  currency: "text",
  amount: "amount",
  token: "text",
  expiresAt: "time",
  createdAt: "time",
});

/** Column `wallet_index` of a page `s`: the derivation index of its address, null where nothing watches it. */
export function indexOfSession(sql: Sql) {
  return sql`(
    SELECT a.wallet_index FROM hub.address a
    WHERE a.address = s.address AND a.network = s.network) AS wallet_index`;
}
