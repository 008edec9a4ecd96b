import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Registry } from "prom-client";
import type { Readiness } from "../../api/http/context.ts";
import { treasuryReasons } from "../../app/health/treasury.ts";
import { watchReadiness } from "../../app/health/watched_readiness.ts";
import { LowFunds } from "../../actors/treasury/funds.ts";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import type { TreasuryStatus } from "../../actors/treasury/treasury_deps.ts";
import { SignerUnavailable } from "../../chains/signer.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { CALM } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

test("a low hot wallet is seen in readiness and metrics while the signer is away", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 10, 'T', 'queued', now(), now())`;
  let [now, isAway] = [1_000_000, true];
  const treasuries = new Map<"TRX", TreasuryStatus>();
  const chain = paperChain("TRX", { balanceOf: () => Promise.resolve(amount("90")) });
  const kind = treasuryActors(nodeOf(sql, chain, {
    now: () => now,
    resendMs: 15_000,
    policy: () => ({ ...CALM, low: { native: ZERO, USDT: amount("1000"), USDC: ZERO } }),
    signer: {
      sign: () => {
        if (isAway) throw new SignerUnavailable("it hung up");
        return Promise.resolve([]);
      },
    },
    onStatus: (network, status) => treasuries.set(network as "TRX", status),
  }));
  const registry = new Registry();
  const look = watchReadiness(
    registry,
    (): Promise<Readiness> => {
      const reasons = treasuryReasons({ treasuries, signerOpen: () => true }, "TRX", now);
      return Promise.resolve({ status: reasons.length === 0 ? "ok" : "degraded", reasons });
    },
    () => now,
  );
  // each poll fails, after which the treasury is loaded anew, 5 s later
  for (; now <= 1_015_000; now += 5_000) {
    const treasury = await kind.activate("TRX");
    await assertRejects(async () => await treasury.receive({ type: "poll" }), SignerUnavailable);
  }
  const reason = "TRX hot wallet is low on USDT: 80 of at least 1000";
  const told = async () => (await look()).reasons.filter((one) => one.includes("is low"));
  assertEquals(await told(), [reason]);
  assertMatch(await registry.metrics(), /engine_readiness_reasons\{reason="wallet_low"\} 1\n/);

  // the signer is back: what is low stays told without a break
  isAway = false;
  now += 5_000;
  await (await kind.activate("TRX")).receive({ type: "poll" });
  assertEquals(await told(), [reason]);
});

Deno.test("a shortage is told although the clock was ahead when it began", () => {
  const low = new LowFunds("TRX", { native: amount("10"), USDT: ZERO, USDC: ZERO }, 1_000);
  const short = { coin: { balance: amount("9"), free: amount("9") }, funds: new Map() };
  assertEquals(low.poll(short, 3_600_000), []);
  assertEquals(low.poll(short, 5_000), []);
  assertEquals(low.poll(short, 6_000), ["coin: 9 of at least 10"]);
});
