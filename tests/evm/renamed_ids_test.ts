import { assertEquals } from "@std/assert";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { Block, BlockAnswer } from "../../chains/chain.ts";
import { headSchema, receiptsShape } from "../../chains/evm/read/answers.ts";
import { parseBlock } from "../../chains/evm/read/parse_block.ts";
import { withReadLogs } from "../../chains/evm/read/receipt_logs.ts";
import { fromTokenUnits } from "../../ledger/money/amount.ts";
import { paperChain } from "../support/paper_chain.ts";
import { addMerchant, booksFaults, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import {
  addressOf,
  composeBlock,
  hashOf,
  HOT,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";
import { withOwnHash } from "./support/header_fixture.ts";

const test = testNeeding(DATABASE);
const CUSTOMER = addressOf(1);
const DEPOSIT = addressOf(2);

/** A true block of two payments, parsed as a node tells it that may rename their ids. */
function answerOf(rename: (txid: string) => string): BlockAnswer {
  const tokens = new Map([[USDT, { currency: "USDT" as const, unit: fromTokenUnits(1n, 6) }]]);
  const context = { tokens, hotWallet: HOT };
  const fixture = withOwnHash(composeBlock(5, [
    { logs: [transferLog(CUSTOMER, DEPOSIT, 700_000_000n)] },
    { logs: [transferLog(CUSTOMER, DEPOSIT, 300_000_000n)] },
  ]));
  const text = JSON.stringify(fixture);
  const renamed = fixture.head.transactions.reduce(
    (all: string, txid: string) => all.replaceAll(txid, rename(txid)),
    text,
  );
  const { head, receipts } = JSON.parse(renamed);
  return parseBlock(
    headSchema.parse(head),
    ((receiptsShape.safeParse(receipts) as { data?: never[] }).data ?? []).map((one) =>
      withReadLogs(one, tokens)
    ),
    context,
  );
}

function blockOf(rename: (txid: string) => string): Block {
  const answer = answerOf(rename);
  if (answer.kind !== "block") throw new Error(JSON.stringify(answer));
  return answer.block;
}

Deno.test(
  "a true block two transactions of which one node tells by one id is not whole: one of them would never be credited",
  () => {
    const reason = "a transaction is there twice";
    assertEquals(answerOf(() => hashOf("one")), { kind: "incomplete", height: 5, reason });
  },
);

test("a true block whose ids one node has renamed is credited once, whatever an honest node says of it later", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await sql`UPDATE book.pair SET deposits_enabled = true WHERE network = 'ETH'`;
  const address = `0x${DEPOSIT.slice(2)}`;
  await sql`
    INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, identifier, created_at)
    VALUES ('adr_1', ${merchantId}, 'ETH', ${address}, 0, 'issued', 'customer', now())`;
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${address}, 'ETH', ${merchantId}, 'adr_1', 0)`;
  const chain = paperChain("ETH", { addressOf: (event) => `0x${event}` });
  const balanceAfter = async (block: Block) => {
    await recordBlocks(sql, chain, [block], "solid");
    journal.wake(merchantId);
    await until(async () => {
      const rows = await sql`
        SELECT FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`;
      return rows.length === 0;
    });
    const [row] = await sql`
      SELECT trim_scale(available)::text AS available FROM book.balance
      WHERE merchant_id = ${merchantId} AND network = 'ETH'`;
    return row?.["available"];
  };
  const renamed = blockOf((txid) => hashOf(`renamed ${txid}`));
  const honest = blockOf((txid) => txid);
  // hash and receipts' root are the block's own: the lie cannot be seen in it
  assertEquals([renamed.hash, renamed.isUnbound], [honest.hash, honest.isUnbound]);
  assertEquals(await balanceAfter(renamed), "999.5");
  assertEquals(await balanceAfter(honest), "999.5");
  const rows = await sql`
    SELECT txid FROM book.inbox WHERE quarantine LIKE 'renamed:%' ORDER BY log_index`;
  assertEquals(rows.map(({ txid }) => txid), honest.transfers.map(({ txid }) => txid));
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
