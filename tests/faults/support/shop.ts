import { assertEquals } from "@std/assert";
import { z } from "zod";
import type { Mortal } from "./mortal.ts";
import { chainInfo, transfersTo, usdtOf } from "./chain_audit.ts";
import { ask, control, eventually, send } from "./client.ts";
import { openReceiver, type Receiver } from "./receiver.ts";

/** A merchant of a running service: its endpoint, its chain on demand, and what it should own. */
export interface Shop extends AsyncDisposable {
  readonly service: Mortal;
  readonly receiver: Receiver;
  /** The wallet that pays; found by what it was funded with. */
  readonly hotWallet: string;
  /** USDT that the merchant must have available, smallest units. */
  expected: bigint;
  /** USDT that must have left the hot wallet, smallest units. */
  paidOut: bigint;
  /** Ids of payments that may send events, with the events each must send. */
  readonly payments: Map<string, string>;
}

/**
 * Block pace of the first start; afterwards blocks are made on demand. Sweeps have tests of their own:
 * here the hot wallet is compared with what was paid out alone.
 */
export const SHOP_ENV = { DEV_CHAIN_BLOCK_MS: "150", TRX_SWEEPS: "off" } as const;

const FUNDS = 1_000_000_000_000n;

/**
 * Makes a service that was started a merchant's: events go to an endpoint of this process, the chain
 * makes blocks only when a test says so, so that every run passes the same points in the same order.
 */
export async function openShop(service: Mortal): Promise<Shop> {
  const receiver = openReceiver();
  const { merchant, chains } = service.credentials;
  receiver.secret = merchant.webhookSecret;
  // so that polling and bursts of requests are not what the tests are about
  await service.sql`UPDATE book.merchant SET rate_limits = ${
    service.sql.json({ balance: 0, deposits: 0, withdrawals: 0, transactions: 0, webhooks: 0 })
  }`;
  const changed = await ask(service, "PATCH", `/api/merchants/${merchant.id}`, {
    webhookUrl: receiver.url,
    webhookEnabled: true,
    // a claim lasts 5 s longer than its delivery may take: short, and enough for a slow machine
    webhookTimeout: 5_000,
  });
  assertEquals(changed.status, 200);
  const [wallet] = await service.sql<{ hot_wallet: string }[]>`
    SELECT hot_wallet FROM hub.wallet WHERE network = 'TRX'`;
  const shop: Shop = {
    service,
    receiver,
    hotWallet: wallet?.hot_wallet ?? "",
    expected: 0n,
    paidOut: 0n,
    payments: new Map(),
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
  for (const { url } of Object.values(chains)) {
    await send(`${url}/dev/config`, "POST", { blockMs: 0 });
  }
  await mine(shop, 3); // what funded the hot wallet is final
  assertEquals(await usdtOf(service, shop.hotWallet), FUNDS);
  return shop;
}

/** Makes blocks and waits until the service has read those that are final. */
export async function mine(shop: Shop, blocks: number): Promise<void> {
  const { service } = shop;
  await makeBlocks(shop, blocks);
  const { solid } = await eventually("the chain", () => chainInfo(service));
  await eventually(`solid block ${solid} read`, async () => {
    const [cursor] = await service.sql<{ height: string }[]>`
      SELECT height FROM hub.cursor WHERE network = 'TRX' AND view = 'solid'`;
    return cursor !== undefined && Number(cursor.height) >= solid;
  });
}

/** Makes blocks and does not wait for anybody to read them. */
export async function makeBlocks(shop: Shop, blocks: number): Promise<void> {
  await control(shop.service, "/dev/mine", { blocks, intervalMs: 100 });
}

/**
 * Pays on the chain once: when the answer is lost, the chain itself tells whether it was paid.
 *
 * @param expiresInMs lifetime of the transaction in block time; the faucet's own when left out
 * @returns the transaction's id
 */
export async function payOnce(
  shop: Shop,
  to: string,
  amount: string,
  expiresInMs?: number,
): Promise<string> {
  const { service } = shop;
  return await eventually(`a payment to ${to}`, async () => {
    try {
      const url = `${service.credentials.chains.TRX.url}/dev/transfer`;
      const { body } = await send(url, "POST", { to, amount, currency: "USDT", expiresInMs });
      return z.object({ txid: z.string() }).parse(body).txid;
    } catch {
      const { pending } = await eventually("the chain", () => chainInfo(service));
      if (pending > 0) await mine(shop, 1);
      return (await transfersTo(service, to))[0]?.txid;
    }
  });
}

/** True when a payment has a status, by the service's own rows. */
export async function hasStatus(shop: Shop, paymentId: string, status: string): Promise<boolean> {
  const rows = await shop.service.sql`
    SELECT FROM book.deposit WHERE id = ${paymentId} AND status = ${status}
    UNION ALL SELECT FROM book.withdrawal WHERE id = ${paymentId} AND status = ${status}`;
  return rows.length > 0;
}
