/**
 * Payments of merchants in every state, made by the steps that merchants, operators and chains take.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import { endPayout, pay, settled, vanish } from "../contract/support/chain.ts";
import {
  issueAddress,
  openOffice,
  openReseller,
  openShop,
  PAYOUT,
  SETTLEMENT,
  type Shop,
  whitelist,
} from "../contract/support/shop.ts";
import type { TestApi } from "../support/api.ts";
import { addTransfer, amount, fund, until } from "../support/books.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { openHook, openWebhooks } from "../support/hooks.ts";
import { placeCursor } from "../support/scan_cursor.ts";

const SIGNED_AT = Date.parse("2026-11-23T12:00:00Z");
let signatures = 0;

/** A transaction id of its own. */
export function nextTxid(): string {
  return (++signatures).toString(16).padStart(64, "d");
}

/** Signs a transfer; answers its transaction id. */
export async function sign(
  { sql }: TestApi,
  outgoingId: string,
  merchantId: string,
  expiresAt = Date.now() + 60_000,
): Promise<string> {
  const txid = nextTxid();
  const signed = { outgoingId, merchantId, network: "TRX" as const, txid, bytes: "{}", expiresAt };
  assertEquals((await commitSigned(sql, [signed])).size, 1);
  return txid;
}

/** A solid block says what became of a transaction. */
export async function end(
  { sql }: TestApi,
  txid: string,
  result: "paid" | "failed" | "unexpected",
): Promise<void> {
  const [own] = await findOwnTransactions(sql, "TRX", [txid]);
  if (own === undefined) throw new Error(`Cannot end a transaction that is not signed: ${txid}`);
  const reason = result === "paid" ? null : `the chain says: ${result}`;
  await recordOutcomes(sql, "TRX", [{ own, result, reason, height: 9, fee: amount("6") }]);
}

/** Asks for a payout; answers the withdrawal and its outgoing row. */
export async function withdraw(api: TestApi, shop: Shop, text = "10") {
  const { status, body } = await shop.post("/api/withdrawals", { ...PAYOUT, amount: text });
  assertEquals(status, 201);
  const [row] = await api.sql<{ id: string }[]>`
    SELECT id FROM book.outgoing WHERE payment_id = ${body.withdrawalId}`;
  return { withdrawalId: String(body.withdrawalId), outgoingId: row?.id ?? "" };
}

/** Callbacks that were delivered, failed, and were skipped as their endpoint is off. */
export async function makeCallbacks(api: TestApi): Promise<void> {
  await using good = openHook();
  await using bad = openHook(() => new Response("no", { status: 500 }));
  const shops: Shop[] = [];
  for (const webhookUrl of [good.url, bad.url, good.url]) {
    shops.push(await openShop(api, { webhookUrl, rate: "0.01" }));
  }
  await api.sql`
    UPDATE book.merchant SET webhook_retry_count = 0 WHERE merchant_id = ${shops[1]?.id ?? ""}`;
  await api.sql`
    UPDATE book.merchant SET webhook_enabled = false WHERE merchant_id = ${shops[2]?.id ?? ""}`;
  for (const shop of shops) await pay(api, shop.id, await issueAddress(shop), "10");
  const webhooks = openWebhooks(api.sql);
  webhooks.start();
  try {
    await until(async () => {
      const rows = await api.sql`SELECT FROM book.outbox WHERE status = 'PENDING'`;
      return rows.length === 0;
    });
  } finally {
    await webhooks.stop();
  }
}

/** Deposits: seen, final, vanished, by hand, through the page, of addresses of every kind. */
export async function makeDeposits(api: TestApi): Promise<void> {
  const shop = await openShop(api, { rate: "0.01" });
  const office = await openOffice(api);
  const address = await issueAddress(shop);
  await pay(api, shop.id, address, "100");
  await vanish(api, shop.id, await pay(api, shop.id, address, "100", { phase: "seen" }));
  await pay(api, shop.id, address, "70", { phase: "seen" });
  for (const verb of [null, "confirm", "fail", "cancel"]) {
    const { status, body } = await shop.post("/api/deposits", {
      amount: "50",
      currency: "USDT",
      network: "TRX",
      source: "bank",
    });
    assertEquals(status, 201);
    if (verb === null) continue;
    assertEquals((await office.post(`/api/admin/deposits/${body.id}/${verb}`)).status, 200);
  }
  const page = await shop.post("/api/deposit-url", { network: "TRX", identifier: "a" });
  await pay(api, shop.id, page.body.address, "5");
  // what the merchant cannot take in is quarantined
  const waiting = await openShop(api);
  const other = await issueAddress(waiting);
  await addTransfer(api.sql, waiting.id, "not an amount", { to: other });
  api.journal.wake(waiting.id);
  await until(async () => {
    const rows = await api.sql`
      SELECT FROM book.inbox WHERE merchant_id = ${waiting.id} AND quarantine IS NOT NULL`;
    return rows.length === 1;
  });
}

/** Withdrawals: waiting for approval or a signature, signed, paid, failed, cancelled; margins. */
export async function makeWithdrawals(api: TestApi): Promise<void> {
  const reseller = await openReseller(api, "200");
  const shop = await openShop(api);
  await api.sql`
    UPDATE book.merchant SET margin_rate = 0.5, margin_beneficiary = ${reseller.id}
    WHERE merchant_id = ${shop.id}`;
  await fund(api.sql, api.journal, shop.id, "500");
  await endPayout(api, (await withdraw(api, shop)).withdrawalId, "paid");
  await endPayout(api, (await withdraw(api, shop)).withdrawalId, "failed");
  const signed = await withdraw(api, shop);
  await sign(api, signed.outgoingId, shop.id);
  await withdraw(api, shop);
  const asked: string[] = [];
  for (const referenceId of ["a", "b", "c", "d"]) {
    const { status, body } = await reseller.post("/api/withdrawals", { ...PAYOUT, referenceId });
    assertEquals(status, 201);
    asked.push(body.withdrawalId);
  }
  const { office } = reseller;
  const admin = `/api/admin/withdrawals`;
  assertEquals((await office.post(`${admin}/${asked[0]}/approve`)).status, 200);
  assertEquals((await office.post(`${admin}/${asked[1]}/reject`, { reason: "no" })).status, 200);
  assertEquals((await reseller.post(`/api/withdrawals/${asked[2]}/cancel`)).status, 200);
  for (const { id } of [shop, reseller]) await settled(api, id);
}

/** Settlements below the threshold and above it, up to each of their ends. */
export async function makeSettlements(api: TestApi): Promise<void> {
  const shop = await openShop(api, { funds: "60000" });
  const office = await openOffice(api);
  await whitelist(api, shop);
  const create = async (requestedAmount: string) => {
    const { status, body } = await shop.post("/api/settlements", {
      ...SETTLEMENT,
      requestedAmount,
    });
    assertEquals(status, 201);
    return body;
  };
  await endPayout(api, (await create("10")).withdrawalId, "paid");
  await endPayout(api, (await create("10")).withdrawalId, "failed");
  const submitted = await create("10");
  const [row] = await api.sql<{ id: string }[]>`
    SELECT id FROM book.outgoing WHERE payment_id = ${submitted.withdrawalId}`;
  await sign(api, row?.id ?? "", shop.id);
  await settled(api, shop.id);
  await create("10");
  const large: string[] = [];
  for (let n = 0; n < 4; n++) large.push((await create("10000")).id);
  const admin = "/api/admin/settlements";
  assertEquals((await office.post(`${admin}/${large[0]}/approve`)).status, 200);
  assertEquals((await office.post(`${admin}/${large[1]}/reject`, { reason: "no" })).status, 200);
  assertEquals((await shop.post(`/api/settlements/${large[2]}/cancel`)).status, 200);
}

/** Payouts that succeeded without their transfer, and that expired: queued again, and given up. */
export async function makeOddPayouts(api: TestApi): Promise<void> {
  const shop = await openShop(api, { funds: "500" });
  const odd = await withdraw(api, shop);
  const txid = await sign(api, odd.outgoingId, shop.id);
  await end(api, txid, "unexpected");
  api.journal.wake(shop.id);
  await until(async () => {
    const rows = await api.sql`
      SELECT FROM book.inbox WHERE merchant_id = ${shop.id} AND quarantine LIKE 'unexpected:%'`;
    return rows.length === 1;
  });
  const again = await withdraw(api, shop, "11");
  const given = await withdraw(api, shop, "12");
  const solid = await placeCursor(api.sql, "TRX", {
    height: 12,
    hash: "12",
    time: SIGNED_AT + 60_000,
    previousTime: SIGNED_AT + 57_000,
    tick: SIGNED_AT + 60_000,
    previousTick: SIGNED_AT + 57_000,
  });
  await sign(api, again.outgoingId, shop.id, SIGNED_AT);
  assertEquals((await expireAttempts(api.sql, "TRX", solid, 3)).requeued, [again.outgoingId]);
  await sign(api, given.outgoingId, shop.id, SIGNED_AT);
  // the journal is stopped before, so that the refund waits in the inbox
  await api.journal.stop(2_000);
  const { abandoned } = await expireAttempts(api.sql, "TRX", solid, 1);
  assertEquals(abandoned.map(({ outgoingId }) => outgoingId), [given.outgoingId]);
}
