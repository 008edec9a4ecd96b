import { assert, assertEquals, assertRejects } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { planCold } from "../../actors/treasury/cold_planner.ts";
import { LowFunds, readFunds } from "../../actors/treasury/funds.ts";
import { NotOurChain } from "../../chains/chain.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { queueCold } from "../../ledger/treasury/hot_wallet.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import { treasuryReasons } from "../../app/health/treasury.ts";
import { addressOf } from "../support/api.ts";
import { amount, booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { CALM, openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);
const COLD = addressOf(0xc01d);

interface ColdRow {
  readonly status: string;
  readonly amount: string;
  readonly reason: string | null;
}

async function coldRows(sql: Sql): Promise<readonly ColdRow[]> {
  const rows = await sql<ColdRow[]>`
    SELECT status, trim_scale(amount)::text AS amount, reason FROM book.outgoing
    WHERE kind = 'cold' ORDER BY id`;
  return rows.map((row) => ({ ...row }));
}

test("the hot wallet's surplus goes to the cold wallet, down to the target, one transfer at a time", async () => {
  const levels = new Map([
    ["USDT" as const, { ceiling: amount("800000"), target: amount("500000") }],
  ]);
  await using rig = await openTreasuryRig({
    coldAddress: COLD,
    policy: () => ({
      ...CALM,
      low: { native: amount("1000000"), USDT: amount("400000"), USDC: ZERO },
      feesPerDay: amount("0.001"),
      cold: { address: COLD, levels },
    }),
  });
  // a million was above the ceiling from the first block on
  await until(async () => (await coldRows(rig.sql)).length === 1);
  const { key } = await rig.merchant("1000000");
  assertEquals((await coldRows(rig.sql))[0]?.amount, "500000");
  // what is on its way is not there for payouts
  await until(() => rig.engine.liquidity("TRX", "USDT") === amount("500000"));
  await rig.mineUntil("it is final", async () => (await coldRows(rig.sql))[0]?.status === "final");
  assertEquals(await rig.chain.balanceOf(COLD, "USDT"), amount("500000"));
  assertEquals(await rig.chain.balanceOf(rig.chain.hotWallet, "USDT"), amount("500000"));
  await rig.mine(3);
  assertEquals((await coldRows(rig.sql)).length, 1, "at the target nothing is left to move");

  // no withdrawal may go to the cold wallet
  const refused = await rig.api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "10", currency: "USDT", network: "TRX", destination: COLD },
  });
  assertEquals([refused.status, refused.body.details[0].path.join()], [400, "destination"]);

  // its cost is counted as the service's own, and the shortage of coin is reported
  const admin = await rig.api.addKey(null, { permissions: ["admin:read"] });
  const treasury = async () =>
    (await rig.api.call("GET", "/api/admin/treasury", { key: admin })).body.networks[0];
  await until(async () => (await treasury()).costs.length === 1);
  const shown = await treasury();
  assertEquals([shown.costs[0].kind, shown.costs[0].charged], ["cold", "0"]);
  assertEquals(
    [shown.coldAddress, shown.balances[0].ceiling, shown.balances[0].target],
    [COLD, "800000", "500000"],
  );
  await until(async () => (await treasury()).low.length === 1);
  const low = treasuryReasons(rig.engine, "TRX", Date.now()).join();
  assert(/low on coin: \d+(\.\d+)? of at least 1000000/.test(low), low);
  // and the day's fees are above what they may be
  const burned = /TRX transactions have burned 0?[\d.]+ of its coin today, more than 0\.001/;
  await until(() => burned.test(treasuryReasons(rig.engine, "TRX", Date.now()).join()));
  assert((rig.engine.treasuries.get("TRX")?.feesToday ?? 0n) > 0n);
  assertEquals(await booksFaults(rig.sql), []);
});

test("a cold transfer never takes what is queued, gives way to payouts, and is never a second one", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  let balance = "1000";
  // a node at block 7
  const chain = paperChain("TRX", {
    balanceOf: (_address, _asset, _signal, checkpoint) =>
      checkpoint !== undefined && checkpoint.height > 7
        ? Promise.reject(new NotOurChain("Cannot believe it as it is behind"))
        : Promise.resolve(amount(balance)),
  });
  const cold = {
    address: COLD,
    levels: new Map([["USDT" as const, { ceiling: amount("500"), target: amount("300") }]]),
  };
  const plan = async () => await planCold(sql, chain, cold, await readFunds(sql, chain));
  const payout = async (text: string) => {
    const id = newId("out");
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      VALUES (${id}, 'mer_1', 'payout', ${`wd_${id}`}, 'TRX', 'USDT', ${text}, 'T', 'queued', now(), now())`;
  };
  // nothing is planned before the scan has begun, nor on the word of a node behind it
  const seen = await readFunds(sql, chain);
  assertEquals(await planCold(sql, chain, cold, seen), false);
  const behind = { height: 8, hash: "8", time: 2, previousTime: 1, tick: 2, previousTick: 1 };
  await moveCursor(sql, "TRX", "solid", null, behind);
  await assertRejects(() => planCold(sql, chain, cold, seen), NotOurChain);
  await sql`UPDATE hub.cursor SET height = 7`;
  await payout("450");
  // 1000 - 450 queued = 550 free: 250 above the target
  assertEquals(await plan(), true);
  assertEquals(await coldRows(sql), [{ status: "queued", amount: "250", reason: null }]);
  balance = "9000";
  assertEquals(await plan(), false, "one is under way");
  const second = {
    outgoingId: newId("out"),
    network: "TRX" as const,
    currency: "USDT" as const,
    amount: amount("1"),
    destination: COLD,
  };
  assertEquals(await queueCold(sql, second), false);
  await assertRejects(
    () =>
      sql`INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
        VALUES ('out_x', 'mer_platform', 'cold', 'TRX', 'USDT', 1, ${COLD}, 'queued', now(), now())`,
    Error,
    "outgoing_cold_once",
  );
  balance = "1000";
  await payout("400");
  // 1000 - 850 - 250 < 0: the payouts come first
  assertEquals(await plan(), true);
  assertEquals(await coldRows(sql), [
    { status: "void", amount: "250", reason: "payouts need the money" },
  ]);
  assertEquals(await plan(), false);
  // one that was signed cannot be taken back
  balance = "2000";
  await plan();
  await sql`UPDATE book.outgoing SET status = 'signed' WHERE kind = 'cold' AND status = 'queued'`;
  balance = "100";
  assertEquals(await plan(), false);
  assertEquals((await coldRows(sql)).map(({ status }) => status), ["void", "signed"]);
});

Deno.test("a shortage is told once it lasts, and no longer when it has passed", () => {
  const low = new LowFunds("TRX", { native: amount("10"), USDT: amount("100"), USDC: ZERO }, 1_000);
  const look = (coin: string, free: string, now: number) =>
    low.poll({
      coin: { balance: amount("500"), free: amount(coin) },
      funds: new Map([["USDT" as const, { balance: amount("500"), free: amount(free) }]]),
    }, now);
  assertEquals(look("9", "100", 0), []);
  assertEquals(look("9", "99.5", 999), []);
  assertEquals(look("9", "99.5", 1_000), ["coin: 9 of at least 10"]);
  assertEquals(look("9", "99.5", 2_000), [
    "coin: 9 of at least 10",
    "USDT: 99.5 of at least 100",
  ]);
  assertEquals(look("10", "99", 3_000), ["USDT: 99 of at least 100"]);
  assertEquals(look("9", "100", 3_500), []);
});
