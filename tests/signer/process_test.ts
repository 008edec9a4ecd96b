import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../support/permissions.ts";

Deno.test({
  name: "payouts go through a signer of its own process, whatever happens to it, each paid once",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async (t) => {
    const { withService } = await import("../support/service.ts");
    const { openShop, SHOP_ENV } = await import("../faults/support/shop.ts");
    const { confirmDeposit, payIn } = await import("../faults/support/deposit.ts");
    const { assertPaidOnce, expectPaid, withdraw } = await import("../faults/support/payout.ts");
    const { eventually, ask, send } = await import("../faults/support/client.ts");
    const { mineUntil } = await import("../faults/support/chain_faults.ts");
    const { audit } = await import("../faults/support/audit.ts");
    const { askStatus } = await import("../../app/commands/signer/ask_status.ts");
    const { signerProcess } = await import("./support/signer_process.ts");
    const { signerRole } = await import("./support/signer_role.ts");

    await using signer = await signerProcess({});
    await withService(async (service) => {
      await service.start();
      await using shop = await openShop(service);
      await using role = await signerRole(service.sql, await databaseUrl(service.dataDir));
      const env = {
        ENVIRONMENT: "development",
        WALLET_FILE: `${service.dataDir}/wallet.json`,
        WALLET_PASSPHRASE_FILE: `${service.dataDir}/wallet-passphrase`,
        SIGNER_DATABASE_URL: role.url,
        TRX_USDT_CONTRACT: service.credentials.chains.TRX.usdt,
        TRX_SIGNER_PER_TRANSACTION: "USDT:500",
        TRX_SIGNER_PER_DAY: "USDT:1000",
      };
      const reasons = async () => (await ask(service, "GET", "/readyz")).body;
      const waiting = async (withdrawalId: string) => {
        const [row] = await service.sql<{ status: string; reason: string | null }[]>`
          SELECT status, reason FROM book.outgoing WHERE payment_id = ${withdrawalId}`;
        return row;
      };
      const ready = () =>
        eventually("the service signs", async () => !(await told(reasons)).includes("signer"));

      await confirmDeposit(shop, await payIn(shop, "fund", 1_000n));
      // blocks go on while a signer starts, so that nothing signed on an old one expires: each payout
      // is signed once
      const { url } = service.credentials.chains.TRX;
      assertEquals((await send(`${url}/dev/config`, "POST", { blockMs: 250 })).status, 200);

      await t.step("without its signer the service serves, says so, and payouts wait", async () => {
        assertStringIncludes(await told(reasons), "payouts wait: the signer cannot be reached");
        const payout = await withdraw(shop, "before");
        await eventually("a reason", async () => {
          return (await waiting(payout.withdrawalId))?.reason === "waiting for the signer";
        });
        await signer.start(env);
        await ready();
        expectPaid(shop, payout);
        await mineUntil(shop, payout.withdrawalId, "CONFIRMED");
        await assertPaidOnce(shop, payout);
      });

      await t.step("kill -9 of the signer while payouts are under way pays each once", async () => {
        const payouts = [];
        for (let round = 0; round < 3; round++) {
          for (let n = 0; n < 5; n++) {
            const payout = await withdraw(shop, `killed-${round}-${n}`);
            expectPaid(shop, payout);
            payouts.push(payout);
          }
          await signer.kill9();
          await signer.start(env);
        }
        for (const { withdrawalId } of payouts) {
          await mineUntil(shop, withdrawalId, "CONFIRMED");
        }
        await audit(shop);
        for (const payout of payouts) await assertPaidOnce(shop, payout);
        const [row] = await service.sql<{ most: number }[]>`
          SELECT max(attempts) AS most FROM book.outgoing`;
        assertEquals(row?.most, 1);
      });

      await t.step("a pause outlives the signer, and payouts wait for its end", async () => {
        assertEquals((await signer.verb("pause", "something is odd")).code, 0);
        await eventually("the pause", async () => (await told(reasons)).includes("paused"));
        assertEquals(await signer.stop(), 0);
        await signer.start(env);
        assertEquals((await signer.verb("status")).code, 1);
        const payout = await withdraw(shop, "paused");
        await eventually("a reason", async () => {
          return (await waiting(payout.withdrawalId))?.reason === "waiting for the signer";
        });
        await signer.verb("resume");
        await ready();
        expectPaid(shop, payout);
        await mineUntil(shop, payout.withdrawalId, "CONFIRMED");
        await assertPaidOnce(shop, payout);
      });

      await t.step("the day's cap holds over restarts of the signer", async () => {
        // what a kill kept from being given, and was asked for again, may count twice
        const { printed } = await signer.verb("status");
        const spent = Number(/24 hours: (\d+) USDT\/TRX/.exec(printed)?.[1]);
        assert(spent >= 170, printed);
        await signer.stop();
        await signer.start({ ...env, TRX_SIGNER_PER_DAY: `USDT:${spent + 15}` });
        await ready();
        const within = await withdraw(shop, "within-cap");
        expectPaid(shop, within);
        await mineUntil(shop, within.withdrawalId, "CONFIRMED");
        const over = await withdraw(shop, "over-cap");
        await eventually("the refusal", async () => {
          const row = await waiting(over.withdrawalId);
          return row?.status === "queued" &&
            (row.reason ?? "").includes(`more than ${spent + 15} per day`);
        });
        await signer.stop();
        await signer.start(env);
        // a running service asks again after a minute; one that starts knows of no refusal
        await service.kill9();
        await service.start();
        expectPaid(shop, over);
        await mineUntil(shop, over.withdrawalId, "CONFIRMED");
        await audit(shop);
      });

      await t.step("a second signer on the same socket and state does not start", async () => {
        const second = await signer.verb();
        assertEquals(second.code, 2, second.printed);
        assertStringIncludes(second.printed, "another signer runs on this folder");
        assertEquals((await signer.verb("status")).code, 0);
      });

      await t.step("when the command that started it is killed, the signer stops", async () => {
        await signer.killCommand();
        await eventually("its end", async () => await askStatus(signer.socket) === null);
        await signer.start(env);
      });
    }, { env: { ...SHOP_ENV, SIGNER_SOCKET: signer.socket, TRX_SWEEPS: "off" } });
  },
});

/** The service's readiness as text. */
async function told(reasons: () => Promise<unknown>): Promise<string> {
  return JSON.stringify(await reasons());
}

/** The service's own database, as its superuser. */
async function databaseUrl(dataDir: string): Promise<string> {
  const { ROLE } = await import("../../app/postgres/cluster.ts");
  const read = async (name: string) => (await Deno.readTextFile(`${dataDir}/${name}`)).trim();
  const [password, port] = [await read("postgres-password"), await read("postgres-port")];
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${ROLE}`;
}
