/**
 * Fresh addresses while rows of the database are held: a network waits for nothing of another's, and
 * no request waits for ever.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { AddressBook, type AddressBounds } from "../../actors/addresses/address_book.ts";
import { AddressGuard } from "../../actors/addresses/address_guard.ts";
import { addressReasons } from "../../app/health/addresses.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { addMerchant } from "../support/books.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet } from "../support/wallet_row.ts";

const test = testNeeding(DATABASE);

const NETWORKS = ["TRX", "TRX_SHASTA"] as const;
/** Longer than any test: what has another bound shows it. */
const NEVER_MS = 600_000;

/** A book of two networks whose scans have begun. */
async function openBook({ sql }: TestDatabase, bounds?: AddressBounds): Promise<AddressBook> {
  for (const network of NETWORKS) {
    await addWallet(sql, network, `hot-${network}`);
    await sql`
      INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
      VALUES (${network}, 'solid', 7, '7', now(), now(), 7, 6)`;
  }
  return bookOn({ sql }, bounds);
}

/** A book of a node of its own. */
function bookOn({ sql }: Pick<TestDatabase, "sql">, bounds?: AddressBounds): AddressBook {
  const chains = NETWORKS.map((network) =>
    [
      network as Network,
      paperChain(network, { deriveAddress: (index) => `${network}-${index}` }),
    ] as const
  );
  return new AddressBook(sql, new Map(chains), bounds);
}

/** Holds the row of a network's numbers, as an operator's transaction does. */
const holdNumbers = (database: TestDatabase, network: Network) =>
  holdRows(database, (tx) => tx`SELECT FROM hub.wallet WHERE network = ${network} FOR UPDATE`);

test("a held row of one network keeps no address of another from being handed out", async () => {
  await using database = await testDatabase({ max: 8 });
  const merchantId = await addMerchant(database.sql);
  const book = await openBook(database, { takeMs: NEVER_MS, rowMs: NEVER_MS });
  const letGo = await holdNumbers(database, "TRX_SHASTA");
  let isOver = false;
  const held = Array.from({ length: 10 }, () => book.take("TRX_SHASTA", merchantId));
  const others = Promise.allSettled(held).then(() => isOver = true);
  try {
    const addresses = await Promise.all(
      Array.from({ length: 60 }, async () => (await book.take("TRX", merchantId)).address),
    );
    assertEquals([isOver, new Set(addresses).size], [false, 60]);
    assertEquals(book.figures.get("TRX_SHASTA")?.waiting, 10);
    assertEquals(book.figures.get("TRX")?.waiting, 0);
  } finally {
    await letGo();
  }
  await others;
  assertEquals(new Set((await Promise.all(held)).map(({ address }) => address)).size, 10);
  assertEquals([...book.highest], [["TRX", 99], ["TRX_SHASTA", 49]]);
});

test("all that wait for a held row of numbers are told at once, it is a reason, and the next goes on", async () => {
  await using database = await testDatabase({ max: 8 });
  const merchantId = await addMerchant(database.sql);
  const book = await openBook(database, { takeMs: NEVER_MS, rowMs: 100 });
  const guard = new AddressGuard({ derive: () => "" });
  const letGo = await holdNumbers(database, "TRX_SHASTA");
  try {
    const asked = Array.from(
      { length: 200 },
      () => assertRejects(() => book.take("TRX_SHASTA", merchantId), ChainUnavailable, "holds"),
    );
    await Promise.all(asked);
    const { waiting, refused } = book.figures.get("TRX_SHASTA") ?? {};
    assertEquals([waiting, refused], [0, 200]);
    assertEquals(addressReasons(guard, book), [
      "TRX_SHASTA addresses are not handed out: Cannot hand out an address as another transaction " +
      "holds the row of its numbers: TRX_SHASTA",
    ]);
  } finally {
    await letGo();
  }
  const { index } = await book.take("TRX_SHASTA", merchantId);
  assertEquals([index, addressReasons(guard, book)], [0, []]);
});

test("a request that has waited for its time is given up, and the address that was made for it goes to no other request", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const book = await openBook(database, { takeMs: 500, rowMs: NEVER_MS });
  const letGo = await holdRows(
    database,
    (tx) => tx`LOCK TABLE hub.address IN ACCESS EXCLUSIVE MODE`,
  );
  try {
    await assertRejects(() => book.take("TRX", merchantId), ChainUnavailable, "in time");
    assertEquals(book.figures.get("TRX")?.waiting, 0);
  } finally {
    await letGo();
  }
  // the machine may be slow: what is asked for again is there in the end
  const again = async (): Promise<number> =>
    await book.take("TRX", merchantId).then(({ index }) => index, again);
  const index = await again();
  assertEquals(index > 0, true, "the first number was used up");
  const rows = await sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM hub.address WHERE network = 'TRX' AND wallet_index = ${index}`;
  assertEquals(rows[0]?.n, 1);
});

test("a running service whose database is set back gives no merchant an address that another one has", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  const [one, other] = [await addMerchant(sql), await addMerchant(sql)];
  const [book, ofOtherNode] = [await openBook(database), bookOn(database)];
  const take = async (from: AddressBook, merchantId: string, count: number) => {
    const taken = Array.from({ length: count }, () => from.take("TRX", merchantId));
    return (await Promise.all(taken)).map(({ address }) => address);
  };
  const first = [...await take(book, one, 60), ...await take(ofOtherNode, one, 60)];
  // a copy from before all of them
  await sql`DELETE FROM hub.address WHERE merchant_id = ${one}`;
  await sql`UPDATE hub.wallet SET next_index = 0 WHERE network = 'TRX'`;
  const then = await take(book, other, 100);
  assertEquals(then.filter((address) => first.includes(address)), []);
  assertEquals(new Set(then).size, 100);
});

test("what another node has handed out is handed out by none where the database is set back to after this one's last numbers", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  const [one, other] = [await addMerchant(sql), await addMerchant(sql)];
  const [book, ofOtherNode] = [await openBook(database), bookOn(database)];
  const take = async (from: AddressBook, merchantId: string) => {
    const taken = Array.from({ length: 50 }, () => from.take("TRX", merchantId));
    return (await Promise.all(taken)).map(({ address }) => address);
  };
  await take(book, one);
  const first = await take(ofOtherNode, one);
  await book.look();
  await sql`DELETE FROM hub.address WHERE network = 'TRX' AND wallet_index >= 50`;
  await sql`UPDATE hub.wallet SET next_index = 50 WHERE network = 'TRX'`;
  const then = await take(book, other);
  assertEquals(then.filter((address) => first.includes(address)), []);
});

test("a look at numbers that are being taken skips none of them", async () => {
  await using database = await testDatabase({ max: 8 });
  const merchantId = await addMerchant(database.sql);
  const book = await openBook(database);
  await book.look();
  const [taken] = await Promise.all([
    Promise.all(Array.from({ length: 300 }, () => book.take("TRX", merchantId))),
    ...Array.from({ length: 6 }, async () => {
      for (let i = 0; i < 100; i++) await book.look();
    }),
  ]);
  assertEquals(taken.filter(({ index }) => index >= 300), []);
});
