/**
 * The people of the contract's stories: a merchant with an address, a reseller, an administrator.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { fund, SOMEWHERE } from "../../support/books.ts";
import type { Called, TestApi } from "../../support/api.ts";

/** A payout of 10 USDT on TRX to an address outside the service. */
export const PAYOUT = {
  amount: "10",
  currency: "USDT",
  network: "TRX",
  destination: SOMEWHERE,
} as const;

/** A settlement of 10 USDT on TRX to {@linkcode SOMEWHERE}. */
export const SETTLEMENT = {
  currency: "USDT",
  requestedAmount: "10",
  destinationAddress: SOMEWHERE,
  destinationNetwork: "TRX",
} as const;

/** A merchant and what it does. */
export interface Shop {
  readonly id: string;
  readonly key: string;
  get(path: string): Promise<Called>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Called>;
  /** `available` and `pending` of USDT on TRX. */
  balance(): Promise<readonly [string, string]>;
  /** Status and id of the newest row of a list. */
  newest(list: "deposits" | "withdrawals" | "settlements" | "transactions"): Promise<NewestRow>;
}

/** The newest row of a list, as tests compare it. */
export interface NewestRow {
  readonly id: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

/** Acts for a merchant with a key. */
export function shopOf(api: TestApi, id: string, key: string): Shop {
  const get = (path: string) => api.call("GET", path, { key });
  return {
    id,
    key,
    get,
    post: (path, body, headers) =>
      api.call("POST", path, {
        key,
        ...(body === undefined ? {} : { body }),
        ...(headers === undefined ? {} : { headers }),
      }),
    balance: async () => {
      const { body } = await get("/api/balance?currency=USDT&network=TRX");
      return [body.available, body.pending];
    },
    newest: async (list) => (await get(`/api/${list}?limit=1`)).body[list][0],
  };
}

/** A new merchant; `rate` is its deposit commission. */
export async function openShop(
  api: TestApi,
  options: { readonly funds?: string; readonly rate?: string; readonly webhookUrl?: string } = {},
): Promise<Shop> {
  const { id, key } = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET deposit_commission_rate = ${options.rate ?? "0"},
      webhook_url = ${options.webhookUrl ?? "https://shop.example/hook"}, webhook_enabled = true
    WHERE merchant_id = ${id}`;
  if (options.funds !== undefined) await fund(api.sql, api.journal, id, options.funds);
  return shopOf(api, id, key);
}

/** Gives a customer of the merchant an address. */
export async function issueAddress(shop: Shop, identifier = "customer-1", referenceId?: string) {
  const { status, body } = await shop.post("/api/deposit-address", {
    network: "TRX",
    identifier,
    referenceId,
  });
  assertEquals(status, 201);
  return body.address as string;
}

/** A key of an administrator, ready to post. */
export async function openOffice(api: TestApi) {
  const key = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  return {
    key,
    get: (path: string) => api.call("GET", path, { key }),
    post: (path: string, body: unknown = {}) => api.call("POST", path, { key, body }),
    put: (path: string, body: unknown) => api.call("PUT", path, { key, body }),
    patch: (path: string, body: unknown) => api.call("PATCH", path, { key, body }),
  };
}

/** A reseller's account with a key of role RESELLER, registered for {@linkcode SOMEWHERE}. */
export async function openReseller(api: TestApi, funds: string) {
  const shop = await openShop(api, { funds });
  const office = await openOffice(api);
  const { status, body } = await office.post("/api/resellers", {
    name: "Line",
    withdrawalAddress: SOMEWHERE,
    network: "TRX",
    merchantId: shop.id,
  });
  assertEquals(status, 201);
  const key = await api.addKey(shop.id, { role: "RESELLER" });
  return { ...shopOf(api, shop.id, key), resellerId: body.id as string, office };
}

/** Puts {@linkcode SOMEWHERE} on a merchant's whitelist, active. */
export async function whitelist(api: TestApi, shop: Shop): Promise<string> {
  const { body } = await shop.post("/api/settlement-addresses", {
    address: SOMEWHERE,
    network: "TRX",
    label: "Company wallet",
  });
  const office = await openOffice(api);
  const { status } = await office.post(`/api/admin/settlement-addresses/${body.id}/activate`);
  assertEquals(status, 200);
  return body.id;
}
