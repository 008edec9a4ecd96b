import { assert, assertEquals, assertRejects } from "@std/assert";
import { sha256 } from "@noble/hashes/sha2.js";
import { createBase58check } from "@scure/base";
import fc from "fast-check";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { Block } from "../../chains/chain.ts";
import { addressOfEvent } from "../../chains/evm/address.ts";
import { textKey } from "../../chains/text_key.ts";
import { addressFromLogHex, addressToLogHex } from "../../chains/tron/address.ts";
import { fullBlockSchema, receiptsSchema } from "../../chains/tron/read/answers.ts";
import { parseBlock } from "../../chains/tron/read/parse_block.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { NETWORKS } from "../../ledger/money/pair.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { block, contractCall, receipts, transferLog, USDT } from "../tron/support/block_fixture.ts";
import { addWatched } from "./support/watch.ts";

const test = testNeeding(DATABASE);
const base58check = createBase58check(sha256);
const ADDRESS = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";
/** The same 20 bytes with another checksum, which makes it no address. */
const OTHER_SPELLING = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdJ";

/** The database's form of each address, in one query. */
async function eventAddresses(
  sql: Sql,
  network: string,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ found: string }[]>`
    SELECT hub.event_address(${network}, address) AS found
    FROM unnest(${[...addresses]}::text[]) WITH ORDINALITY AS a(address, place) ORDER BY place`;
  return rows.map(({ found }) => found);
}

test("the database knows an address in the form in which events carry it", async () => {
  await using database = await testDatabase();
  const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const zeros = fc.integer({ min: 0, max: 20 });
  const drawn = fc.sample(
    fc.tuple(bytes, zeros).map(([value, count]) => value.fill(0, 0, count).toHex()),
    5_000,
  );
  // where one of the numbers that it is decoded with is full or empty, and both ends
  const edges = Array.from({ length: 40 }, (_, i) => [
    "f".repeat(i).padStart(40, "0"),
    "f".repeat(i).padEnd(40, "0"),
    "1".padEnd(i + 1, "0").padStart(40, "0"),
  ]).flat();
  const hexes = [...edges, "f".repeat(40), ...drawn];
  for (const network of ["TRX", "TRX_SHASTA"]) {
    const found = await eventAddresses(database.sql, network, hexes.map(addressFromLogHex));
    assertEquals(found, hexes);
  }
});

test("the database knows an address of an EVM network in that form, whatever its case", async () => {
  await using database = await testDatabase();
  const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const hexes = [
    "0".repeat(40),
    "f".repeat(40),
    ...fc.sample(bytes.map((value) => value.toHex()), 2_000),
  ];
  const spellings = [
    hexes.map(addressOfEvent),
    hexes.map((hex) => `0x${hex}`),
    hexes.map((hex) => `0x${hex.toUpperCase()}`),
  ];
  for (const network of ["ETH", "SEP", "BNB", "tBNB"]) {
    for (const texts of spellings) {
      assertEquals(await eventAddresses(database.sql, network, texts), hexes, network);
    }
    const none = ["", "0x", "ab".repeat(20), `0X${"ab".repeat(20)}`, `0x${"ab".repeat(20)}\n`]
      .concat(`0x${"ab".repeat(19)}`, `0x${"ab".repeat(19)}ag`, ` 0x${"ab".repeat(20)}`);
    assertEquals(await eventAddresses(database.sql, network, none), none, network);
  }
});

test("what is no address in form, or of another network, is looked up as it is", async () => {
  await using database = await testDatabase();
  const prefixed = [0x00, 0x40, 0x42, 0xff].flatMap((prefix) =>
    [0, 0xff].map((rest) => base58check.encode(new Uint8Array(21).fill(rest).fill(prefix, 0, 1)))
  );
  // those of the prefixes next to ours are as long, and begin with T as well
  assertEquals(prefixed.filter((text) => /^T.{33}$/.test(text)).length, 3);
  const none = [
    "",
    "T",
    "customer",
    ADDRESS.slice(0, -1),
    `${ADDRESS}1`,
    `1${ADDRESS}`,
    ` ${ADDRESS.slice(1)}`,
    `${ADDRESS.slice(0, -1)}\n`,
    `${ADDRESS}\n`,
    ADDRESS.toLowerCase(),
    ADDRESS.toUpperCase(),
    addressToLogHex(ADDRESS),
    `41${addressToLogHex(ADDRESS)}`,
    `0x${addressToLogHex(ADDRESS)}`,
    "z".repeat(34),
    "1".repeat(34),
    ...["0", "O", "I", "l", "é", "\u{1f600}", "\\"].map((foreign) =>
      ADDRESS.slice(0, 20) + foreign + ADDRESS.slice(21)
    ),
    ...prefixed,
  ];
  assertEquals(await eventAddresses(database.sql, "TRX", none), none);
  for (const network of NETWORKS) {
    const [found] = await eventAddresses(database.sql, network, [ADDRESS]);
    assertEquals(found, network.startsWith("TRX") ? addressToLogHex(ADDRESS) : ADDRESS, network);
  }
});

test("the database's number of an address is the one that scans look up", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const printable = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 70,
  });
  const hex = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => bytes.toHex());
  const texts = [
    ...fc.sample(printable, 2_000),
    ...fc.sample(hex, 2_000),
    // the smallest and the largest number of each length
    ...Array.from({ length: 66 }, (_, n) => [" ".repeat(n + 1), "~".repeat(n + 1)]).flat(),
  ];
  const rows = await sql<{ key: number }[]>`
    SELECT hub.text_key(text) AS key FROM unnest(${texts}::text[]) WITH ORDINALITY AS t(text, place)
    ORDER BY place`;
  assertEquals(rows.map(({ key }) => key), texts.map(textKey));
});

test("an address whose number could differ from the scans' is refused", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  for (const address of ["", "f\u00fcnf5", "tab\there", "line\nfeed", "line feed\n"]) {
    await assertRejects(
      () =>
        sql`
          INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
          VALUES (${address}, 'TRX', 'mer_1', 'adr_1', 1)`,
      Error,
      "event_address",
    );
  }
});

test("who shares the number of a receiver is credited nothing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const paid = "aaaaa" + "1".repeat(30) + "bbbbb";
  const other = "aaaaa" + "2".repeat(30) + "bbbbb";
  assertEquals(textKey(paid), textKey(other));
  await addWatched(sql, addressFromLogHex(other));
  const scan = () =>
    recordBlocks(sql, paperChain("TRX"), [blockOf([addressFromLogHex(paid)])], "solid");
  assertEquals([...await scan()], []);
  assertEquals((await sql`SELECT 1 FROM book.inbox`).length, 0);
  const owner = await addWatched(sql, addressFromLogHex(paid));
  assertEquals([...await scan()], [owner]);
  const rows = await sql`SELECT merchant_id FROM book.inbox`;
  assertEquals(rows.map(({ merchant_id }) => merchant_id), [owner]);
});

test("one place on a chain has one row, whatever its spelling", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const add = (address: string, network: string) =>
    sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      VALUES (${address}, ${network}, 'mer_1', ${`${network} ${address}`}, 1)`;
  await add(ADDRESS, "TRX");
  await assertRejects(() => add(OTHER_SPELLING, "TRX"), Error, "event_address");
  await assertRejects(() => add(addressToLogHex(ADDRESS), "TRX"), Error, "event_address");
  await add(OTHER_SPELLING, "TRX_SHASTA");
  await assertRejects(
    () => sql`UPDATE hub.address SET event_address = 'x' WHERE network = 'TRX'`,
    Error,
    "event_address",
  );
  const rows = await sql`SELECT event_address AS found FROM hub.address ORDER BY network`;
  assertEquals(rows.map(({ found }) => found), Array(2).fill(addressToLogHex(ADDRESS)));
});

test("one place on an EVM network has one row, whatever the case of its text", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const hex = "52908400098527886e0f7030069857d2e4169ee7";
  const add = (address: string, network: string) =>
    sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      VALUES (${address}, ${network}, 'mer_1', ${`${network} ${address}`}, 1)`;
  await add(addressOfEvent(hex), "ETH");
  await assertRejects(() => add(`0x${hex}`, "ETH"), Error, "event_address");
  await add(`0x${hex}`, "BNB");
});

/** A block as the adapter reads it. */
function blockOf(receivers: readonly string[]): Block {
  const pairs = receivers.map((receiver, n) =>
    contractCall(n + 1, [transferLog(USDT, addressFromLogHex("7".repeat(40)), receiver, n + 1)])
  );
  const answer = parseBlock(
    fullBlockSchema.parse(block(pairs)),
    receiptsSchema.parse(receipts(pairs)),
    {
      tokens: new Map([[addressToLogHex(USDT), { currency: "USDT", unit: amountOf("0.000001") }]]),
    },
  );
  assert(answer.kind === "block");
  return answer.block;
}

test("reading a block makes no text of a stranger's address", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const ours = addressFromLogHex("ab".repeat(20));
  const merchantId = await addWatched(sql, ours);
  const stranger = (n: number) => addressFromLogHex(n.toString(16).padStart(40, "c"));
  const strangers = Array.from({ length: 50 }, (_, n) => stranger(n));

  let made = 0;
  const paper = paperChain("TRX");
  const chain = {
    ...paper,
    addressOf: (event: string) => {
      made += 1;
      return paper.addressOf(event);
    },
  };
  for (const view of ["head", "solid"] as const) {
    assertEquals([...await recordBlocks(sql, chain, [blockOf(strangers)], view)], []);
  }
  assertEquals(made, 0);
  const block = blockOf([...strangers, ours]);
  assertEquals([...await recordBlocks(sql, chain, [block], "solid")], [merchantId]);
  assertEquals(made, 1, "the sender of the one that is; the receiver's is known");
  const rows = await sql`SELECT merchant_id, data FROM book.inbox`;
  assertEquals(rows.map(({ merchant_id, data }) => [merchant_id, data.from, data.to]), [
    [merchantId, addressFromLogHex("7".repeat(40)), ours],
  ]);
});
