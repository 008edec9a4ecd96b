import { assertEquals, assertRejects } from "@std/assert";
import { planCold } from "../../actors/treasury/cold_planner.ts";
import { FundsWatch } from "../../actors/treasury/funds.ts";
import { type Checkpoint, NotOurChain } from "../../chains/chain.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { movedClock } from "../support/moved_clock.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("money that has left counts as reserved or as gone, also when its end is recorded ahead of the cursor", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  let [solid, balance, reads] = [7, "1000", 0];
  const block = (height: number) => ({
    kind: "block" as const,
    block: {
      height,
      parentHeight: height - 1,
      hash: `${height}`,
      parentHash: `${height - 1}`,
      time: 1,
      tick: 1,
      transactions: [],
      transfers: [],
    },
  });
  const asked = new Set<string>();
  const chain = paperChain("TRX", {
    async *blocks(from) {
      yield from <= solid ? block(from) : { kind: "missing", height: from };
    },
    balanceOf: (_address, asset, _signal, checkpoint?: Checkpoint) => {
      asked.add(`${checkpoint?.height} ${checkpoint?.hash}`);
      reads++;
      return Promise.resolve(amount(asset === "USDT" ? balance : "1000"));
    },
  });
  const cursor = { height: 7, hash: "7", time: 2, previousTime: 1, tick: 2, previousTick: 1 };
  await moveCursor(sql, "TRX", "solid", null, cursor);
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 400, 'T', 'signed', now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
    VALUES ('out_1', 1, 'mer_1', 'TRX', 'ab', '{}', now(), extract(epoch FROM now()) * 1000, now(), 1)`;
  const watch = new FundsWatch(sql, chain, 3_600_000);
  const free = async () => (await watch.poll(cursor.height)).funds.get("USDT")?.free;
  assertEquals(await free(), amount("600"));
  const before = reads;
  assertEquals(await free(), amount("600"));
  assertEquals(reads, before, "nothing of ours has ended");
  assertEquals([...asked], ["7 7"]);

  // its end is recorded while the cursor stands, and the nodes are behind its block
  await sql`UPDATE book.attempt SET outcome = 'paid', height = 8, fee = 1`;
  await sql`UPDATE book.outgoing SET status = 'final'`;
  await assertRejects(free, NotOurChain);
  const levels = new Map([["USDT" as const, { ceiling: amount("700"), target: amount("300") }]]);
  const stale = { balance: amount("1000"), free: amount("1000") };
  const seen = { coin: stale, funds: new Map([["USDT" as const, stale]]) };
  const plan = () => planCold(sql, chain, { address: "cold", levels }, seen);
  await assertRejects(plan, NotOurChain);

  [solid, balance] = [8, "600"];
  asked.clear();
  assertEquals(await free(), amount("600"));
  assertEquals(await plan(), false);
  assertEquals([...asked], ["8 8"]);
});

test("balances of a wallet that lacks nothing are not read again while the solid block stands, or a moment later", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  using clock = movedClock();
  let [reads, usdt] = [0, "1000"];
  const chain = paperChain("TRX", {
    balanceOf: (_address, asset) => {
      reads++;
      return Promise.resolve(amount(asset === "USDT" ? usdt : "1000"));
    },
  });
  const place = { hash: "7", time: 2, previousTime: 1, tick: 2, previousTick: 1 };
  await moveCursor(sql, "TRX", "solid", null, { height: 7, ...place });
  const watch = new FundsWatch(sql, chain, 60_000);
  /** Polls after some time. @returns whether a node was asked */
  const asks = async (height: number, ms: number) => {
    clock.advance(ms);
    const before = reads;
    await watch.poll(height);
    return reads > before;
  };
  assertEquals(await asks(7, 0), true);
  assertEquals(await asks(8, 30_000), false, "what comes from outside is seen a little later");
  assertEquals(await asks(8, 30_000), true);
  assertEquals(await asks(8, 300_000), false, "solid balances change with blocks alone");
  assertEquals(await asks(8, 300_000), true, "the scan may stand while the chain does not");
  // all of it is reserved: the next payout waits for more
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 1000, 'T', 'queued', now(), now())`;
  assertEquals([await asks(8, 1_000), await asks(9, 0)], [false, true]);
  await sql`UPDATE book.outgoing SET status = 'void'`;
  usdt = "0";
  assertEquals(await asks(10, 60_000), true);
  assertEquals(
    await asks(11, 1_000),
    false,
    "nothing waits for a token that the wallet has none of",
  );
});
