import { assertEquals, assertRejects } from "@std/assert";
import { ScanBehind, untilPassed } from "../../actors/reconcile/passed_block.ts";
import { readAgain } from "../../actors/treasury/read_again.ts";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { Block, IncludedTransaction, Transfer } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { placeCursor } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

const EXPIRY = 1_700_000_000_000;
const TXIDS = ["a", "b", "c"].map((letter) => letter.repeat(64));

/** A solid block in which transactions paid what was intended. */
function blockOf(height: number, txids: readonly string[]): Block {
  return {
    height,
    parentHeight: height - 1,
    hash: `h${height}`,
    parentHash: `h${height - 1}`,
    time: EXPIRY,
    tick: EXPIRY,
    transactions: txids.map((txid): IncludedTransaction => ({
      txid,
      success: true,
      failure: null,
      fee: amount("1"),
    })),
    transfers: txids.map((txid): Transfer => ({
      txid,
      logIndex: 0,
      currency: "USDT",
      amount: amount("5"),
      eventFrom: "hot-wallet",
      eventTo: "somewhere",
      diesAfter: EXPIRY,
      expiresAt: EXPIRY,
    })),
  };
}

/** Three signed payouts of three merchants, or sweeps of three addresses. */
async function addSigned(sql: Sql, kind: "payout" | "sweep"): Promise<void> {
  const isSweep = kind === "sweep";
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status, attempts, created_at, updated_at)
    SELECT 'out_' || n, CASE WHEN ${isSweep} THEN 'mer_platform' ELSE 'mer_' || n END, ${kind},
      CASE WHEN ${!isSweep} THEN 'wd_' || n END, 'TRX', 'USDT', 5, CASE WHEN ${isSweep} THEN n::text ELSE 'hot' END,
      'somewhere', 'signed', 1, now(), now() FROM generate_series(1, 3) n`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
    SELECT o.id, 1, o.merchant_id, 'TRX', t.txid, '{}', ${new Date(EXPIRY)}, ${EXPIRY}, now(), 1
    FROM book.outgoing o JOIN unnest(${TXIDS}::text[]) WITH ORDINALITY AS t(txid, n) ON o.id = 'out_' || t.n`;
  if (!isSweep) return;
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    SELECT 'address-' || n, 'TRX', 'mer_' || n, 'adr_' || n, n FROM generate_series(1, 3) n`;
  await sql`
    INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height)
    SELECT 'mer_' || n, 'TRX', 'paid by ' || n, 0, 'address-' || n, 'USDT', 5, 1 FROM generate_series(1, 3) n`;
  await sql`UPDATE book.sweep_item SET outgoing_id = 'out_' || substr(merchant_id, 5)`;
}

const HELD = [
  {
    what: "payout",
    kind: "payout",
    lock: (tx: Sql) => tx`SELECT FROM book.outgoing WHERE id = 'out_2' FOR UPDATE`,
  },
  {
    what: "payout's attempt",
    kind: "payout",
    lock: (tx: Sql) => tx`SELECT FROM book.attempt WHERE outgoing_id = 'out_2' FOR UPDATE`,
  },
  {
    what: "sweep's transfer",
    kind: "sweep",
    lock: (tx: Sql) => tx`SELECT FROM book.sweep_item WHERE outgoing_id = 'out_2' FOR UPDATE`,
  },
] as const;

for (const { what, kind, lock } of HELD) {
  test(`a ${what} that another session holds keeps no other end from being recorded, and its own is not lost`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await addSigned(sql, kind);
    const block = blockOf(9, TXIDS);
    const transfers = kind === "payout"
      ? block.transfers
      : block.transfers.map((one, n) => ({ ...one, eventFrom: `address-${n + 1}` }));
    const read: number[] = [];
    const chain = paperChain("TRX", {
      async *blocks(from) {
        read.push(from);
        yield { kind: "block", block: { ...block, transfers } };
      },
    });
    const statuses = async () =>
      (await sql<{ status: string }[]>`SELECT status FROM book.outgoing ORDER BY id`)
        .map(({ status }) => status).join(" ");
    const letGo = await holdRows(database, lock);
    await recordBlocks(sql, chain, [{ ...block, transfers }], "solid");
    assertEquals(await statuses(), "final signed final");

    // the scan goes on, past the expiry as well
    const later = {
      height: 20,
      hash: "h20",
      time: EXPIRY + 60_000,
      previousTime: EXPIRY + 57_000,
      tick: EXPIRY + 60_000,
      previousTick: EXPIRY + 57_000,
    };
    const cursor = await placeCursor(sql, "TRX", later);
    const woken = new Set<string>();
    const wake = (merchantId: string) => woken.add(merchantId);
    const look = () => readAgain({ sql, chain, stopped: null, wake }, cursor);
    await look();
    assertEquals(await statuses(), "final signed final");
    await letGo();
    assertEquals((await expireAttempts(sql, "TRX", cursor, 9)).requeued, [], "it is in a block");
    const passed = { sql, chain, coldAddress: null, pause: () => Promise.resolve() };
    await assertRejects(() => untilPassed(passed, 9), ScanBehind, "holds rows");
    await untilPassed(passed, 8);

    // what was tried in vain is left alone for a while
    await sql`UPDATE book.late_outcome SET tried_at = tried_at - interval '1 minute'`;
    await look();
    assertEquals(await statuses(), "final final final");
    assertEquals([...woken], kind === "payout" ? ["mer_2"] : []);
    assertEquals((await sql`SELECT FROM book.late_outcome`).length, 0);
    await untilPassed(passed, 9);
    const tries = read.length;
    await look();
    assertEquals(read.length, tries, "no block is read again any more");
    const told = await sql`SELECT FROM book.inbox WHERE phase = 'outcome'`;
    assertEquals(told.length, kind === "payout" ? 3 : 0);
  });
}
