import { assert, assertEquals } from "@std/assert";
import { Actors } from "../../actors/runtime/actor.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { addMerchant, amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { placeCursor } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

/** Transfers waiting for a signature, as the journal leaves them; oldest first. */
async function addQueued(
  sql: Sql,
  merchantId: string,
  count: number,
  currency: "USDT" | "USDC" = "USDT",
): Promise<void> {
  const ids = Array.from({ length: count }, () => newId("out"));
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT id, ${merchantId}, 'payout', 'wd_' || id, 'TRX', ${currency}, 1, 'somewhere', 'queued', now(), now()
    FROM unnest(${ids}::text[]) AS id`;
}

async function count(sql: Sql, status: string, currency = "USDT"): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM book.outgoing WHERE status = ${status} AND currency = ${currency}`;
  return row?.n ?? 0;
}

test("payouts of a suspended merchant are not signed until it is active again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const chain = paperChain("TRX");
  const merchantId = await addMerchant(sql);
  const other = await addMerchant(sql);
  await addQueued(sql, merchantId, 2);
  await addQueued(sql, other, 1);
  await sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${merchantId}`;
  const treasury = nodeOf(sql, chain);
  await signQueued(chain, treasury);
  assertEquals([await count(sql, "queued"), await count(sql, "signed")], [2, 1]);
  // suspended between the pull and the commit
  const [row] = await sql<
    { id: string }[]
  >`SELECT id FROM book.outgoing WHERE status = 'queued' LIMIT 1`;
  const signed = await commitSigned(sql, [{
    outgoingId: row?.id ?? "",
    merchantId,
    network: "TRX",
    txid: "9".repeat(64),
    bytes: "{}",
    expiresAt: Date.now(),
  }]);
  assertEquals(signed.size, 0);
  await sql`UPDATE book.merchant SET status = 'ACTIVE'`;
  await signQueued(chain, treasury);
  assertEquals([await count(sql, "queued"), await count(sql, "signed")], [0, 3]);
});

test("nothing that was pulled is signed where so few batches went before that the database was set back, and the turn is another's", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const chain = paperChain("TRX");
  const merchantId = await addMerchant(sql);
  await addQueued(sql, merchantId, 1);
  await signQueued(chain, nodeOf(sql, chain));
  await addQueued(sql, merchantId, 1);
  const asked: bigint[] = [];
  const node = nodeOf(sql, chain, {
    maySign: (_, batches) => {
      asked.push(batches);
      return false;
    },
  });
  assertEquals((await signQueued(chain, node)).transactions, []);
  assertEquals([await count(sql, "queued"), asked], [1, [1n]]);
  const other = nodeOf(sql, chain, { node: "other", maySign: () => true });
  assertEquals((await signQueued(chain, other)).transactions.length, 1);
});

test("payouts that wait for funds do not stand in the way of those that can be paid", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const chain = paperChain("TRX", {
    balanceOf: (_, asset) => Promise.resolve(amount(asset === "USDC" ? "0" : "1000")),
  });
  const merchantId = await addMerchant(sql);
  await addQueued(sql, merchantId, 350, "USDC");
  await addQueued(sql, merchantId, 5);
  const treasury = new Actors(treasuryActors(nodeOf(sql, chain)));
  treasury.tell("TRX", { type: "poll" });
  await until(async () => await count(sql, "signed") === 5);
  assertEquals(await count(sql, "queued", "USDC"), 350);
  await treasury.stop(5_000);
});

test("a turn ends however many payouts come in, so that the dead are expired in between", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  let looks = 0;
  const chain = paperChain("TRX", {
    // payouts without end: as many come in as go out
    async solid() {
      await addQueued(sql, merchantId, 100);
      return await paperChain("TRX").solid();
    },
  });
  await addQueued(sql, merchantId, 100);
  const treasury = new Actors(
    treasuryActors(nodeOf(sql, chain, { onLiquidity: () => looks++ })),
  );
  treasury.tell("TRX", { type: "poll" });
  treasury.tell("TRX", { type: "poll" });
  await until(() => looks >= 2);
  await treasury.stop(5_000);
});

test("no more is signed than is sent: a signature that waits too long only expires", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const sent = new Set<string>();
  const chain = paperChain("TRX", {
    broadcast: ({ txid }) => {
      sent.add(txid);
      return Promise.resolve({ category: "accepted", retryable: true });
    },
  });
  const merchantId = await addMerchant(sql);
  await addQueued(sql, merchantId, 3_000);
  const treasury = new Actors(treasuryActors(nodeOf(sql, chain)));
  for (let turn = 0; turn < 4; turn++) treasury.tell("TRX", { type: "poll" });
  await treasury.stop(30_000);
  const [row] = await sql<{ txids: string[] }[]>`SELECT array_agg(txid) AS txids FROM book.attempt`;
  const unsent = (row?.txids ?? []).filter((txid) => !sent.has(txid));
  assertEquals(unsent.length, 0);
  assert(sent.size >= 1_000);
});

test("a signature that was tried before holds up no other of its batch", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await addQueued(sql, merchantId, 2);
  const rows = await sql<{ id: string }[]>`SELECT id FROM book.outgoing ORDER BY id`;
  const sign = (n: number, txid: string) => ({
    outgoingId: rows[n]?.id ?? "",
    merchantId,
    network: "TRX" as const,
    txid,
    bytes: "{}",
    expiresAt: 1_000,
  });
  const [first, second] = ["1".repeat(64), "2".repeat(64)];
  assertEquals((await commitSigned(sql, [sign(0, first)])).size, 1);
  const solid = await placeCursor(sql, "TRX", {
    height: 9,
    hash: "9",
    time: 2_000,
    previousTime: 2_000,
    tick: 2_000,
    previousTick: 2_000,
  });
  assertEquals((await expireAttempts(sql, "TRX", solid, 3)).requeued.length, 1);
  const signed = await commitSigned(sql, [sign(0, first), sign(1, second)]);
  assertEquals([...signed], [rows[1]?.id]);
  assertEquals([await count(sql, "queued"), await count(sql, "signed")], [1, 1]);
});
