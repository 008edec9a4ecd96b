/** Addresses that were handed out and that an older copy of the database has lost are watched, also above the gap of a hold. @module */

import { assertEquals } from "@std/assert";
import { AddressBook } from "../../actors/addresses/address_book.ts";
import { AcknowledgedCommits } from "../../actors/failover/acknowledged_commits.ts";
import { HistoryWatch } from "../../actors/failover/history_watch.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { declareFailover } from "../../ledger/failover/holds.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet } from "../support/wallet_row.ts";

const test = testNeeding(DATABASE);
const AUDIT = {
  merchantId: null,
  actor: "ana",
  action: "failover.declare",
  subject: "",
  before: null,
  after: null,
  requestId: null,
};

/** A service that has handed out addresses of TRX to a merchant, and the watch of its database's history. */
async function openService(sql: Sql, count: number) {
  await addWallet(sql, "TRX", "hot-TRX");
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    VALUES ('TRX', 'solid', 7, '7', now(), now(), 7, 6)`;
  const chain = paperChain("TRX", { deriveAddress: (index) => `TRX-${index}` });
  const chains = new Map([["TRX" as const, chain]]);
  const book = new AddressBook(sql, chains);
  const history = new HistoryWatch({
    sql,
    chains,
    acknowledged: new AcknowledgedCommits(Date.now),
    highestIndexes: () => book.highest,
    dropCaches: () => book.dropCaches(),
    gap: 20,
  });
  await history.poll();
  const merchantId = await addMerchant(sql);
  const taken = Array.from({ length: count }, () => book.take("TRX", merchantId));
  const addresses = (await Promise.all(taken)).map(({ address }) => address);
  return { book, history, merchantId, addresses, chains };
}

/** Sets the database back to a copy from before all addresses. */
async function setBack(sql: Sql): Promise<void> {
  await sql`DELETE FROM hub.address`;
  await sql`UPDATE hub.wallet SET next_index = 0`;
}

/** Those of some addresses that are not watched as lost. */
async function unwatched(sql: Sql, addresses: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ address: string }[]>`
    SELECT address FROM hub.address WHERE network = 'TRX' AND merchant_id = ${LOST_ACCOUNT}`;
  const watched = new Set(rows.map(({ address }) => address));
  return addresses.filter((address) => !watched.has(address));
}

test("addresses that a running service skips as its database was set back are watched, although the hold that is declared then jumps over others", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const { book, history, merchantId, addresses } = await openService(sql, 100);
  await setBack(sql);
  await book.take("TRX", merchantId);
  await book.watchSkipped();
  await declareFailover(sql, "fov_1", 20, "a snapshot was started", { id: "aud_1", ...AUDIT });
  await history.poll();
  assertEquals(await unwatched(sql, addresses), []);
});

test("a service without requests skips and watches what its database has lost, so that another one that starts hands none of it out", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const { book, merchantId, addresses, chains } = await openService(sql, 60);
  await book.look();
  await setBack(sql);
  await book.look();
  await book.watchSkipped();
  assertEquals(await unwatched(sql, addresses), []);
  const started = new AddressBook(sql, chains);
  const { address } = await started.take("TRX", merchantId);
  assertEquals(addresses.includes(address), false);
});

test("a request is given a number that is not lost where those that its node kept were jumped over, by it or by another", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const { book, merchantId, addresses, chains } = await openService(sql, 1);
  const other = new AddressBook(sql, chains);
  addresses.push((await other.take("TRX", merchantId)).address);
  for (const one of [book, other]) await one.look();
  await setBack(sql);
  await book.look();
  await book.watchSkipped();
  const taken = [await book.take("TRX", merchantId), await other.take("TRX", merchantId)];
  const owners = await sql<{ address: string }[]>`
    SELECT address FROM hub.address WHERE merchant_id = ${merchantId} ORDER BY wallet_index`;
  assertEquals(owners.map(({ address }) => address), taken.map(({ address }) => address));
  assertEquals(await unwatched(sql, addresses), []);
});

test("a copy that is in use for a moment alone takes no numbers from the database that comes back", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const { book, merchantId } = await openService(sql, 50);
  await book.look();
  const setNext = (next: number) => sql`UPDATE hub.wallet SET next_index = ${next}`;
  await setNext(10);
  await book.look();
  await setNext(50);
  await book.watchSkipped();
  const lost = await sql`SELECT FROM hub.address WHERE merchant_id = ${LOST_ACCOUNT}`;
  assertEquals(lost.count, 0);
  assertEquals((await book.take("TRX", merchantId)).index, 50);
});

test("a promoted database is looked at once its hold is open: what it lacks is jumped over once", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const { book, history } = await openService(sql, 10);
  await setBack(sql);
  await sql`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
  await book.look();
  const next = async () =>
    (await sql<{ n: number }[]>`SELECT next_index AS n FROM hub.wallet`)[0]?.n;
  assertEquals(await next(), 0);
  await history.poll();
  assertEquals(await next(), 50, "up to the numbers that this process has taken");
  await book.look();
  assertEquals(await next(), 50);
});

test("what is skipped is watched the next time where the database was away", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const { book, merchantId, addresses } = await openService(sql, 100);
  await setBack(sql);
  await book.take("TRX", merchantId);
  await sql`ALTER TABLE hub.address RENAME TO address_away`;
  const failed = await book.watchSkipped().then(() => false, () => true);
  await sql`ALTER TABLE hub.address_away RENAME TO address`;
  assertEquals([failed, (await unwatched(sql, addresses)).length], [true, 100]);
  await book.watchSkipped();
  assertEquals(await unwatched(sql, addresses), []);
});

test("addresses above the gap of a hold are watched as well where this process knows that they were handed out", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const { history, addresses } = await openService(sql, 60);
  await setBack(sql);
  await sql`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
  await history.poll();
  assertEquals(await unwatched(sql, addresses), []);
});
