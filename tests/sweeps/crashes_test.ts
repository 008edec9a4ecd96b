import { assertEquals } from "@std/assert";
import { z } from "zod";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/**
 * Crash points at which the service dies, start after start, each time with a new top-up on its way:
 * what one death leaves half done, the next one meets. `sweeper` and `treasury` pass each point for
 * the coin and for the sweep.
 */
const DEATHS = [
  "sweeper.before-step@2",
  "sweeper.after-step@1",
  "sweeper.after-step@2",
  "treasury.after-commit@2",
  "treasury.after-broadcast@2",
  "watcher.after-inbox@9",
];

test(
  "a death at any point of a sweep loses no top-up, and neither moves nor gives anything twice",
  async () => {
    const { withNode } = await import("../faults/support/node.ts");
    const { ask, eventually, send } = await import("../faults/support/client.ts");
    const { transfersTo, usdtOf } = await import("../faults/support/chain_audit.ts");
    const { untilDead } = await import("../faults/support/deaths.ts");
    const { booksFaults } = await import("../support/books.ts");

    await withNode(async (service) => {
      const { merchant, chains } = service.credentials;
      await send(`${chains.TRX.url}/dev/config`, "POST", { blockMs: 150 });
      const path = `/api/merchants/${merchant.id}/top-up-address?network=TRX`;
      const { address: own } = z.object({ address: z.string() })
        .parse((await ask(service, "GET", path)).body);
      const [wallet] = await service.sql<{ hot_wallet: string }[]>`
        SELECT hot_wallet FROM hub.wallet WHERE network = 'TRX'`;
      const hot = wallet?.hot_wallet ?? "";
      const before = await usdtOf(service, hot);
      await service.kill9();
      for (const [index, crashAt] of DEATHS.entries()) {
        await service.start({ crashAt });
        await send(`${chains.TRX.url}/dev/transfer`, "POST", {
          to: own,
          amount: String(20 + index),
          currency: "USDT",
        });
        await untilDead(service, crashAt);
      }
      await service.start();
      const { sql } = service;
      const paid = await transfersTo(service, own);
      assertEquals(paid.length, DEATHS.length);
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
      const account = await send(`${chains.TRX.url}/wallet/getaccount`, "POST", {
        address: own,
        visible: true,
      });
      assertEquals(
        z.object({ balance: z.number() }).parse(account.body).balance,
        Number(coin?.left),
      );
    }, { sweeps: true, staleMs: 2_000 });
  },
);
