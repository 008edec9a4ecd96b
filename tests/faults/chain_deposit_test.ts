import { assertEquals } from "@std/assert";
import { DATABASE, needs } from "../support/permissions.ts";

Deno.test({
  name: "a deposit meets every fault of a node and is credited once or given up on proof alone",
  ignore: needs(DATABASE),
  fn: async (t) => {
    const { eventually } = await import("./support/client.ts");
    const { withNode } = await import("./support/node.ts");
    const { CLOCK } = await import("./support/matrix_rig.ts");
    const { fastClock } = await import("../support/moved_clock.ts");
    const { hasStatus, makeBlocks, mine, openShop, payOnce } = await import("./support/shop.ts");
    const deposits = await import("./support/deposit.ts");
    const { letPass, mineUntil, reorganise, setFaults, turns } = await import(
      "./support/chain_faults.ts"
    );
    const { audit, balanceOf } = await import("./support/audit.ts");
    const { assertCreditedOnce, depositsOf, expectCredit, newAddress, payIn } = deposits;

    using _ = fastClock(CLOCK);
    await withNode(async (service) => {
      await using shop = await openShop(service);
      const step = async (name: string, body: () => Promise<void>) => {
        if (!await t.step(name, body)) throw new Error("Cannot go on after a step that went wrong");
      };
      const depositOf = async (txid: string) =>
        await eventually(`deposit of ${txid}`, async () => {
          const [row] = await service.sql<{ id: string }[]>`
            SELECT id FROM book.deposit WHERE txid = ${txid}`;
          return row?.id;
        });

      await step("blocks without their receipts are waited for, never passed over", async () => {
        const name = "lagging";
        const address = await newAddress(shop, name);
        await setFaults(shop, [
          { path: "*", kind: "lagging-receipts", times: 4 },
          { path: "*", kind: "lagging-receipts", late: true, times: 4 },
        ]);
        const txid = await payOnce(shop, address, "100");
        await mine(shop, 4);
        const paid = { name, address, amount: 100n, txid, depositId: await depositOf(txid) };
        expectCredit(shop, paid);
        await mineUntil(shop, paid.depositId, "CONFIRMED");
        await setFaults(shop, []);
        await audit(shop);
        await assertCreditedOnce(shop, paid);
      });

      await step(
        "a node that answers nothing but errors for a while delays a deposit",
        async () => {
          const name = "errors";
          const address = await newAddress(shop, name);
          const txid = await payOnce(shop, address, "100");
          await setFaults(shop, [
            { path: "*", kind: "error-500", times: 2 },
            { path: "*", kind: "busy-429", times: 1 },
          ]);
          await mine(shop, 4);
          const paid = { name, address, amount: 100n, txid, depositId: await depositOf(txid) };
          expectCredit(shop, paid);
          await mineUntil(shop, paid.depositId, "CONFIRMED");
          await audit(shop);
          await assertCreditedOnce(shop, paid);
        },
      );

      await step("a reorganisation alone changes nothing that is visible", async () => {
        const paid = await payIn(shop, "returned");
        const before = [await depositsOf(shop, paid.name), await balanceOf(shop)];
        await reorganise(shop, 1, false);
        await mine(shop, 1);
        await turns(shop);
        assertEquals([await depositsOf(shop, paid.name), await balanceOf(shop)], before);
        await deposits.confirmDeposit(shop, paid);
        await audit(shop);
        await assertCreditedOnce(shop, paid);
      });

      await step(
        "a deposit that vanished is given up only when it can no longer land",
        async () => {
          const paid = await payIn(shop, "dropped", 100n, 10_000);
          const pending = await balanceOf(shop);
          assertEquals(pending.pending, "100");
          await reorganise(shop, 1, true);
          await mine(shop, 4);
          // the head is past its expiry, the solid block is not: no proof yet
          await letPass(shop, 20_000);
          await turns(shop);
          assertEquals(await hasStatus(shop, paid.depositId, "PENDING"), true);
          assertEquals(await balanceOf(shop), pending);
          shop.payments.set(paid.depositId, "deposit.failed");
          await mine(shop, 4);
          await eventually("the deposit failed", () => hasStatus(shop, paid.depositId, "FAILED"));
          await audit(shop);
          const shown = await depositsOf(shop, paid.name);
          assertEquals(shown.map(({ status }) => status), ["FAILED"]);
        },
      );

      await step(
        "a service that starts while its node is away takes up its work later",
        async () => {
          const paid = await payIn(shop, "away");
          await setFaults(shop, [{ path: "*", kind: "error-500" }]);
          await service.kill9();
          await service.start();
          expectCredit(shop, paid);
          await makeBlocks(shop, 4);
          await setFaults(shop, []);
          await eventually("the deposit", () => hasStatus(shop, paid.depositId, "CONFIRMED"));
          await audit(shop);
          await assertCreditedOnce(shop, paid);
        },
      );
    });
  },
});
