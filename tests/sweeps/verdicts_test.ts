import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { readAddressHoldings } from "../../ledger/reconcile/read_address_holdings.ts";
import { readWalletMoves } from "../../ledger/reconcile/wallet_level.ts";
import { amount, booksFaults, SOMEWHERE } from "../support/books.ts";
import { needs } from "../support/permissions.ts";
import { openDesk, sweepWith, tellOf, untilUnexpected } from "./support/desk.ts";
import { type House, openHouse } from "./support/house.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

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
  const [told] = await sql`SELECT detail FROM book.sweep_target`;
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
  // one that did what it should needs nobody
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
