/**
 * Installations with rules of approvals, and what administrators do in them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { hashApiKey, mintApiKey } from "../../api/http/key_ring.ts";
import { PERMISSIONS } from "../../api/http/permission.ts";
import { insertAnotherAdminKey } from "../../ledger/api_key_changes.ts";
import { storeDuties } from "../../ledger/duties.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import { type TestApi, testApi } from "./api.ts";
import { SOMEWHERE } from "./books.ts";

/** The answer of a refusal, as {@linkcode confirm} and {@linkcode approve} tell it. */
export const NOT_YOURS = [403, "Insufficient permissions"];

/** An installation with these rules, in the service and in its database. */
export async function installation(duties: Duties): Promise<TestApi> {
  const api = await testApi({ duties });
  assertEquals(await storeDuties(api.sql, duties, "aud_duties"), "stored");
  await api.sql`UPDATE book.settlement_threshold SET amount = 10`;
  return api;
}

/** A person of its own, as `deno task admin bootstrap another` makes one. */
export async function bootstrap(
  api: TestApi,
): Promise<{ readonly id: string; readonly key: string }> {
  const [id, key] = [newId("key"), mintApiKey("development")];
  await insertAnotherAdminKey(api.sql, {
    id,
    merchantId: null,
    administrator: id,
    role: "ADMIN",
    permissions: PERMISSIONS,
    label: "administrator",
    ipAllowlist: null,
    expiresAt: null,
    createdAt: Date.now(),
    hash: hashApiKey(key),
  }, newId("aud"));
  return { id, key };
}

/** The id of a key. */
export async function keyIdOf(api: TestApi, key: string): Promise<string> {
  const [row] = await api.sql`SELECT id FROM hub.api_key WHERE hash = decode(${
    hashApiKey(key)
  }, 'hex')`;
  return row?.id;
}

/** A key that another key makes over HTTP. */
export async function issue(
  api: TestApi,
  by: string,
  path: string,
  permissions: readonly string[],
): Promise<string> {
  const { status, body } = await api.call("POST", path, {
    key: by,
    body: { label: "made", permissions },
  });
  assertEquals(status, 201, JSON.stringify(body));
  return body.apiKey;
}

/** Books a deposit by hand. */
export async function book(api: TestApi, key: string, amount: string): Promise<string> {
  const { status, body } = await api.call("POST", "/api/deposits", {
    key,
    body: { amount, currency: "USDT", network: "TRX", source: "bank" },
  });
  assertEquals(status, 201);
  return body.id;
}

/** Confirms a deposit by hand: what was answered. */
export async function confirm(api: TestApi, key: string, id: string) {
  const { status, body } = await api.call("POST", `/api/admin/deposits/${id}/confirm`, { key });
  return [status, body.status ?? body.error];
}

/** Approves a settlement: what was answered. */
export async function approve(api: TestApi, key: string, id: string) {
  const { status, body } = await api.call("POST", `/api/admin/settlements/${id}/approve`, { key });
  return [status, body.status ?? body.error];
}

/** A merchant with an active address to settle to. */
export async function settler(api: TestApi, funds = "1000") {
  const merchant = await api.addMerchant(funds);
  await api.sql`
    INSERT INTO book.settlement_address (id, merchant_id, network, address, label, active, created_at)
    VALUES (${`adr_${merchant.id}`}, ${merchant.id}, 'TRX', ${SOMEWHERE}, 'cold', true, now())`;
  return merchant;
}
