import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { needs } from "../support/permissions.ts";
import { commandsOf, missingPrograms, runCommands } from "../support/shown_commands.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });
const missing = ignore ? [] : await missingPrograms();
const skipped = missing.length === 0 ? "" : ` (skipped: there is no ${missing.join(", ")} here)`;
const ENV = {
  DEV_CHAINS: "TRX,ETH,BNB",
  DEV_CHAIN_BLOCK_MS: "300",
  DEV_CHAIN_SOLID_LAG: "3",
};

// One service for all of it: a start costs more than most steps.
Deno.test({
  name:
    `ETH and BNB are enabled, paid to and paid from through kill -9, and the books are right${skipped}`,
  ignore: ignore || skipped !== "",
  fn: async (t) => {
    const { withService } = await import("../support/service.ts");
    const { openReceiver } = await import("../faults/support/receiver.ts");
    const { openEvmShop, tell } = await import("./support/evm_shop.ts");
    const { reconcileCommand } = await import("../../app/commands/reconcile.ts");
    const { booksFaults } = await import("../support/books.ts");

    await withService(async (service) => {
      await service.start();
      assertMatch(await service.log(), /pairs set USDT\/ETH --deposits on --withdrawals on/);
      await using receiver = openReceiver();

      await t.step("what README.md says of another network", async (step) => {
        const text = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
        const [, part = ""] = text.split(/^## Another network, in two commands$/m);
        const [start, ...commands] = commandsOf(part.split(/^## /m)[0] ?? "");
        assertMatch(start?.command ?? "", /^DEV_CHAINS=TRX,ETH deno task start\n$/);
        assertEquals(commands.length, 2);
        await runCommands(step, commands, service.dataDir);
      });

      for (const network of ["ETH", "BNB"] as const) {
        await t.step(`${network}: a page shows the one spelling, and opens a wallet`, async () => {
          const shop = await openEvmShop(service, network, receiver);
          const { address, page } = await shop.openPage("100.5");
          assertMatch(address, /^0x[0-9a-fA-F]{40}$/);
          assert(address !== address.toLowerCase(), "it is checksummed");
          assertStringIncludes(page, shop.names);
          assertStringIncludes(page, `data-copy="${address}"`);
          assertStringIncludes(page, shop.link(address, "100.5").replaceAll("&", "&amp;"));
        });

        await t.step(`${network}: a deposit and a payout outlive kill -9`, async () => {
          const shop = await openEvmShop(service, network, receiver);
          const before = await shop.available("USDT");
          const usdt = await shop.payIn("USDT", "100");
          await service.kill9();
          await service.start();
          await shop.confirmed("deposits", usdt);
          const usdc = await shop.payIn("USDC", "50");
          await shop.confirmed("deposits", usdc);

          const payout = await shop.withdraw("USDT", "10");
          await service.kill9();
          await service.start();
          await shop.confirmed("withdrawals", payout.referenceId);
          assertEquals(await shop.balanceOnChain("USDT", payout.destination), shop.units("10"));
          const nonces = await shop.noncesOf(payout.withdrawalId);
          assertEquals(nonces.length, 1, "it keeps the nonce that it was promised");
          assert((nonces[0] ?? -1) >= payout.least);

          // 1 % commission and 0.5 for the address; 1 base fee and 1 network fee
          assertEquals(await shop.available("USDT"), before + shop.scaled("86.5"));
          assertEquals(await shop.available("USDC"), shop.scaled("49"));
          const [newest] = await shop.statement("USDT");
          assertEquals(newest, {
            type: "WITHDRAWAL",
            status: "CONFIRMED",
            amount: "-12",
            balanceAfter: await shop.balance("USDT"),
          });
          await tell(receiver, "deposit.confirmed", usdt);
          await tell(receiver, "withdrawal.confirmed", payout.referenceId);
        });
      }

      await t.step("deno task reconcile finds no difference beside the service", async () => {
        const lines: string[] = [];
        const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
        const out = { log: say, error: say };
        const env = { DATA_DIR: service.dataDir, ...ENV };
        assertEquals(await reconcileCommand([], env, out), 0, lines.join("\n"));
        const text = lines.join("\n");
        assertStringIncludes(text, "\nETH\n");
        assertStringIncludes(text, "\nBNB\n");
        assertEquals(await booksFaults(service.sql), []);
      });
    }, { env: ENV });
  },
});
