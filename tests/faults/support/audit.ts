import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { booksFaults } from "../../support/books.ts";
import { usdtOf } from "./chain_audit.ts";
import { ask, eventually, expectBody, UNDISTURBED_MS } from "./client.ts";
import type { Shop } from "./shop.ts";

const FUNDS = 1_000_000_000_000n;

/**
 * Compares a shop with what must hold when nothing is in flight: balances to the last unit, books
 * that sum to zero, a wallet that paid exactly what was withdrawn, nothing left over anywhere, and
 * every event told under one id with the right signature.
 */
export async function audit(shop: Shop): Promise<void> {
  const { service } = shop;
  const { sql } = service;
  assertEquals(
    await eventually("nothing in flight", async () => {
      const left = await leftOver(shop);
      return left.length === 0 ? left : Promise.reject(new Error(left.join("; ")));
    }, UNDISTURBED_MS),
    [],
  );

  const balance = await balanceOf(shop);
  assertEquals(balance.pending, "0");
  assertEquals(units(balance.available), shop.expected, "available balance");
  assertEquals(await booksFaults(sql), []);
  assertEquals(await usdtOf(service, shop.hotWallet), FUNDS - shop.paidOut, "hot wallet");

  await assertEventsTold(shop);
}

/** Every event of the books arrived, signed; nothing else did; each payment has one of each kind. */
async function assertEventsTold({ service, receiver, payments }: Shop): Promise<void> {
  const kept = await service.sql<
    { id: string; payment_id: string; type: string; payload: string }[]
  >`
    SELECT id, payment_id, type, payload FROM book.outbox
    WHERE merchant_id = ${service.credentials.merchant.id} ORDER BY id`;
  const byId = new Map(kept.map((event) => [event.id, event]));
  for (const { event, eventId, signatureIsRight, body } of receiver.deliveries) {
    assert(signatureIsRight, `the signature of ${eventId} is wrong`);
    assertEquals({ event, body }, {
      event: byId.get(eventId)?.type ?? "none of the books",
      body: byId.get(eventId)?.payload ?? "",
    });
  }
  const arrived = new Set(receiver.deliveries.map(({ eventId }) => eventId));
  assertEquals(kept.filter(({ id }) => !arrived.has(id)), [], "events that never arrived");

  const told = Map.groupBy(kept, (event) => event.payment_id);
  assertEquals([...told.keys()].sort(), [...payments.keys()].sort(), "payments with events");
  for (const [paymentId, event] of payments) {
    const types = (told.get(paymentId) ?? []).map(({ type }) => type);
    const end = event.slice(event.indexOf("."));
    assertEquals(types, [event, `transaction${end}`], `events of ${paymentId}`);
  }
}

/** The balance as the merchant is shown it. */
export async function balanceOf(shop: Shop) {
  return expectBody(
    z.object({ available: z.string(), pending: z.string() }),
    await ask(shop.service, "GET", "/api/balance?currency=USDT&network=TRX"),
    200,
  );
}

/** Work of the shop's merchant that is not done, as sentences. */
async function leftOver({ service }: Shop): Promise<string[]> {
  const { sql, credentials: { merchant } } = service;
  const rows = await sql<{ fault: string }[]>`
    SELECT format('outgoing %s is %s', id, status) AS fault FROM book.outgoing
      WHERE merchant_id = ${merchant.id} AND status NOT IN ('final', 'void')
    UNION ALL SELECT format('attempt %s of %s has no outcome', number, outgoing_id) FROM book.attempt
      WHERE merchant_id = ${merchant.id} AND outcome IS NULL
    UNION ALL SELECT format('inbox row %s %s: %s', txid, phase, quarantine) FROM book.inbox
      WHERE merchant_id = ${merchant.id} AND (consumed_at IS NULL OR quarantine IS NOT NULL)
    UNION ALL SELECT format('event %s of %s is %s', id, payment_id, status) FROM book.outbox
      WHERE merchant_id = ${merchant.id} AND status <> 'DELIVERED'
    UNION ALL SELECT format('timer of %s', actor) FROM hub.timer
      JOIN book.deposit ON actor = 'payment/' || id WHERE status = 'PENDING'`;
  return rows.map((row) => row.fault);
}

/** A decimal of at most six digits as a count of millionths. */
function units(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  assert(fraction.length <= 6, `an amount finer than its token: ${text}`);
  return BigInt(whole + fraction.padEnd(6, "0"));
}
