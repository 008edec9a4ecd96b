import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { checkHotWallet } from "../../actors/reconcile/check_hot_wallet.ts";
import { compareAll } from "../../actors/reconcile/compare_all.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { moved, passed } from "./support/moving_chain.ts";
import { HOT, watchedWallet } from "./support/watched_wallet.ts";

const test = testNeeding(DATABASE);
const COLD = "cold-wallet";

test("the hot wallet moves by our orders only: what else leaves it is an alarm until somebody accepts it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { check, now, look } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), [], "the first one is the basis");
  await moved(sql, { kind: "sweep", amount: "30", height: 11, destination: HOT });
  await moved(sql, { kind: "cold", amount: "50", height: 12, destination: COLD });
  assertEquals(await look(12, "USDT", "80"), [], "explained by a sweep and a cold transfer");
  assertEquals(await look(13, "USDT", "85"), [], "money from outside is nobody's harm");
  await moved(sql, { kind: "cold", amount: "5", height: 15, destination: COLD });
  const [told] = await look(15, "USDT", "79.5");
  assertMatch(
    told ?? "",
    /USDT\/TRX: 0\.5 left it without an order of the service between block 14 \(85\)/,
  );
  assertEquals((await look(17, "USDT", "79.5")).length, 1, "it stays told");
  now(18, "USDT", "79.5");
  assertEquals(await checkHotWallet(check, true), { differences: [], unchecked: null });
  assertEquals(await look(19, "USDT", "79.5"), []);
});

test("coin leaves the hot wallet as gas, as cold transfers and as fees, of failed transactions too; any more is an alarm", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look, kept } = watchedWallet(sql);
  assertEquals(await look(10, "native", "100"), [], "the first one is the basis");
  const address = "address-5";
  await moved(sql, { kind: "gas", amount: "5", fee: "1", height: 11, destination: address });
  await moved(sql, {
    kind: "delegation",
    amount: "400",
    fee: "0.5",
    height: 11,
    destination: address,
  });
  await moved(sql, {
    kind: "reclaim",
    amount: "400",
    fee: "0.25",
    height: 12,
    destination: address,
  });
  const failed = { outcome: "failed", height: 12 } as const;
  await moved(sql, { kind: "cold", amount: "7", fee: "2", destination: COLD, ...failed });
  await moved(sql, { kind: "gas", amount: "9", fee: "0.125", destination: address, ...failed });
  const unexpected = { outcome: "unexpected", height: 12 } as const;
  await moved(sql, { kind: "cold", amount: "8", fee: "3", destination: COLD, ...unexpected });
  await moved(sql, {
    kind: "cold",
    amount: "10",
    currency: "native",
    height: 13,
    destination: COLD,
  });
  // its fee is burned at the address
  await moved(sql, { kind: "sweep", amount: "60", fee: "13", height: 13, destination: HOT });
  const [told] = await look(13, "native", "78.124999");
  assertMatch(
    told ?? "",
    /hot-wallet native\/TRX: 0\.000001 left it .*: 0 came and 15 went by our transfers, 6\.875 were taken as fees$/,
  );
  assertEquals(await kept("native"), "100 at 10");
  assertEquals(await look(13, "native", "78.125"), [], "all of it was ours");
  assertEquals(await look(14, "native", "200"), [], "an operator topped it up");
  assertEquals(await kept("native"), "200 at 15");
  assertEquals((await look(16, "native", "199")).length, 1, "what was topped up is watched too");
});

test("what an unknown payout moved and burned is explained once it is decided on, its coin too and once per transaction", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), []);
  assertEquals(await look(10, "native", "100"), []);
  const spent = async (txid: string, logIndex: number, wallet = "hot") =>
    await sql`
      INSERT INTO hub.unknown_spend
        (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, fee, status)
      VALUES ('TRX', ${txid}, ${logIndex}, 11, now(), ${wallet}, ${HOT}, 'somewhere', 'USDT', 10, 27, 'open')`;
  await spent("aa", 0);
  await spent("aa", 1);
  // the address paid for its own
  await spent("bb", 0, "5");
  assertEquals((await look(12, "native", "73")).length, 1, "an open one explains nothing");
  await sql`
    UPDATE hub.unknown_spend SET status = 'written_off', decided_at = now(), actor = 'key', reason = 'by hand'`;
  assertEquals(await look(13, "native", "73"), []);
  assertEquals((await look(14, "native", "72.9")).length, 1);
});

test("a balance that is read between two blocks is compared all the same: with the least of all it may be", async (t) => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look, lookBetween, lookTwice, kept } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), []);

  await t.step("without a transaction of ours in between it is exact", async () => {
    assertEquals((await lookBetween(10, 11, "USDT", "99.9")).length, 1);
    assertEquals((await lookBetween(11, 12, "native", "99.9")).length, 1);
    assertEquals([await kept("USDT"), await kept("native")], ["100 at 10", "100 at 11"]);
    assertEquals(await lookBetween(12, 13, "native", "100"), []);
    assertEquals(await lookBetween(13, 14, "USDT", "100"), []);
    assertEquals([await kept("USDT"), await kept("native")], ["100 at 14", "100 at 14"]);
  });
  await t.step("a transfer in between may be in it or not", async () => {
    await moved(sql, { kind: "cold", amount: "30", height: 16, destination: COLD });
    for (const text of ["100", "70"]) {
      assertEquals(await lookBetween(15, 16, "USDT", text), []);
    }
    const [told] = await lookBetween(15, 16, "USDT", "69.5");
    assertMatch(
      told ?? "",
      /: 0\.5 left it without an order of the service between block 14 \(100\)/,
    );
  });
  await t.step("the least is that of one block, not the sum of all that went", async () => {
    await moved(sql, { kind: "sweep", amount: "40", height: 17, destination: HOT });
    await moved(sql, { kind: "cold", amount: "20", height: 18, destination: COLD });
    // 100, 70, 110, 90
    assertEquals(await lookBetween(15, 18, "USDT", "70"), []);
    assertEquals((await lookBetween(16, 18, "USDT", "69.9")).length, 1);
    // what went in block 16 may not be in it
    const result = await lookTwice("USDT", [17, 18, "89.9"], [19, 20, "89.9"]);
    assertEquals(result.differences, []);
    assertStringIncludes(
      result.unchecked ?? "",
      "USDT: 0.1 less than expected at block 18 (89.9 held, 90 expected); " +
        "not confirmed: 0.1 less than expected at block 20 (89.9 held, 90 expected), " +
        "and either look may be a block off",
    );
  });
  await t.step("it is no basis: what hid in it is told as soon as a balance is exact", async () => {
    assertEquals(await lookBetween(17, 18, "USDT", "100"), [], "10 of 110, or nothing of 90");
    assertEquals(await kept("USDT"), "100 at 14");
    const [told] = await look(19, "USDT", "80");
    assertMatch(
      told ?? "",
      /: 10 left it without an order of the service between block 14 \(100\)/,
    );
    assertEquals(await look(19, "USDT", "90"), []);
    assertEquals(await kept("USDT"), "90 at 19");
  });
});

test("a first basis that is read while transfers go on is the least that can be held then", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look, lookTwice, kept } = watchedWallet(sql);
  await moved(sql, { kind: "sweep", amount: "40", height: 11, destination: HOT });
  await moved(sql, { kind: "cold", amount: "30", height: 12, destination: COLD });
  assertEquals(await lookTwice("USDT", [10, 12, "100"], null), {
    differences: [],
    unchecked: "USDT: 100 at block 12 is no basis while transfers go on; " +
      "not confirmed: no block came after block 12",
  });
  assertEquals([await kept("USDT"), await kept("native")], ["none", "100 at 12"]);
  const result = await lookTwice("USDT", [10, 12, "100"], [13, 13, "110"]);
  assertEquals(result, { differences: [], unchecked: null });
  assertEquals(await kept("USDT"), "70 at 13", "100 if it was of block 11");
  assertEquals(await look(14, "USDT", "110"), []);
  assertEquals(await kept("USDT"), "110 at 15");
});

test("what was not compared is told as not compared, and hides nothing else", async (t) => {
  await using database = await testDatabase();
  const { sql } = database;
  const { check, now, look } = watchedWallet(sql);
  await look(10, "USDT", "100");
  await passed(sql, 20);
  now(11, "USDT", "99");
  const compare = async (chain = check.chain, pause = check.pause) => {
    const report = await compareAll({
      sql,
      chains: new Map([["TRX", chain]]),
      coldAddressOf: () => null,
      pause,
    }, { scope: "quick", sparesNodes: true });
    const rules = report.body.parts.flatMap((part) => part.rules);
    const rule = rules.find((one) => one.rule === "the hot wallet moved by our orders only");
    return [report.differences, report.unchecked, rule?.unchecked] as const;
  };

  await t.step("a balance that no node tells", async () => {
    const balanceOf: typeof check.chain.balanceOf = (address, asset) =>
      asset === "native"
        ? Promise.reject(new ChainUnavailable("timeout", "Cannot ask as it is silent"))
        : check.chain.balanceOf(address, asset);
    const later = () => Promise.resolve(now(12, "USDT", "99"));
    const found = await compare({ ...check.chain, balanceOf }, later);
    assertEquals(found, [1, 1, "native: Cannot ask as it is silent"]);
  });
  await t.step("a node that is behind the block that was last compared", async () => {
    now(9, "USDT", "99");
    const behind = "its nodes are at block 9, before block 10 that was compared already";
    assertEquals(await compare(), [0, 1, `USDT: ${behind}; native: ${behind}`]);
    assertEquals((await checkHotWallet(check, true)).unchecked?.includes(behind), true);
  });
  await t.step("nodes that do not agree on the newest block", async () => {
    let height = 1_000;
    const solid = () =>
      Promise.resolve({
        height: --height,
        parentHeight: height - 1,
        hash: `h${height}`,
        parentHash: "",
        time: 0,
        tick: 0,
      });
    const disagree = "its nodes do not agree on the newest block";
    const found = await compare({ ...check.chain, solid });
    assertEquals(found, [0, 1, `USDT: ${disagree}; native: ${disagree}`]);
  });
  await t.step("a block that the scan does not come to", async () => {
    now(21, "USDT", "99");
    const reason = "Cannot compare as the service's scan has not passed block 21";
    assertEquals(await compare(), [0, 1, reason]);
  });
});

test("a scan that rests a minute is waited for, and what it records until then counts", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { check, now, look } = watchedWallet(sql);
  await look(10, "USDT", "100");
  now(11, "USDT", "70");
  now(11, "native", "98");
  let waited = 0;
  const result = await checkHotWallet({
    ...check,
    pause: async (milliseconds) => {
      const before = waited;
      waited += milliseconds;
      if (before >= 60_000 || waited < 60_000) return;
      await moved(sql, { kind: "cold", amount: "30", fee: "2", height: 11, destination: COLD });
      await passed(sql, 11);
    },
  });
  assertEquals(result, { differences: [], unchecked: null });
  assertEquals(waited, 60_000);
});

test("two comparisons beside each other keep the later level", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { check, now, look, kept } = watchedWallet(sql);
  await look(10, "USDT", "100");
  await moved(sql, { kind: "cold", amount: "30", height: 12, destination: COLD });
  now(11, "USDT", "100");
  await passed(sql, 11);
  const balanceOf: typeof check.chain.balanceOf = async (address, asset) => {
    const found = await check.chain.balanceOf(address, asset);
    if (asset !== "USDT" || await kept("USDT") !== "100 at 10") return found;
    // the other one begins later and is done first
    assertEquals(await look(12, "USDT", "70"), []);
    assertEquals(await kept("USDT"), "70 at 12");
    return found;
  };
  const found = await checkHotWallet({ ...check, chain: { ...check.chain, balanceOf } });
  assertEquals(found, { differences: [], unchecked: null });
  assertEquals(await kept("USDT"), "70 at 12");
  assertEquals(await look(13, "USDT", "70"), []);
});
