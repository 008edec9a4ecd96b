import { assertEquals, assertMatch } from "@std/assert";
import { checkHotWallet } from "../../actors/reconcile/check_hot_wallet.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { moved } from "./support/moving_chain.ts";
import { HOT, type Said, watchedWallet } from "./support/watched_wallet.ts";

const test = testNeeding(DATABASE);
const RIGHT = { differences: [], unchecked: null };

async function sweep(sql: Sql, height: number, amount: string): Promise<void> {
  await moved(sql, { kind: "sweep", amount, height, destination: HOT });
}

async function payOut(sql: Sql, height: number, amount: string): Promise<void> {
  await moved(sql, { kind: "cold", amount, height, destination: "cold-wallet" });
}

/** A balance that nodes report at one block. */
function at(height: number, text: string): Said {
  return [height, height, text];
}

test("a balance of the block before or after is neither a theft nor money from outside", async (t) => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look, lookTwice, kept } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), []);

  await t.step("a sweep that is not in it yet", async () => {
    await sweep(sql, 11, "30");
    assertEquals(await lookTwice("USDT", at(11, "100"), at(12, "130")), RIGHT);
    assertEquals(await kept("USDT"), "130 at 12");
  });
  await t.step("a payout that is in it already", async () => {
    await payOut(sql, 14, "50");
    assertEquals(await lookTwice("USDT", at(13, "80"), at(14, "80")), RIGHT);
    assertEquals(await kept("USDT"), "80 at 14");
  });
  await t.step("a payout that is not in it yet becomes no basis", async () => {
    await payOut(sql, 15, "50");
    assertEquals(await lookTwice("USDT", at(15, "80"), at(16, "30")), RIGHT);
    assertEquals(await kept("USDT"), "30 at 16");
    assertEquals(await look(17, "USDT", "30"), []);
  });
  await t.step("a sweep that is in it already becomes no basis", async () => {
    await sweep(sql, 19, "40");
    assertEquals(await lookTwice("USDT", at(18, "70"), at(19, "70")), RIGHT);
    assertEquals(await kept("USDT"), "70 at 19");
  });
});

test("a node that is a block behind in every look is no alarm and no basis, whatever is paid in each block", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look, lookTwice, kept } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), []);
  // 100, 94, 89, 85 and 125, 165, 205
  for (const [height, paid] of [[11, "6"], [12, "5"], [13, "4"]] as const) {
    await payOut(sql, height, paid);
  }
  for (const height of [14, 15, 16]) await sweep(sql, height, "40");
  assertEquals(await lookTwice("USDT", at(11, "100"), at(12, "94")), RIGHT);
  assertEquals(await kept("USDT"), "100 at 10");
  assertEquals(await lookTwice("USDT", at(15, "125"), at(16, "165")), {
    differences: [],
    unchecked: "USDT: 40 less than expected at block 15 (125 held, 165 expected); " +
      "not confirmed: 40 less than expected at block 16 (165 held, 205 expected), " +
      "and either look may be a block off",
  });
  assertEquals(await kept("USDT"), "100 at 10");
  assertEquals(await look(17, "USDT", "205"), []);
  assertEquals(await kept("USDT"), "205 at 17");
});

test("what is lacking is told as not confirmed until a later block shows it too", async (t) => {
  await using database = await testDatabase();
  const { sql } = database;
  const { check, now, look, lookTwice, kept } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), []);
  const seen = "USDT: 10 less than expected at block 11 (90 held, 100 expected); not confirmed: ";

  await t.step("no block comes", async () => {
    assertEquals(await lookTwice("USDT", at(11, "90"), null), {
      differences: [],
      unchecked: `${seen}no block came after block 11`,
    });
  });
  await t.step("the scan does not come to it", async () => {
    now(11, "USDT", "90");
    const pause = () => Promise.resolve(now(12, "USDT", "90"));
    assertEquals(await checkHotWallet({ ...check, pause }), {
      differences: [],
      unchecked: `${seen}Cannot compare as the service's scan has not passed block 12`,
    });
  });
  await t.step("a later block has more than is expected", async () => {
    assertEquals(await lookTwice("USDT", at(11, "90"), at(12, "105")), {
      differences: [],
      unchecked: `${seen}105 held at block 12`,
    });
    assertEquals(await kept("USDT"), "100 at 10");
  });
  await t.step("it is there again", async () => {
    assertEquals(await lookTwice("USDT", at(11, "90"), at(12, "100")), RIGHT);
  });
  await t.step("it is lacking there too: the smaller of both was taken", async () => {
    const { differences, unchecked } = await lookTwice("USDT", at(13, "80"), at(14, "95"));
    assertEquals(unchecked, null);
    assertMatch(differences[0]?.detail ?? "", /^5 left it without an order of the service/);
    assertEquals(await kept("USDT"), "100 at 12");
  });
});

test("a theft as large as a payout beside it is told as soon as a block is quiet", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look, lookTwice, kept } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), []);
  for (const height of [11, 12, 13]) await payOut(sql, height, "10");
  const { differences, unchecked } = await lookTwice("USDT", at(11, "80"), at(12, "70"));
  assertEquals([differences.length, unchecked?.startsWith("USDT: 10 less than expected")], [
    0,
    true,
  ]);
  assertEquals(await kept("USDT"), "100 at 10");
  const [told] = await look(15, "USDT", "60");
  assertMatch(told ?? "", /: 10 left it without an order of the service between block 10 \(100\)/);
});

test("money from outside is a basis as far as two looks have it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look, lookTwice, kept } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), []);
  assertEquals(await lookTwice("USDT", at(11, "130"), null), {
    differences: [],
    unchecked: "USDT: 30 more than expected at block 11; " +
      "not confirmed: no block came after block 11",
  });
  assertEquals(await kept("USDT"), "100 at 10");
  assertEquals(await lookTwice("USDT", at(11, "130"), at(12, "120")), RIGHT);
  assertEquals(await kept("USDT"), "120 at 12");
  const { unchecked } = await lookTwice("USDT", at(13, "125"), at(14, "119"));
  assertEquals(
    unchecked,
    "USDT: 5 more than expected at block 13; " +
      "not confirmed: 1 less than expected at block 14 (119 held, 120 expected), " +
      "and either look may be a block off",
  );
  assertEquals(await kept("USDT"), "120 at 12");
});

test("what an operator accepts while transfers go on is the least that two looks allow", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { look, lookTwice, kept } = watchedWallet(sql);
  assertEquals(await look(10, "USDT", "100"), []);
  await payOut(sql, 11, "20");
  // 15 were taken by hand, and the payout is not in the first balance yet
  assertEquals(await lookTwice("USDT", at(11, "85"), at(12, "65"), true), RIGHT);
  assertEquals(await kept("USDT"), "65 at 12");
  assertEquals(await look(13, "USDT", "65"), []);
});
