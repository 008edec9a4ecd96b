import { assert, assertEquals, assertMatch } from "@std/assert";
import { z } from "zod";
import { ALERTS } from "../../app/health/alert_table.ts";
import { needs } from "../support/permissions.ts";
import { evaluate, parse, samplesOf } from "./support/promql.ts";

/** Time within which everything has to be visible. */
const MINUTE_MS = 60_000;

// One service for all of it, as at night: the faults come one after the other and stay.
Deno.test({
  name:
    "at night: a failed payout, a node away, an empty wallet and a dead endpoint are seen in a minute",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async () => {
    const { withService } = await import("../support/service.ts");
    const { delay } = await import("../../ledger/database/delay.ts");
    await withService(async (service) => {
      await service.start();
      const { baseUrl, merchant, chains } = service.credentials;
      const call = async (method: string, url: string, body?: unknown) => {
        const response = await fetch(url, {
          method,
          headers: { authorization: merchant.apiKey, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const answer: unknown = await response.json();
        assert(response.ok, `${method} ${url}: ${response.status} ${JSON.stringify(answer)}`);
        return answer;
      };
      const looked = async () => {
        const response = await fetch(`${baseUrl}/metrics`);
        return samplesOf(await response.text());
      };
      const eventually = async (what: string, isSo: () => Promise<boolean>) => {
        for (const end = performance.now() + MINUTE_MS; !await isSo();) {
          assert(performance.now() < end, `not within a minute: ${what}`);
          await delay(500);
        }
      };
      const logged = async (line: RegExp) => line.test(await service.log());

      // an endpoint that refuses every connection, and money to pay with
      await call("PATCH", `${baseUrl}/api/merchants/${merchant.id}`, {
        webhookUrl: "http://127.0.0.1:9/",
        webhookEnabled: true,
      });
      const { address } = z.object({ address: z.string() }).parse(
        await call("POST", `${baseUrl}/api/deposit-address`, {
          network: "TRX",
          identifier: "night",
        }),
      );
      const { url } = chains.TRX;
      const before = await looked();
      await call("POST", `${url}/dev/transfer`, { to: address, amount: "100", currency: "USDT" });
      const credited = /engine_payments_total\{kind="deposit".*status="confirmed"\} [1-9]/;
      await eventually("the deposit", async () => {
        const response = await fetch(`${baseUrl}/metrics`);
        return credited.test(await response.text());
      });

      // a payout whose transaction fails in its block
      const faults = [{
        path: "/wallet/broadcasttransaction",
        kind: "out-of-energy",
        probability: 1,
        times: 9,
      }];
      await call("POST", `${url}/dev/config`, { faults });
      await call("POST", `${baseUrl}/api/withdrawals`, {
        amount: "10",
        currency: "USDT",
        network: "TRX",
        destination: chains.TRX.faucetAddress,
        referenceId: "night-1",
      });
      await eventually("the line of the failed payout", () => logged(/failed and is refunded/));

      // the only node is silent
      await call("POST", `${url}/dev/config`, {
        faults: [{ path: "*", kind: "error-500", probability: 1, times: 1_000_000 }],
      });
      const expected = [
        "EnginePayoutFailed",
        "EngineChainBlind",
        "EngineReasonWalletLow",
        "EngineCallbacksFail",
      ];
      const firing = async () => {
        const looks = { before, now: await looked() };
        return ALERTS.filter(({ expression }) => evaluate(parse(expression), looks).length > 0)
          .map(({ name }) => name);
      };
      let last: readonly string[] = [];
      await eventually("the rules", async () => {
        last = await firing();
        return expected.every((name) => last.includes(name));
      });
      // nothing cries that is well
      for (const quiet of ["BooksDiffer", "ReasonUnknownSpends", "NodeUnready", "ReasonOther"]) {
        assertEquals(last.includes(`Engine${quiet}`), false, `${quiet} of ${last.join()}`);
      }
      const log = await service.log();
      const failed = log.split("\n").filter((line) => /failed and is refunded/.test(line));
      assertEquals(failed.length, 1, failed.join("\n"));
      assertMatch(failed[0] ?? "", /WRN.*wd_.*mer_.*10.*USDT.*TRX/);
      assertMatch(log, /hot wallet is low on/);
      assertMatch(log, /left alone for/);
      assertMatch(log, /was not acknowledged by the endpoint of/);
      // the outage has one line of each part that waits, not one at every poll
      const waits = log.split("\n").filter((line) => /cannot|waits|left alone/.test(line));
      assert(waits.length < 20, waits.join("\n"));
      assertEquals(/^\s+at /m.test(log), false, "a stack of an expected fault");
    }, { env: { TRX_LOW_COIN: "200000" } });
  },
});
