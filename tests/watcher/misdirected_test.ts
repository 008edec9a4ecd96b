import { assertEquals, assertRejects } from "@std/assert";
import { misdirectedDust } from "../../actors/watcher/misdirected_transfers.ts";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { Block } from "../../chains/chain.ts";
import { networksAlike } from "../../chains/profiles.ts";
import { watchAddresses } from "../../ledger/addresses/watched_addresses.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readHealth } from "../../ledger/database/read_health.ts";
import {
  acknowledgeQuarantined,
  listQuarantine,
  retryQuarantined,
} from "../../ledger/quarantine.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import { amount, booksFaults } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const TIME = 1_700_000_000_000;
const OF_BNB = "paid-on-bnb";
const OF_ETH = "issued-on-eth";

/** A block of BNB Smart Chain that pays both addresses and a stranger. */
function blockOf(height: number): Block {
  const transfers = [OF_BNB, OF_ETH, "stranger"].map((eventTo, n) => ({
    txid: `${height}${n}`.padStart(64, "0"),
    logIndex: n,
    currency: "USDT" as const,
    amount: amount("12.5"),
    eventFrom: "customer",
    eventTo,
    diesAfter: Number.MAX_SAFE_INTEGER,
    expiresAt: TIME,
  }));
  const hashes = { parentHeight: height - 1, hash: `h${height}`, parentHash: `h${height - 1}` };
  return { height, ...hashes, time: TIME, tick: TIME, transactions: [], transfers };
}

async function issue(sql: Sql): Promise<void> {
  await watchAddresses(sql, [
    { address: OF_BNB, network: "BNB", merchantId: "mer_1", addressId: "adr_1", walletIndex: 0 },
    { address: OF_ETH, network: "ETH", merchantId: "mer_2", addressId: "adr_2", walletIndex: 0 },
  ]);
}

const AUDIT = {
  id: "aud_1",
  createdAt: TIME,
  actor: "key_1",
  action: "inbox.acknowledge",
  subject: "row",
  merchantId: "mer_2",
  requestId: "req_1",
};

test("a transfer to an address that was issued on another network is set aside once, and never credited", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await issue(sql);
  const chain = paperChain("BNB");
  // the newest blocks move no money, and say nothing of it either
  await recordBlocks(sql, chain, [blockOf(1)], "head");
  assertEquals((await listQuarantine(sql, {}, { page: 1, limit: 9 })).rows, []);
  const heard = await recordBlocks(sql, chain, [blockOf(1)], "solid");
  await recordBlocks(sql, chain, [blockOf(1)], "solid");
  assertEquals([...heard], ["mer_1"]);
  const { rows, total } = await listQuarantine(
    sql,
    { kind: "misdirected" },
    { page: 1, limit: 9 },
  );
  assertEquals(total, 1);
  const [row] = rows;
  if (row === undefined) throw new Error("no row");
  const { merchantId, network, txid, logIndex, phase, reason, data } = row;
  assertEquals({ merchantId, network, phase, reason }, {
    merchantId: "mer_2",
    network: "BNB",
    phase: "solid",
    reason: "misdirected: its address was issued on ETH, and it came in on BNB",
  });
  assertEquals([data["amount"], data["to"], data["issuedOn"]], ["12.5", OF_ETH, "ETH"]);
  const waiting =
    await sql`SELECT merchant_id FROM book.inbox WHERE quarantine IS NULL AND phase = 'solid'`;
  assertEquals(waiting.map((one) => one["merchant_id"]), ["mer_1"]);

  const key = { merchantId, network, txid, logIndex, phase } as const;
  assertEquals(await retryQuarantined(sql, key, AUDIT), "not_so");
  await assertRejects(
    async () => await sql`UPDATE book.inbox SET quarantine = NULL WHERE txid = ${txid}`,
    Error,
    "inbox_of_other_network_waits",
  );
  assertEquals(await acknowledgeQuarantined(sql, key, "sent back by hand", AUDIT), "done");
  assertEquals((await listQuarantine(sql, {}, { page: 1, limit: 9 })).total, 0);
  // dealt with by hand, it is no difference of the books
  assertEquals(await booksFaults(sql), []);
  // it is read again after a rescan, and is not set aside a second time
  await recordBlocks(sql, chain, [blockOf(1)], "solid");
  assertEquals((await listQuarantine(sql, {}, { page: 1, limit: 9 })).total, 0);
});

test("a transfer to a network's own address is its deposit, also where another network has issued the same text", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const of = { merchantId: "mer_1", walletIndex: 0, address: OF_BNB } as const;
  await watchAddresses(sql, [
    { ...of, network: "ETH", addressId: "adr_1" },
    { ...of, network: "BNB", addressId: "adr_2" },
  ]);
  await recordBlocks(sql, paperChain("BNB"), [blockOf(1)], "solid");
  const rows = await sql`SELECT quarantine FROM book.inbox WHERE phase = 'solid'`;
  assertEquals(rows.map(({ quarantine }) => quarantine), [null]);
});

test("a transfer to a lost address of another network is taken off the list by hand, and is no difference then", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lost = { merchantId: LOST_ACCOUNT, addressId: "adr_1", walletIndex: 0 };
  await watchAddresses(sql, [{ ...lost, address: OF_ETH, network: "ETH" }]);
  await recordBlocks(sql, paperChain("BNB"), [blockOf(1)], "solid");
  const [row] = (await listQuarantine(sql, {}, { page: 1, limit: 9 })).rows;
  if (row === undefined) throw new Error("no row");
  const { merchantId, network, txid, logIndex, phase } = row;
  const key = { merchantId, network, txid, logIndex, phase };
  assertEquals(await acknowledgeQuarantined(sql, key, "sent back", AUDIT), "done");
  assertEquals(await booksFaults(sql), []);
});

Deno.test("only networks whose addresses look alike are looked through for a mistaken one", () => {
  assertEquals(networksAlike("TRX"), []);
  assertEquals(networksAlike("SOL"), []);
  assertEquals([...networksAlike("BNB")].sort(), ["ETH", "SEP", "tBNB"]);
  // what a test network brings is worth nothing to an address of a main one
  assertEquals([...networksAlike("SEP")], ["tBNB"]);
});

test("less than a dollar on the wrong network leaves no row, is counted, and hides none that is worth a person's time", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await issue(sql);
  const block = blockOf(1);
  const dust = {
    ...block,
    transfers: block.transfers.map((one) => ({ ...one, amount: amount("0.999999") })),
  };
  const before = misdirectedDust().get("BNB") ?? 0;
  await recordBlocks(sql, paperChain("BNB"), [dust], "solid");
  const listed = async () =>
    (await listQuarantine(sql, { kind: "misdirected" }, { page: 1, limit: 9 })).total;
  assertEquals([await listed(), (misdirectedDust().get("BNB") ?? 0) - before], [0, 1]);
  const worth = {
    ...blockOf(2),
    transfers: blockOf(2).transfers.map((one) => ({ ...one, amount: amount("1") })),
  };
  await recordBlocks(sql, paperChain("BNB"), [worth], "solid");
  assertEquals(await listed(), 1);
  const { quarantinedRows, misdirectedRows } = await readHealth(sql, 30);
  assertEquals([quarantinedRows, misdirectedRows], [0, 1], "each has a reason of its own");
});
