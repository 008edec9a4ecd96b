import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { writeOff } from "../../actors/sweeper/write_off.ts";
import { NotOurChain } from "../../chains/chain.ts";
import { readAddressHoldings } from "../../ledger/reconcile/holdings.ts";
import { findSweepAddress } from "../../ledger/sweeps/sweep_addresses.ts";
import { readSweepFacts } from "../../ledger/sweeps/sweep_facts.ts";
import { readSweepHealth } from "../../ledger/sweeps/sweep_health.ts";
import { writeOffItems } from "../../ledger/sweeps/verdicts.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { amount, booksFaults, SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { hashApiKey, mintApiKey } from "../../api/http/key_ring.ts";
import { testApi } from "../support/api.ts";
import { AUDIT } from "./support/audit.ts";
import { openDesk, sweepWith, tellOf } from "./support/desk.ts";
import { type House, openHouse } from "./support/house.ts";

const test = testNeeding(DATABASE);
const mayStillAsk = () => Promise.resolve(true);

/** Money that the chain says has come to an address, and that is not there. */
async function payNothing(house: House, to: string, units: string): Promise<string> {
  const txid = await tellOf(house, { from: SOMEWHERE, to, amount: units });
  await house.mine(1);
  return txid;
}

/** Until a number of top-ups of the merchant is booked as final. */
async function noted(house: House, count: number): Promise<void> {
  await house.until("the transfers", async () => {
    const [booked] = await house.sql<{ n: number }[]>`
      SELECT count(*)::int AS n FROM book.sweep_item i
      JOIN book.deposit d USING (merchant_id, network, txid) WHERE d.expires_at IS NULL`;
    return booked?.n === count;
  });
}

async function untilDiffers(house: House, address: string): Promise<void> {
  await house.until("the reason", async () => {
    await house.sql`UPDATE book.sweep_item SET found_at = now() - interval '1 hour' WHERE NOT done`;
    await house.lookNow();
    return await house.reason(address) === "balance_differs";
  });
}

/** Amount that an address should hold by all that the scan has read. */
async function holding({ sql }: House, address: string): Promise<bigint | undefined> {
  const all = await readAddressHoldings(sql, "TRX", Number.MAX_SAFE_INTEGER);
  return all.find((of) => of.address === address)?.amount;
}

test("what is gone from an address is written off as the chain shows it, and holds up nothing more", async () => {
  await using house = await openHouse();
  const { sql } = house;
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  const gone = await payNothing(house, own, "100000000");
  await untilDiffers(house, own);
  const health = () => readSweepHealth(sql, "TRX");
  assertEquals((await health()).waiting.get("balance_differs"), 1);
  assertEquals((await health()).oldestTopUpAt === null, false);
  assertEquals(await holding(house, own), amount("100"));

  const before = await desk.standing();
  for (const wrong of ["99", "100.000001", "200"]) {
    const { status, body } = await desk.writeOff(own, wrong);
    assertEquals([status, body.message], [
      409,
      "0 is there of 100 that waits to be swept; transfers of 100 are not there in whole.",
    ]);
  }
  for (
    const change of [{ reason: " " }, { reason: undefined }, { amount: "0" }, { network: "trx" }]
  ) {
    assertEquals((await desk.writeOff(own, "100", change)).status, 400);
  }
  assertEquals((await desk.writeOff(SOMEWHERE, "100")).status, 404);
  assertEquals((await desk.writeOff(own, "100", { currency: "USDC" })).status, 404);
  assertEquals(await desk.standing(), before);

  const said = await desk.command(
    ...["sweeps", "write-off", "TRX", own, "USDT", "100"],
    ...["--reason", "swept after the copy was made"],
  );
  assertMatch(said, /amount +100\ntransfers +1/);
  await house.until("the end", async () => await house.reason(own) === null);
  assertEquals([...(await health()).waiting, (await health()).oldestTopUpAt], [null]);
  assertEquals((await desk.writeOff(own, "100")).status, 404);
  assertEquals(await desk.audit(), [...Array(3).fill(`${own} not_so`), `${own} 100`]);
  const [audit] = await sql`SELECT actor, after FROM hub.audit WHERE refused IS NULL`;
  assertEquals(audit?.["after"], {
    amount: "100",
    unexplained: "100",
    transfers: [`${gone}/0`],
    reason: "swept after the copy was made",
  });

  // nothing was booked; the comparison with the chain knows
  assertEquals((await house.deposit(gone)).split(" ")[0], "PENDING");
  assertEquals(await house.balance(), "0/100");
  assertEquals(await holding(house, own), 0n);
  assertEquals(await booksFaults(sql), []);
  // later money is swept like any other
  const txid = await house.pay(own, "50");
  await house.until("the confirmation", async () => {
    return await house.deposit(txid) === "CONFIRMED 50 fee 1 effect 49";
  });
  assertEquals(await house.balance(), "49/100");
  assertEquals([await holding(house, own), await house.held(own)], [0n, 0n]);
  // and the other one cannot be made available by hand
  await assertRejects(
    () =>
      sql`UPDATE book.deposit SET status = 'CONFIRMED', cleared_at = now() WHERE txid = ${gone}`,
    Error,
    "no final sweep lists it",
  );
});

test("only what the balance does not hold is written off, and nothing that it holds in part", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  await using desk = await openDesk(house);
  const [older, newer] = [await house.address("top_up"), await house.address("issued")];
  await payNothing(house, older, "100000000");
  const there = await house.pay(older, "50");
  await house.mine(1);
  // the other way round, what is there may be a part of what came last
  await house.pay(newer, "50");
  await house.mine(1);
  await payNothing(house, newer, "100000000");
  await house.until("the transfers", async () => {
    const rows = await house.sql`SELECT 1 FROM book.sweep_item`;
    return rows.length === 4;
  });
  for (const text of ["50", "100", "150"]) {
    const { status, body } = await desk.writeOff(newer, text);
    assertEquals([status, body.message], [
      409,
      "50 is there of 150 that waits to be swept; transfers of 150 are not there in whole.",
    ]);
  }
  const { status, body } = await desk.writeOff(older, "100");
  assertEquals([status, body.amount, body.transfers], [200, "100", 1]);
  assertEquals(await holding(house, older), amount("50"));
  house.setSweeping(true);
  await house.until("the confirmation", async () => {
    await house.lookNow();
    return await house.deposit(there) === "CONFIRMED 50 fee 1 effect 49";
  });
  assertEquals([await holding(house, older), await house.held(older)], [0n, 0n]);
  assertEquals(await booksFaults(house.sql), []);
});

test("what a settled sweep has taken is not counted as gone a second time", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  await payNothing(house, own, "100000000");
  await noted(house, 1);
  const id = await sweepWith(house, own, { from: own, to: SOMEWHERE, amount: "100000000" });
  // it lists the transfer until it is settled
  const early = await desk.writeOff(own, "100");
  assertEquals([early.status, early.body.message], [
    409,
    `${id} ended unexpected; settle that first.`,
  ]);
  assertEquals((await desk.settle(id, "lost", "sent to a stranger")).status, 200);
  assertEquals(await holding(house, own), 0n);
  assertEquals((await desk.writeOff(own, "100")).status, 200);
  assertEquals(await holding(house, own), 0n);
  assertEquals(await booksFaults(house.sql), []);
});

/** A sweep of an address that is queued, and leased so that no node signs it or takes it back. */
async function queueSweep({ sql, chain }: House, address: string, text: string): Promise<string> {
  const id = newId("out");
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, destination, status, lease_until, created_at, updated_at)
    SELECT ${id}, 'mer_platform', 'sweep', 'TRX', 'USDT', ${text}::text::numeric, wallet_index::text, ${chain.hotWallet},
      'queued', now() + interval '1 hour', now(), now()
    FROM hub.address WHERE address = ${address}`;
  return id;
}

/** It is final, and lists nothing. */
async function endSweep({ sql }: House, id: string, height: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`UPDATE book.outgoing SET status = 'signed', attempts = 1 WHERE id = ${id}`;
    await tx`
      INSERT INTO book.attempt
        (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit, outcome, height, fee)
      VALUES (${id}, 1, 'mer_platform', 'TRX', ${id}, '{}', now(), extract(epoch FROM now()) * 1000, now(), 1, 'paid', ${height}, 0)`;
    await tx`UPDATE book.outgoing SET status = 'final' WHERE id = ${id}`;
  });
}

test("nothing is written off that a transfer of ours may move or may have moved", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  await payNothing(house, own, "100000000");
  await noted(house, 1);
  const before = await desk.standing();
  const id = await queueSweep(house, own, "100");
  const living = await desk.writeOff(own, "100");
  assertEquals([living.status, living.body.message], [409, `sweep ${id} is queued.`]);
  await house.mine(1);
  const solid = await readCursor(house.sql, "TRX", "solid");
  await endSweep(house, id, solid?.height ?? 0);
  const carried = await desk.writeOff(own, "100");
  assertEquals(carried.status, 409);
  assertStringIncludes(carried.body.message, `${id} moved more than it lists`);
  assertEquals(await desk.standing(), before);
});

test("nothing is written off where the books know of less than is there", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  // before anything came, a sweep moved an amount that is noted nowhere
  await endSweep(house, await queueSweep(house, own, "150"), 1);
  await payNothing(house, own, "100000000");
  await noted(house, 1);
  const before = await desk.standing();
  const { status, body } = await desk.writeOff(own, "100");
  assertEquals([status, body.message], [
    409,
    "0 is there, and by the transactions of this address -50 should be.",
  ]);
  assertEquals(await desk.standing(), before);
});

test("an administrator's key that ends while nodes are asked for a balance writes nothing off", async () => {
  await using house = await openHouse();
  const { sql, chain, merchants } = house;
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  await payNothing(house, own, "100000000");
  await untilDiffers(house, own);
  const before = await desk.standing();
  const ends: (() => Promise<unknown>)[] = [];
  const asked: Pick<typeof chain, "balanceOf"> = {
    balanceOf: async (...question) => {
      await ends.pop()?.();
      return await chain.balanceOf(...question);
    },
  };
  await using api = await testApi({
    sql,
    merchants,
    chains: new Map([["TRX", { ...chain, ...asked }]]),
  });
  const keys = [mintApiKey("development"), mintApiKey("development")];
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
    SELECT 'key_' || n, decode(hash, 'hex'), NULL, 'ADMIN', '{admin:write}', '', now()
    FROM unnest(${keys.map(hashApiKey)}::text[]) WITH ORDINALITY k (hash, n)`;
  const [key = "", other = ""] = keys;
  ends.push(() => api.call("DELETE", "/api/admin/api-keys/key_1", { key: other }));
  const body = { network: "TRX", address: own, currency: "USDT", amount: "100", reason: "gone" };
  const { status } = await api.call("POST", "/api/admin/sweeps/write-off", { key, body });
  assertEquals([status, ends.length], [401, 0]);
  assertEquals(await desk.standing(), before);
});

test("no node behind the scan is believed, and nothing that has changed is written off", async () => {
  await using house = await openHouse();
  const { sql, chain } = house;
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  await payNothing(house, own, "100000000");
  await untilDiffers(house, own);
  const target = await findSweepAddress(sql, "TRX", own, "USDT");
  if (target === null) throw new Error("Cannot go on as nothing waits");
  const before = await desk.standing();
  /** Its node is behind where it is asked for what it must have. */
  const late: Pick<typeof chain, "balanceOf" | "capabilities"> = {
    capabilities: chain.capabilities,
    balanceOf: (address, asset, signal, checkpoint) => {
      if (checkpoint === undefined) return chain.balanceOf(address, asset, signal);
      return Promise.reject(new NotOurChain("no node has our newest block"));
    },
  };
  const outcomes = await Promise.all(
    [
      { chain: late, stopped: null },
      { chain, stopped: "another parent" },
      {
        chain: { ...chain, capabilities: { ...chain.capabilities, currencies: [] } },
        stopped: null,
      },
    ].map((deps) =>
      writeOff({ sql, mayStillAsk, ...deps }, target, amount("100"), "because", AUDIT, 5_000)
    ),
  );
  assertEquals(outcomes, [
    { kind: "in_doubt", reason: "no node has our newest block" },
    { kind: "in_doubt", reason: "TRX is read no further: another parent" },
    { kind: "not_so", why: "USDT has no contract on TRX." },
  ]);
  // newer money came after the address was looked at
  const { open } = await readSweepFacts(sql, target);
  const found = {
    items: open,
    amount: amount("100"),
    unexplained: amount("100"),
    balance: amount("0"),
    height: 7,
    reason: "because",
  };
  await sql`UPDATE book.sweep_address SET touched = touched + 1 WHERE address = ${own}`;
  assertEquals(await writeOffItems(sql, target, found, AUDIT), false);
  assertEquals(await desk.standing(), before);
  // of two operators at once one does
  const both = await Promise.all([1, 2].map(() => desk.writeOff(own, "100")));
  const statuses = both.map(({ status }) => status).sort();
  assertEquals(statuses[0], 200);
  assertEquals([404, 409, 503].includes(statuses[1] ?? 0), true, String(statuses));
  const rows = await sql`SELECT trim_scale(amount)::text AS amount FROM book.sweep_write_off`;
  assertEquals(rows.map((row) => row["amount"]), ["100"]);

  // neither by code nor by hand
  await assertRejects(() => sql`UPDATE book.sweep_write_off SET amount = 1`, Error, "written once");
  await assertRejects(() => sql`DELETE FROM book.sweep_write_off`, Error, "written once");
  const restored = () => sql`UPDATE book.sweep_item SET done = false, write_off = NULL`;
  await assertRejects(restored, Error, "written once");
  await payNothing(house, own, "7000000");
  await house.until("the transfer", async () => {
    const rows = await sql`SELECT 1 FROM book.sweep_item WHERE NOT done`;
    return rows.length === 1;
  });
  const [written] = await sql`SELECT id FROM book.sweep_write_off`;
  const joined = () =>
    sql`UPDATE book.sweep_item SET done = true, write_off = ${written?.["id"]} WHERE NOT done`;
  await assertRejects(joined, Error, "Cannot write a transfer off as");
  const other = (sum: number, to: string) =>
    sql.begin(async (tx) => {
      await tx`
        INSERT INTO book.sweep_write_off VALUES ('aud_x', 'TRX', ${to}, 'USDT', ${sum}, 0, 7, 'because', 'me', now())`;
      await tx`UPDATE book.sweep_item SET done = true, write_off = 'aud_x' WHERE NOT done`;
    });
  await assertRejects(() => other(8, own), Error, "another amount");
  await assertRejects(() => other(7, SOMEWHERE), Error, "Cannot write a transfer off as");
  await assertRejects(() => sql`UPDATE book.sweep_item SET done = true WHERE NOT done`, Error);
  assertEquals(await booksFaults(sql), []);
});
