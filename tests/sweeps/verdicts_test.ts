import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { settleSweep } from "../../actors/sweeper/settle_sweep.ts";
import { NotOurChain } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readAddressHoldings, readWalletMoves } from "../../ledger/reconcile/holdings.ts";
import { readUnexpectedSweep, writeSweepVerdict } from "../../ledger/sweeps/verdicts.ts";
import { amount, booksFaults, SOMEWHERE, until } from "../support/books.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { DATABASE, needs, testNeeding } from "../support/permissions.ts";
import { openDesk, sweepWith, tellOf, untilUnexpected } from "./support/desk.ts";
import { type House, openHouse } from "./support/house.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

const databaseTest = testNeeding(DATABASE);
const mayStillAsk = () => Promise.resolve(true);

const AUDIT = {
  id: "aud_test",
  merchantId: null,
  actor: "me",
  action: "sweep.settle",
  subject: "a sweep",
  requestId: null,
};

async function noted(house: House, count: number): Promise<void> {
  await house.until("the transfers", async () => {
    const [booked] = await house.sql<{ n: number }[]>`
      SELECT count(*)::int AS n FROM book.sweep_item i
      JOIN book.deposit d USING (merchant_id, network, txid) WHERE d.expires_at IS NULL`;
    return booked?.n === count;
  });
}

test("of a sweep that arrived in part, top-ups become available by what arrived and no more", async () => {
  await using house = await openHouse({ terms: { enabled: false }, tokenFee: 100 });
  const { sql } = house;
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  const small = await house.pay(own, "10");
  await house.mine(1);
  const large = await house.pay(own, "100");
  await noted(house, 2);
  house.setSweeping(true);
  await untilUnexpected(house, own);
  const sweep = (await house.steps()).find(({ kind }) => kind === "sweep");
  const id = sweep?.id ?? "";
  assertEquals([sweep?.amount, sweep?.status], ["108.9", "final"]);
  const [told] = await sql`SELECT detail FROM book.sweep_address`;
  assertStringIncludes(told?.["detail"], id);
  const before = await desk.standing();
  for (const verdict of ["nothing_moved", "lost"]) {
    const { status, body } = await desk.settle(id, verdict);
    assertEquals(status, 409);
    assertStringIncludes(body.message, "107.811 of that reached the hot wallet; 0 is there");
  }
  for (const reason of ["", "  "]) {
    assertEquals((await desk.settle(id, "moved", reason)).status, 400);
  }
  assertEquals(await desk.standing(), before);
  assertEquals(await house.balance(), "0/108.9");

  const { status, body } = await desk.settle(id, "moved");
  assertEquals([status, body], [200, {
    success: true,
    sweepId: id,
    verdict: "moved",
    arrived: "107.811",
    carried: 1,
    released: 1,
  }]);
  await house.until("the confirmation", async () => {
    return await house.deposit(small) === "CONFIRMED 9.9 fee 1 effect 8.9";
  });
  assertEquals(await house.balance(), "8.9/99");
  assertEquals((await house.deposit(large)).split(" ")[0], "PENDING");
  assertEquals((await desk.settle(id, "moved")).status, 409);
  assertEquals(await desk.audit(), [
    `${id} not_so`,
    `${id} not_so`,
    `${id} moved`,
    `${id} settled_before`,
  ]);
  // what has left and what was lost on the way are told apart
  const [holding] = await readAddressHoldings(sql, "TRX", Number.MAX_SAFE_INTEGER);
  assertEquals([holding?.address, holding?.amount], [own, 0n]);
  const blocks = { after: 0, low: 0, high: Number.MAX_SAFE_INTEGER };
  const moves = await readWalletMoves(sql, "TRX", "USDT", house.chain.hotWallet, blocks);
  assertEquals(moves.map(({ came, went }) => [came, went]), [[amount("107.811"), 0n]]);
  assertEquals(await booksFaults(sql), []);
  // neither by code nor by hand
  const list = () => sql`UPDATE book.sweep_item SET outgoing_id = ${id} WHERE outgoing_id IS NULL`;
  await assertRejects(list, Error, "moves less");
  const unlist = () => sql`UPDATE book.sweep_item SET outgoing_id = NULL WHERE outgoing_id = ${id}`;
  await assertRejects(unlist, Error, "may land");
  const change = () => sql`UPDATE book.sweep_verdict SET taken = 200, arrived = 200`;
  await assertRejects(change, Error, "written once");
  // the address is swept again
  await house.pay(own, "50");
  await house.until("the next sweep", async () => {
    await sql`UPDATE book.sweep_item SET found_at = now() - interval '1 hour'`;
    await house.lookNow();
    return (await house.steps()).some(({ kind, amount }) => `${kind} ${amount}` === "sweep 49.5");
  });
});

test("a sweep that moved nothing gives its top-ups back, once, whoever else settles it too", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  const { sql } = house;
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  const txid = await house.pay(own, "100");
  await noted(house, 1);
  const id = await sweepWith(house, own, { from: SOMEWHERE, to: SOMEWHERE, amount: "1" });
  const before = await desk.standing();
  const refused = await Promise.all([desk.settle(id, "moved"), desk.settle(id, "lost")]);
  assertEquals(refused.map(({ status }) => status), [409, 409]);
  assertEquals((await desk.settle("out_unknown", "moved")).status, 404);
  assertEquals(await desk.standing(), before);
  // in the database too: what it lists would have to have arrived
  const claim = () =>
    sql`INSERT INTO book.sweep_verdict VALUES (${id}, 'moved', 99, 99, 'because', 'me', now())`;
  await assertRejects(claim, Error, "lists more than has arrived");

  const both = await Promise.all([1, 2].map(() => desk.settle(id, "nothing_moved")));
  assertEquals(both.map(({ status }) => status).sort(), [200, 409]);
  const done = both.find(({ status }) => status === 200);
  assertEquals([done?.body.carried, done?.body.released], [0, 1]);
  assertEquals((await desk.audit()).slice(2).toSorted(), [
    `${id} nothing_moved`,
    `${id} settled_before`,
  ]);
  assertEquals((await house.deposit(txid)).split(" ")[0], "PENDING");
  house.setSweeping(true);
  await house.until("the confirmation", async () => {
    await house.lookNow();
    return await house.deposit(txid) === "CONFIRMED 100 fee 1 effect 99";
  });
  assertEquals(await house.held(own), 0n);
  await house.until("the end", async () => await house.reason(own) === null);
  // a sweep that did what it should needs no verdict
  const paid = (await house.steps()).at(-1)?.id ?? "";
  assertEquals((await desk.settle(paid, "nothing_moved")).status, 404);
  const settle = () =>
    sql`INSERT INTO book.sweep_verdict VALUES (${paid}, 'lost', 0, 0, 'because', 'me', now())`;
  await assertRejects(settle, Error, "needs no verdict");
  assertEquals(await booksFaults(sql), []);
});

test("a sweep whose money went elsewhere is settled as lost, and later top-ups are swept", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  const { sql } = house;
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  const gone = await tellOf(house, { from: SOMEWHERE, to: own, amount: "100000000" });
  await noted(house, 1);
  const id = await sweepWith(house, own, { from: own, to: SOMEWHERE, amount: "100000000" });
  for (const verdict of ["moved", "nothing_moved"]) {
    assertEquals((await desk.settle(id, verdict)).status, 409);
  }
  const line = ["sweeps", "settle", id, "lost"] as const;
  assertStringIncludes(await desk.command(...line), "400");
  const told = await desk.command(...line, "--reason", "sent to a stranger");
  assertMatch(told, /arrived +0\ncarried +0\nreleased +1/);
  assertStringIncludes(await desk.command(...line, "--reason", "again"), "It was settled before.");
  house.setSweeping(true);
  const txid = await house.pay(own, "50");
  await house.until("the confirmation", async () => {
    await sql`UPDATE book.sweep_item SET found_at = now() - interval '1 hour'`;
    await house.lookNow();
    return await house.deposit(txid) === "CONFIRMED 50 fee 1 effect 49";
  });
  assertEquals((await house.deposit(gone)).split(" ")[0], "PENDING");
  assertEquals(await house.balance(), "49/100");
  assertEquals(await booksFaults(sql), []);
});

test("no balance of a node behind the scan is believed, and no other end than the scan has read", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  const { sql, chain } = house;
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  await house.pay(own, "100");
  await noted(house, 1);
  const id = await sweepWith(house, own, { from: SOMEWHERE, to: SOMEWHERE, amount: "1" });
  const sweep = await readUnexpectedSweep(sql, id);
  if (sweep === null) throw new Error("Cannot go on as nothing was swept");
  const before = await desk.standing();
  /** Its node gives the receipt, and is behind when it is asked for the balance. */
  const late: Parameters<typeof settleSweep>[0]["chain"] = {
    ...chain,
    balanceOf: (address, asset, signal, checkpoint) => {
      if (checkpoint === undefined) return chain.balanceOf(address, asset, signal);
      return Promise.reject(new NotOurChain("no node has our newest block"));
    },
  };
  const asks: readonly (readonly [typeof late, typeof sweep, boolean?])[] = [
    [late, sweep],
    [chain, { ...sweep, height: sweep.height + 1 }],
    [chain, sweep, true],
  ];
  const reasons: string[] = [];
  for (const [asked, of, isEnded = false] of asks) {
    const mayAsk = isEnded ? () => Promise.resolve(false) : mayStillAsk;
    const deps = { sql, chain: asked, stopped: null, mayStillAsk: mayAsk };
    const outcome = await settleSweep(deps, of, "nothing_moved", "because", AUDIT, 5_000);
    reasons.push(outcome.kind === "in_doubt" ? outcome.reason : outcome.kind);
  }
  assertEquals(reasons, [
    "no node has our newest block",
    `${sweep.txid} is in block ${sweep.height}; the scan has read its success in ${
      sweep.height + 1
    }`,
    "asker_ended",
  ]);
  assertEquals(await desk.standing(), before);
  assertEquals((await desk.settle(id, "nothing_moved")).status, 200);
});

/** A sweep of 200 that ended unexpected and lists one transfer of 100; two more of 100 are open. */
async function addUnexpected({ sql }: TestDatabase, number: number): Promise<string> {
  const id = newId("out");
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, destination, status, attempts, created_at, updated_at)
    VALUES (${id}, 'mer_platform', 'sweep', 'TRX', 'USDT', 200, ${
    String(number)
  }, 'hot', 'final', 1, now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit, outcome, height, fee)
    VALUES (${id}, 1, 'mer_platform', 'TRX', ${`sweep ${number}`}, '{}', now(), extract(epoch FROM now()) * 1000, now(), 1, 'unexpected', 9, 1)`;
  await sql`
    INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height)
    SELECT 'mer_test', 'TRX', ${`to ${number}`}, n, ${`T${number}`}, 'USDT', 100, n FROM generate_series(1, 3) n`;
  await list(sql, id, number, 1);
  return id;
}

async function list(sql: Sql, id: string, number: number, item: number): Promise<void> {
  await sql`
    UPDATE book.sweep_item SET outgoing_id = ${id} WHERE txid = ${`to ${number}`} AND log_index = ${item}`;
}

async function claim(sql: Sql, id: string): Promise<void> {
  await sql`INSERT INTO book.sweep_verdict VALUES (${id}, 'moved', 100, 100, 'because', 'me', now())`;
}

/**
 * Begins a second transaction before a first one commits, and commits that once the other waits for
 * it or is over.
 *
 * @returns what the second one failed with
 */
async function atOnce(
  database: TestDatabase,
  first: (sql: Sql) => Promise<unknown>,
  second: (sql: Sql) => Promise<unknown>,
): Promise<string> {
  const [one, two] = [database.connect({ max: 1 }), database.connect({ max: 1 })];
  const held = await one.reserve();
  await held`BEGIN`;
  await first(held);
  let isOver = false;
  const end = second(two).then(() => "nothing", String).finally(() => isOver = true);
  await until(async () => {
    const [row] = await database.sql<{ waits: boolean }[]>`
      SELECT EXISTS (SELECT FROM pg_stat_activity a
        WHERE a.datname = current_database() AND cardinality(pg_blocking_pids(a.pid)) > 0) AS waits`;
    return isOver || row?.waits === true;
  });
  await held`COMMIT`;
  held.release();
  return await end;
}

databaseTest(
  "whoever lists under a sweep and whoever settles it at once, one of them sees the other",
  async () => {
    await using database = await testDatabase();
    const ids: string[] = [];
    for (const number of [1, 2, 3, 4]) ids.push(await addUnexpected(database, number));
    const [a = "", b = "", c = "", d = ""] = ids;
    assertStringIncludes(
      await atOnce(database, (sql) => list(sql, a, 1, 2), (sql) => claim(sql, a)),
      "lists more than has arrived",
    );
    assertStringIncludes(
      await atOnce(database, (sql) => claim(sql, b), (sql) => list(sql, b, 2, 2)),
      "moves less",
    );
    assertStringIncludes(
      await atOnce(database, (sql) => list(sql, c, 3, 2), (sql) => list(sql, c, 3, 3)),
      "moves less",
    );
    // settled in the proper way, what was listed meanwhile is given back
    const sweep = await readUnexpectedSweep(database.sql, d);
    if (sweep === null) throw new Error("Cannot go on as there is no sweep");
    const arrived = amount("100");
    const verdict = {
      sweep,
      address: "T4",
      verdict: "moved" as const,
      taken: arrived,
      arrived,
      reason: "because",
    };
    const settle = (sql: Sql) => writeSweepVerdict(sql, verdict, AUDIT);
    assertEquals(await atOnce(database, (sql) => list(sql, d, 4, 2), settle), "nothing");
    const rows = await database.sql<{ line: string }[]>`
    SELECT o.wallet || ' ' || coalesce(v.verdict, '-') || ' ' || string_agg(i.log_index::text, ',' ORDER BY i.log_index) AS line
    FROM book.outgoing o JOIN book.sweep_item i ON i.outgoing_id = o.id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id GROUP BY o.wallet, v.verdict ORDER BY o.wallet`;
    assertEquals(rows.map(({ line }) => line), ["1 - 1,2", "2 moved 1", "3 - 1,2", "4 moved 1"]);
  },
);

databaseTest("in which block a transfer to be swept came is written once", async () => {
  await using database = await testDatabase();
  const id = await addUnexpected(database, 1);
  const change = () => database.sql`UPDATE book.sweep_item SET height = 1 WHERE log_index = 3`;
  await assertRejects(change, Error, "written once");
  await database.sql`
    INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height)
    VALUES ('mer_test', 'TRX', 'to 1', 9, 'T1', 'USDT', 1, 9)`;
  await assertRejects(() => list(database.sql, id, 1, 9), Error, "moves less");
});
