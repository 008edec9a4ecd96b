import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { transfersTo, usdtOf } from "../../faults/support/chain_audit.ts";
import { ask, eventually, send } from "../../faults/support/client.ts";
import { untilDead } from "../../faults/support/deaths.ts";
import type { Mortal } from "../../faults/support/mortal.ts";
import { booksFaults } from "../../support/books.ts";

/**
 * Crash points at which a service dies, start after start, each time with a new top-up on its way: what
 * one death leaves half done, the next one meets. `sweeper` and `treasury` pass each point for the coin
 * and for the sweep.
 */
export const SWEEP_DEATHS = [
  "sweeper.before-step@2",
  "sweeper.after-step@1",
  "sweeper.after-step@2",
  "treasury.after-commit@2",
  "treasury.after-broadcast@2",
  "watcher.after-inbox@9",
];

/** Pause between two top-ups on the way to one death: far longer than a sweep takes. */
const NEXT_MS = 20_000;

/** Settings of a real service for {@linkcode surviveSweeps}. */
export const SWEEPING = { env: { DEV_CHAIN_BLOCK_MS: "150" } } as const;

/**
 * Top-ups are paid and swept, the service dies at every moment of it; none is lost, and neither they nor
 * the coin of a sweep move twice.
 *
 * @param service started, and without payments
 * @returns top-ups that were paid
 */
export async function surviveSweeps(
  service: Mortal,
  deaths: readonly string[] = SWEEP_DEATHS,
): Promise<number> {
  const { merchant } = service.credentials;
  const chainUrl = () => service.credentials.chains.TRX.url;
  await send(`${chainUrl()}/dev/config`, "POST", { blockMs: 150 });
  const path = `/api/merchants/${merchant.id}/top-up-address?network=TRX`;
  const { address: own } = z.object({ address: z.string() })
    .parse((await ask(service, "GET", path)).body);
  const [wallet] = await service.sql<{ hot_wallet: string }[]>`
    SELECT hot_wallet FROM hub.wallet WHERE network = 'TRX'`;
  const hot = wallet?.hot_wallet ?? "";
  const before = await usdtOf(service, hot);
  await service.kill9();
  for (const [index, crashAt] of deaths.entries()) {
    await service.start({ crashAt });
    const pay = () =>
      send(`${chainUrl()}/dev/transfer`, "POST", {
        to: own,
        amount: String(20 + index),
        currency: "USDT",
        // the chain of a real service dies with it: whether it was paid, the chain itself says at the end
      }).catch(() => {});
    await pay();
    // where one sweep carries this top-up and the one before, its second step is the next one's
    const next = setInterval(pay, NEXT_MS);
    try {
      await untilDead(service, crashAt);
    } finally {
      clearInterval(next);
    }
  }
  await service.start();
  const { sql } = service;
  const paid = await transfersTo(service, own);
  assert(paid.length > 0);
  await eventually("every top-up confirmed, every sweep over", async () => {
    const rows = await sql`
      SELECT FROM book.sweep_item WHERE NOT done UNION ALL SELECT FROM book.sweep_address`;
    const [confirmed] = await sql<{ n: number }[]>`
      SELECT count(*)::int AS n FROM book.deposit WHERE status = 'CONFIRMED'`;
    return rows.length === 0 && confirmed?.n === paid.length;
  });
  const sum = paid.reduce((total, { amount }) => total + amount, 0n);
  const [balance] = await sql<{ available: string; pending: string }[]>`
    SELECT (available * 1000000)::numeric(38,0)::text AS available, trim_scale(pending)::text AS pending
    FROM book.balance WHERE merchant_id = ${merchant.id} AND currency = 'USDT' AND network = 'TRX'`;
  assertEquals(balance?.available, String(sum - BigInt(paid.length) * 1_000_000n));
  assertEquals(balance?.pending, "0");
  assertEquals(await usdtOf(service, own), 0n);
  assertEquals(await usdtOf(service, hot) - before, sum);
  assertEquals(await booksFaults(sql), []);
  // what was given and not burned is on the address, to the last unit
  const [coin] = await sql<{ left: string }[]>`
    SELECT ((sum(o.amount) FILTER (WHERE o.kind = 'gas' AND o.status = 'final')
      - sum(a.fee) FILTER (WHERE o.kind = 'sweep')) * 1000000)::numeric(38,0)::text AS left
    FROM book.outgoing o JOIN book.attempt a ON a.outgoing_id = o.id`;
  const account = await send(`${chainUrl()}/wallet/getaccount`, "POST", {
    address: own,
    visible: true,
  });
  assertEquals(
    z.object({ balance: z.number() }).parse(account.body).balance,
    Number(coin?.left),
  );
  return paid.length;
}
