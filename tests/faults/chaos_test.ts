import { assertEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";

/** Customers at the same time, and what each does one after the other. */
const CUSTOMERS = 4;
const STORIES = 3;
/** One of the service, one of PostgreSQL, one of both at once, and so on. */
const DEATHS = 4;

Deno.test({
  name: "deaths at any moment, while customers pay and are paid, change nothing of the outcome",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async () => {
    const { withService } = await import("../support/service.ts");
    const { eventually } = await import("./support/client.ts");
    const { hasStatus, openShop, payOnce, resumeBlocks, SHOP_ENV } = await import(
      "./support/shop.ts"
    );
    const { assertCreditedOnce, expectCredit, newAddress } = await import("./support/deposit.ts");
    const { assertPaidOnce, expectPaid, withdraw } = await import("./support/payout.ts");
    const { audit } = await import("./support/audit.ts");
    const { seeded } = await import("./support/seeded.ts");

    const seed = Number(Deno.env.get("SEED") ?? Date.now() % 1_000_000);
    // deno-lint-ignore no-console -- with SEED=... the same moments are drawn again
    console.log(`seed ${seed}`);
    const draw = seeded(seed);

    await withService(async (service) => {
      await using shop = await openShop(service);
      await resumeBlocks(shop, 150);

      const story = async (name: string) => {
        const address = await newAddress(shop, name);
        const txid = await payOnce(shop, address, "100");
        const depositId = await eventually(`deposit of ${name}`, async () => {
          const [row] = await service.sql<{ id: string }[]>`
            SELECT id FROM book.deposit WHERE txid = ${txid}`;
          return row?.id;
        });
        const paid = { name, address, amount: 100n, txid, depositId };
        expectCredit(shop, paid);
        await eventually(`${name} credited`, () => hasStatus(shop, depositId, "CONFIRMED"));
        const payout = await withdraw(shop, name);
        expectPaid(shop, payout);
        const { withdrawalId } = payout;
        await eventually(`${name} paid`, () => hasStatus(shop, withdrawalId, "CONFIRMED"));
        return { paid, payout };
      };
      let open = CUSTOMERS;
      const customers = Array.from({ length: CUSTOMERS }, async (_, customer) => {
        const told = [];
        for (let n = 1; n <= STORIES; n++) told.push(await story(`customer-${customer}-${n}`));
        open--;
        return told;
      });
      const everybody = Promise.all(customers);

      for (let death = 1; death <= DEATHS && open > 0; death++) {
        await new Promise((resolve) => setTimeout(resolve, 100 + draw() * 1_900));
        const dies = death % 3;
        if (dies !== 1) await service.killDatabase();
        if (dies !== 2) {
          await service.kill9();
          await service.start();
        }
      }
      const stories = (await everybody).flat();
      assertEquals(stories.length, CUSTOMERS * STORIES);
      await audit(shop);
      for (const { paid, payout } of stories) {
        await assertCreditedOnce(shop, paid);
        await assertPaidOnce(shop, payout);
      }
    }, { env: SHOP_ENV });
  },
});
