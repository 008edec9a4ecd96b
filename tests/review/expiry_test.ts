import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { ExpiryProofs } from "../../actors/treasury/expiry_proofs.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { markScanned } from "../../ledger/watcher/scanned_ranges.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { historyOf } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

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
  const late = 1_700_000_000_000 + 3_600_000;
  const begin = { height: 40, hash: "40", time: late, previousTime: late };
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
  const next = { height: 41, hash: "41", time: late + 3_000, previousTime: late };
  await moveCursor(sql, "TRX", "solid", { ...begin, history }, next, 1);
  assertEquals(await look(), "signed");
  assertEquals(await markScanned(sql, "TRX", { first: 8, last: 40 }, 33, history), true);
  assertEquals(await look(), "queued");
});
