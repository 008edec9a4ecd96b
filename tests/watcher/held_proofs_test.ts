/**
 * Large deposits whose rows another transaction holds: they wait, and no others do.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { DepositProver } from "../../actors/watcher/deposit_prover.ts";
import type { BlockAnswer, Chain } from "../../chains/chain.ts";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import { postponeProofs, readAwaitedProofs } from "../../ledger/watcher/deposit_proofs.ts";
import { addMerchant, amount } from "../support/books.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Adds large transfers, one in each of the blocks from `first` to `last`, whose turn has come in order. */
async function addUnproven({ sql }: TestDatabase, merchantId: string, first: number, last: number) {
  await sql`
    INSERT INTO book.deposit_proof
      (merchant_id, network, txid, log_index, address_id, height, hash, currency, amount, sender, receiver, next_ask_at)
    SELECT ${merchantId}, 'TRX', 't' || h, 0, 'adr_' || h, h, 'h' || h, 'USDT', 100, 'from', 'to',
      now() - make_interval(secs => 1000 - h)
    FROM generate_series(${first}::int, ${last}::int) h`;
}

/** A chain that has all of these transfers. */
const CHAIN: Pick<Chain, "network" | "block" | "addressOf"> = {
  network: "TRX",
  addressOf: (event) => event,
  block: (height): Promise<BlockAnswer> =>
    Promise.resolve({
      kind: "block",
      block: {
        height,
        parentHeight: height - 1,
        hash: `h${height}`,
        parentHash: `h${height - 1}`,
        time: 0,
        tick: 0,
        transactions: [],
        transfers: [{
          txid: `t${height}`,
          logIndex: 0,
          currency: "USDT",
          amount: amount("100"),
          eventFrom: "from",
          eventTo: "to",
          diesAfter: 0,
          expiresAt: 0,
        }],
      },
    }),
};

test("held rows of one merchant, more than a look asks about, keep no other's deposits from being proven", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  await setDepositProofRule(sql, "TRX", amount("50"));
  const [held, free] = [await addMerchant(sql), await addMerchant(sql)];
  await addUnproven(database, held, 1, 120);
  await addUnproven(database, free, 121, 130);
  const prover = new DepositProver({
    sql,
    chain: CHAIN,
    nodes: [{ name: "second", chain: { ...CHAIN, transaction: () => Promise.reject() } }],
    now: Date.now,
    wake: () => {},
  });
  const proven = async (merchantId: string) => {
    const [row] = await sql<{ n: number }[]>`
      SELECT count(*)::int AS n FROM book.deposit_proof
      WHERE merchant_id = ${merchantId} AND evidence IS NOT NULL`;
    return row?.n;
  };
  const look = async () => {
    // a loaded machine may have put one back: its turn comes at once
    await sql`UPDATE book.deposit_proof SET next_ask_at = now() WHERE merchant_id = ${free} AND evidence IS NULL`;
    await prover.poll();
  };
  const letGo = await holdRows(
    database,
    (tx) => tx`SELECT FROM book.deposit_proof WHERE merchant_id = ${held} FOR UPDATE`,
  );
  try {
    for (let n = 0; n < 5 && await proven(free) !== 10; n++) await look();
    assertEquals([await proven(free), await proven(held)], [10, 0]);
    assertEquals(prover.figures.waiting, 120);
  } finally {
    await letGo();
  }
  await prover.poll();
  assertEquals((await proven(held) ?? 0) > 0, true, "what was held goes on where it is let go");
});

test("a row that is held from after it was read is put back with none waiting for it", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const [held, free] = [await addMerchant(sql), await addMerchant(sql)];
  await addUnproven(database, held, 1, 1);
  await addUnproven(database, free, 2, 2);
  const read = await readAwaitedProofs(sql, "TRX", 10);
  assertEquals(read.map(({ txid }) => txid), ["t1", "t2"]);
  const letGo = await holdRows(
    database,
    (tx) => tx`SELECT FROM book.deposit_proof WHERE merchant_id = ${held} FOR UPDATE`,
  );
  try {
    const waiting = read.map((transfer) => ({ transfer, reason: "it lags", isDisputed: false }));
    await postponeProofs(sql, "TRX", waiting);
    const rows = await sql`SELECT txid, reason, tries FROM book.deposit_proof ORDER BY txid`;
    assertEquals(rows.map(({ reason, tries }) => [reason, tries]), [[null, 0], ["it lags", 1]]);
  } finally {
    await letGo();
  }
});
