import { assert, assertEquals, assertMatch } from "@std/assert";
import { readAgain } from "../../actors/treasury/read_again.ts";
import {
  type BlockAnswer,
  type Chain,
  ChainUnavailable,
  type Transfer,
} from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { listUnreadable } from "../../ledger/watcher/unreadable_blocks.ts";
import { failoverReasons } from "../../app/health/failover.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { placeCursor } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

const SOLID = 130;
const TIME = 1_700_000_000_000;

/** A chain of which some blocks cannot be read, with the heights that it was asked for one by one. */
function brokenChain(sql: Sql, merchantId: string) {
  const broken = new Map<number, "silent" | "incomplete">();
  const asked: number[] = [];
  const txids = new Map<number, string>();
  const chain: Chain = paperChain("TRX", {
    async *blocks(from: number, to: number): AsyncGenerator<BlockAnswer> {
      asked.push(from);
      for (let height = from; height <= to; height++) {
        await Promise.resolve();
        if (broken.get(height) === "silent") {
          throw new ChainUnavailable("timeout", `Cannot read block ${height} in time`);
        }
        if (broken.get(height) === "incomplete") {
          yield { kind: "incomplete", height, reason: "no receipts" };
          return;
        }
        const met = txids.get(height);
        const txid = met ?? `other-${height}`;
        const paid: Transfer = {
          txid,
          logIndex: 0,
          currency: "USDT",
          eventFrom: "hot-wallet",
          eventTo: "T",
          amount: amount("1"),
          diesAfter: 1,
          expiresAt: 1,
        };
        yield {
          kind: "block",
          block: {
            height,
            parentHeight: height - 1,
            hash: `h${height}`,
            parentHash: `h${height - 1}`,
            time: TIME,
            tick: TIME,
            transactions: [{ txid, success: true, failure: null, fee: amount("0") }],
            transfers: met === undefined ? [] : [paid],
          },
        };
      }
    },
  });
  let number = 0;
  /** A signed payout that this history knows since block `known`, and whose bytes begin at `since`. */
  const sign = async (since: number, known: number) => {
    const id = `out_${++number}`;
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination,
        status, attempts, created_at, updated_at)
      VALUES (${id}, ${merchantId}, 'payout', ${`wd_${id}`}, 'TRX', 'USDT', 1, 'T', 'signed', 1, now(), now())`;
    await sql`
      INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at,
        fee_limit, since_height, known_height)
      VALUES (${id}, 1, ${merchantId}, 'TRX', ${`tx-${id}`}, '{}', ${new Date(
      TIME - 60_000,
    )}, ${TIME - 60_000}, now(), 0, ${since}, ${known})`;
    return `tx-${id}`;
  };
  /** A payout that the scan met at a height before its attempt was known. */
  const meet = async (height: number) => {
    const txid = await sign(height - 1, height - 1);
    txids.set(height, txid);
    await sql`
      INSERT INTO hub.unknown_spend
        (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, status)
      VALUES ('TRX', ${txid}, 0, ${height}, now(), 'hot', 'hot', 'T', 'USDT', 1, 'open')`;
  };
  const open = async () => {
    const rows = await sql<{ height: string }[]>`
      SELECT height FROM hub.unknown_spend WHERE status = 'open' ORDER BY height`;
    return rows.map(({ height }) => Number(height));
  };
  const waiting = async () => (await listUnreadable(sql, "TRX")).map(({ height }) => height);
  const look = async () => {
    const solid = await placeCursor(sql, "TRX", {
      height: SOLID,
      hash: `h${SOLID}`,
      time: TIME,
      previousTime: TIME,
      tick: TIME,
      previousTick: TIME,
    });
    await readAgain({ sql, chain, stopped: null, wake: () => {} }, solid);
    return asked.splice(0);
  };
  /** Lets the pauses of all blocks pass. */
  const pass = () =>
    sql`UPDATE hub.unreadable_block SET next_try_at = now(), since = since - interval '2 minutes'`;
  /** Makes sure that no pause passes, however slow the machine is; that there was one is checked. */
  const hold = async () => {
    for (const { nextTryAt, since } of await listUnreadable(sql, "TRX")) assert(nextTryAt > since);
    await sql`UPDATE hub.unreadable_block SET next_try_at = now() + interval '14 seconds'`;
  };
  return { broken, sign, meet, open, waiting, look, pass, hold };
}

test("a block that no node gives holds up only what is in it, is told, and is asked for again after a pause", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { broken, meet, open, waiting, look, pass, hold } = brokenChain(
    sql,
    await addMerchant(sql),
  );
  for (const height of [10, 20, 30, 40]) await meet(height);
  broken.set(10, "silent");
  broken.set(30, "incomplete");
  assertEquals(await look(), [10, 20, 30]);
  assertEquals([await open(), await waiting()], [[10, 30, 40], [10, 30]]);
  await hold();
  assertEquals(await look(), [40], "those that failed are left alone");
  assertEquals(await open(), [10, 30]);
  assertEquals(await failoverReasons(sql, { isTold: true }), [
    "TRX payouts are stopped: 2 transfers left wallets unknown to the books, see admin failover",
  ]);
  await pass();
  assertMatch(
    (await failoverReasons(sql, { isTold: true })).join(),
    /TRX block 10 cannot be read again: Cannot read block 10 in time/,
  );
  assertEquals(await look(), [10, 30]);
  assertEquals((await listUnreadable(sql, "TRX")).map(({ tries }) => tries), [2, 2]);
  // a clock that was wrong holds nothing for longer than the longest pause
  await sql`UPDATE hub.unreadable_block SET next_try_at = now() + interval '1 day'`;
  broken.clear();
  assertEquals(await look(), [10, 30]);
  assertEquals([await open(), await waiting()], [[], []]);
});

test("blocks that cannot be read end a turn after three, and each gets its turn", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { broken, sign, meet, open, waiting, look, pass } = brokenChain(
    sql,
    await addMerchant(sql),
  );
  const heights = [10, 20, 30, 40, 50];
  for (const height of heights) {
    await meet(height);
    broken.set(height, "silent");
  }
  await meet(60);
  await sign(99, 110);
  assertEquals(await look(), [10, 20, 100], "what has expired is not kept waiting by transfers");
  const [row] = await sql<{ reread: string }[]>`
    SELECT reread_height AS reread FROM book.attempt WHERE known_height = 110`;
  assertEquals(Number(row?.reread), SOLID);
  await pass();
  // those that were never tried come before those that failed
  assertEquals(await look(), [30, 40]);
  await pass();
  assertEquals(await look(), [50, 60, 10]);
  assertEquals([await open(), await waiting()], [heights, heights]);
  await sql`UPDATE hub.unknown_spend SET status = 'known', decided_at = now() WHERE height = 20`;
  await look();
  assertEquals(await waiting(), [10, 30, 40, 50], "nothing waits for what is decided");
});

test("an expired transaction waits for its own blocks, not for those of another, and goes on where it was", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { broken, sign, waiting, look, pass, hold } = brokenChain(sql, await addMerchant(sql));
  await sign(9, 30);
  await sign(99, 110);
  broken.set(25, "silent");
  const reread = async () => {
    const rows = await sql<{ height: string }[]>`
      SELECT coalesce(reread_height, 0) AS height FROM book.attempt ORDER BY outgoing_id`;
    return rows.map(({ height }) => Number(height));
  };
  assertEquals(await look(), [10, 100]);
  assertEquals([await reread(), await waiting()], [[24, SOLID], [25]]);
  await hold();
  assertEquals(await look(), []);
  await pass();
  broken.clear();
  assertEquals(await look(), [25]);
  assertEquals([await reread(), await waiting()], [[SOLID, SOLID], []]);
});
