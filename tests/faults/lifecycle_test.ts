import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";

/** Clients at the same time, each of a merchant of its own. */
const CLIENTS = 8;
/** Requests of these clients that are acknowledged before the service is stopped. */
const LOAD = 50;

// One service for all of it: each step finds what the ones before it left behind.
Deno.test({
  name: "a service that is killed or stopped under load, or started twice, loses nothing",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async (t) => {
    const { TWO_NETWORKS, withService } = await import("../support/service.ts");
    const { booksFaults } = await import("../support/books.ts");
    const { mine, openShop, SHOP_ENV } = await import("./support/shop.ts");
    const { audit } = await import("./support/audit.ts");
    const { eventually } = await import("./support/client.ts");
    const { assertCreditedOnce, confirmDeposit, payIn } = await import("./support/deposit.ts");
    const { assertPaidOnce, confirmPayout, withdraw } = await import("./support/payout.ts");
    const crowds = await import("./support/crowd.ts");

    await withService(async (service) => {
      await service.start();
      await using shop = await openShop(service);
      const serverPid = async () =>
        (await Deno.readTextFile(`${service.dataDir}/postgres/postmaster.pid`)).split("\n")[0];

      await t.step("kill -9 of the service alone leaves PostgreSQL running", async () => {
        const before = { server: await serverPid(), chain: service.credentials.chains.TRX };
        const paid = await payIn(shop, "killed");
        await service.kill9();
        assertEquals(await serverPid(), before.server);
        const milliseconds = await service.start();
        // deno-lint-ignore no-console -- a measured figure
        console.log(`start after kill -9: ${milliseconds} ms`);
        assertEquals(await serverPid(), before.server);
        assertEquals(service.credentials.chains.TRX, before.chain);
        await confirmDeposit(shop, paid);
        await audit(shop);
        await assertCreditedOnce(shop, paid);
      });

      await t.step("kill -9 of the service and of PostgreSQL at once loses nothing", async () => {
        const payout = await withdraw(shop, "blackout");
        const before = await serverPid();
        await Promise.all([service.kill9(), service.killDatabase()]);
        const milliseconds = await service.start();
        // deno-lint-ignore no-console -- a measured figure
        console.log(`start after both were killed: ${milliseconds} ms`);
        assertNotEquals(await serverPid(), before);
        await confirmPayout(shop, payout);
        await audit(shop);
        await assertPaidOnce(shop, payout);
      });

      await t.step("a second service on the same folder refuses and does no harm", async () => {
        const second = await service.secondStart();
        assertEquals(second.code, 2);
        assertMatch(
          second.printed,
          new RegExp(
            `^Cannot start as another service runs on this data folder \\(process ${service.pid}\\): `,
          ),
        );
        assertEquals(second.printed.trim().split("\n").length, 1);
        await mine(shop, 1);
        const payout = await withdraw(shop, "undisturbed");
        await confirmPayout(shop, payout);
        await audit(shop);
      });

      await t.step("told or killed under load, it loses nothing it acknowledged", async () => {
        const payers = await crowds.openPayers(service, CLIENTS, "100000");
        const figures: Record<string, number | string>[] = [];
        for (const signal of ["SIGKILL", "SIGTERM", "SIGINT"] as const) {
          const crowd = crowds.startCrowd(service, payers, signal, 0);
          await eventually("load", () => Promise.resolve(crowd.acknowledged.length > LOAD));
          const signalledAt = performance.now();
          const repeats = signal === "SIGKILL" ? 1 : 3;
          for (let n = 0; n < repeats; n++) service.signal(signal);
          const end = await service.ended;
          const stopMs = Math.round(performance.now() - signalledAt);
          await crowd.stop();
          if (signal === "SIGKILL") assertEquals(end, { code: 137, signal });
          else {
            assertEquals(end, { code: 0, signal: null });
            assertMatch(await service.log(), /stopped\n$/);
          }
          const startMs = await service.start();
          figures.push({ signal, "stop, ms": stopMs, "start, ms": startMs });
          assertEquals(await crowds.requestFaults(service, crowd), []);
          assertEquals(await booksFaults(service.sql), []);
        }
        // deno-lint-ignore no-console -- measured figures
        console.log(figures);
      });
    }, { env: { ...SHOP_ENV, ...TWO_NETWORKS } });
  },
});
