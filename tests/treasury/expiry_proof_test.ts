import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { ExpiryProofs } from "../../actors/treasury/expiry_proofs.ts";
import { SecondOpinion } from "../../actors/treasury/second_opinion.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import type { BlockAnswer } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { expireAttempts, type SecondProof } from "../../ledger/treasury/expire_attempts.ts";
import { type Cursor, markScanned, moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { historyOf, placeCursor } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

const EXPIRY = 1_700_000_000_000;

test("an expired transaction is dead when the block before the solid cursor is later than its expiry, not sooner", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, attempts, created_at, updated_at)
    VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 1, 'T', 'signed', 1, now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
    VALUES ('out_1', 1, 'mer_1', 'TRX', 'aa', '{}', ${new Date(EXPIRY)}, ${EXPIRY}, now(), 0)`;
  const expire = async (previousTime: number) => {
    const cursor = await placeCursor(sql, "TRX", {
      height: 9,
      hash: "9",
      time: EXPIRY + 60_000,
      previousTime,
      tick: EXPIRY + 60_000,
      previousTick: previousTime,
    });
    await expireAttempts(sql, "TRX", cursor, 9);
    const [row] = await sql<{ status: string }[]>`SELECT status FROM book.outgoing`;
    return row?.status;
  };
  assertEquals(await expire(EXPIRY - 3_000), "signed");
  assertEquals(
    await expire(EXPIRY),
    "signed",
    "a block whose parent is of that moment may hold it",
  );
  assertEquals(await expire(EXPIRY + 1), "queued");
});

/** A payout whose transaction, of the same name, was signed on block 5 and has expired. */
async function addExpired(
  sql: Sql,
  id: string,
  fields: {
    readonly amount?: string;
    readonly known?: number;
    readonly reread?: number;
    readonly attempts?: number;
    readonly adopted?: boolean;
  } = {},
): Promise<void> {
  const { amount = "10", known = null, reread = null, attempts = 1, adopted = false } = fields;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, attempts, created_at, updated_at)
    VALUES (${id}, 'mer_1', 'payout', ${`wd_${id}`}, 'TRX', 'USDT', ${amount}, 'T', 'signed', ${attempts}, now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit,
      since_height, known_height, reread_height, adopted)
    VALUES (${id}, 1, 'mer_1', 'TRX', ${id}, '{}', ${new Date(
    EXPIRY,
  )}, ${EXPIRY}, now(), 0, 5, ${known}, ${reread}, ${adopted})`;
}

test("an expired transaction is dead only when no part of its proof is wanting", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const at = {
    height: 9,
    hash: "9",
    time: EXPIRY + 6_000,
    previousTime: EXPIRY + 3_000,
    tick: EXPIRY + 6_000,
    previousTick: EXPIRY + 3_000,
  };
  const solid = await placeCursor(sql, "TRX", at);
  const expire = async (
    cursor: Partial<Cursor> = {},
    second: SecondProof | null = null,
    scannedFrom: number | null = 6,
  ) => {
    const proof = { second, scannedFrom };
    const { requeued } = await expireAttempts(sql, "TRX", { ...solid, ...cursor }, 9, proof);
    return [...requeued].sort();
  };
  await addExpired(sql, "proven");
  assertEquals(await expire({ history: "another" }), [], "what that scan met may be lost");
  assertEquals(await expire({ hash: "of another branch" }), []);
  assertEquals(await expire({ height: 10 }), [], "no scan has come so far");
  assertEquals(await expire({ previousTick: EXPIRY + 3_001 }), [], "nor to that time");
  assertEquals(await expire({}, null, 7), [], "block 6 was not read");

  await addExpired(sql, "large", { amount: "10.000001" });
  await addExpired(sql, "known-late", { known: 8 });
  await addExpired(sql, "reread-partly", { known: 8, reread: 7 });
  await addExpired(sql, "reread", { known: 8, reread: 8 });
  await addExpired(sql, "not-written");
  await sql`
    INSERT INTO book.late_outcome (outgoing_id, number, merchant_id, network, height)
    VALUES ('not-written', 1, 'mer_1', 'TRX', 7)`;
  for (const status of ["open", "listed", "cold"]) {
    await addExpired(sql, `met-${status}`);
    await sql`
      INSERT INTO hub.unknown_spend
        (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, status)
      VALUES ('TRX', ${`met-${status}`}, 0, 7, now(), 'hot', 'hot', 'T', 'USDT', 10, ${status})`;
  }
  const above = amount("10");
  const testimony = { node: "second.example", height: 9, hash: "9", askedAt: EXPIRY + 9_000 };
  const testimonies = new Map([["large", { ...testimony, previousTick: EXPIRY + 3_000 }]]);
  assertEquals(await expire({}, { above, testimonies: new Map() }), ["proven", "reread"]);
  assertEquals(await expire({}, { above, testimonies }), ["large"]);
  assertEquals(await expire({}, { above, testimonies }), []);
});

test("a payout whose last attempt expired is given up, others are queued again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const at = {
    height: 9,
    hash: "9",
    time: EXPIRY + 6_000,
    previousTime: EXPIRY + 3_000,
    tick: EXPIRY + 6_000,
    previousTick: EXPIRY + 3_000,
  };
  const solid = await placeCursor(sql, "TRX", at);
  await addExpired(sql, "second", { attempts: 2 });
  await addExpired(sql, "third", { attempts: 3 });
  await addExpired(sql, "third-adopted", { attempts: 3, adopted: true });
  const { requeued, abandoned } = await expireAttempts(sql, "TRX", solid, 3);
  assertEquals([...requeued].sort(), ["second", "third-adopted"]);
  assertEquals(abandoned, [{ outgoingId: "third", merchantId: "mer_1" }]);
  const rows = await sql`
    SELECT merchant_id, txid, phase, data->>'result' AS result FROM book.inbox`;
  assertEquals([...rows], [
    { merchant_id: "mer_1", txid: "third", phase: "outcome", result: "abandoned" },
  ]);
});

/** A second node with two solid blocks, the one before the mark and its own in the mark's place. */
function secondNode(hash: string, previousTime: number) {
  const blockAt = (height: number): BlockAnswer => ({
    kind: "block",
    block: {
      height,
      parentHeight: height - 1,
      hash: height === 9 ? hash : "8",
      parentHash: height === 9 ? "8" : "7",
      time: height === 9 ? previousTime + 3_000 : previousTime,
      tick: height === 9 ? previousTime + 3_000 : previousTime,
      transactions: [],
      transfers: [],
    },
  });
  return {
    name: "second.example",
    chain: {
      block: (height: number) => Promise.resolve(blockAt(height)),
      transaction: (txid: string) => Promise.resolve({ kind: "missing" as const, txid }),
    },
  };
}

Deno.test("a second node testifies only with the scan's very block, and when its block before is later than the expiry", async () => {
  const opinionOf = async (hash: string, theirs: number, ours = EXPIRY + 1) => {
    const solid = {
      height: 9,
      hash: "9",
      time: EXPIRY + 60_000,
      previousTime: ours,
      tick: EXPIRY + 60_000,
      previousTick: ours,
      history: "1",
    };
    const opinion = new SecondOpinion([secondNode(hash, theirs)], () => EXPIRY);
    const expired = { outgoingId: "out_1", merchantId: "mer_1", txid: "aa", diesAfter: EXPIRY };
    const answer = (await opinion.ask([expired], solid)).get("aa");
    assert(answer !== undefined);
    return answer.kind === "agreed" ? "agreed" : answer.alarming ? "alarm" : "waits";
  };
  assertEquals(await opinionOf("9", EXPIRY + 1), "agreed");
  assertEquals(await opinionOf("of another branch", EXPIRY + 1), "alarm");
  assertEquals(await opinionOf("9", EXPIRY), "waits", "its next block may hold the transaction");
  assertEquals(await opinionOf("9", EXPIRY + 1, EXPIRY), "waits", "so may ours");
});

async function statusOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ status: string }[]>`SELECT status FROM book.outgoing`;
  return row?.status ?? "none";
}

test("what was signed before the scan began is dead only when the blocks in between were read", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  // its newest solid block is 7
  const chain = paperChain("TRX");
  const merchantId = await addMerchant(sql);
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES (${
    newId("out")
  }, ${merchantId}, 'payout', 'wd_1', 'TRX', 'USDT', 1, 'somewhere', 'queued', now(), now())`;
  await signQueued(chain, nodeOf(sql, chain));
  assertEquals(await statusOf(sql), "signed");
  // the node answered the treasury and not the watcher, which begins long after the expiry
  const late = EXPIRY + 3_600_000;
  const begin = {
    height: 40,
    hash: "40",
    time: late,
    previousTime: late,
    tick: late,
    previousTick: late,
  };
  await moveCursor(sql, "TRX", "solid", null, begin);
  const proofs = new ExpiryProofs({
    sql,
    network: "TRX",
    attemptLimit: 3,
    second: null,
    askAgainMs: 1,
    now: () => Date.now(),
  });
  const history = await historyOf(sql);
  const look = async () => {
    const solid = await readCursor(sql, "TRX", "solid");
    if (solid !== null) await proofs.poll(solid);
    return await statusOf(sql);
  };
  assertEquals(await look(), "signed");
  const next = {
    height: 41,
    hash: "41",
    time: late + 3_000,
    previousTime: late,
    tick: late + 3_000,
    previousTick: late,
  };
  await moveCursor(sql, "TRX", "solid", { ...begin, history }, next, 1);
  assertEquals(await look(), "signed");
  assertEquals(await markScanned(sql, "TRX", { first: 8, last: 40 }, 33, history), true);
  assertEquals(await look(), "queued");
});
