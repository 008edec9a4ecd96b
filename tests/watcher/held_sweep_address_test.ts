import { assert, assertEquals } from "@std/assert";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import { sweepReasons } from "../../app/health/sweeps.ts";
import type { Block } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readSweepHealth } from "../../ledger/sweeps/sweep_health.ts";
import {
  closeSweepAddress,
  dueSweepAddresses,
  takeLateSweepAddresses,
} from "../../ledger/sweeps/sweep_addresses.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const TIME = 1_700_000_000_000;
const ADDRESSES = ["address-1", "address-2", "address-3"] as const;

/** A solid block that pays one USDT to each address. */
function blockOf(height: number): Block {
  const transfers = ADDRESSES.map((eventTo, n) => ({
    txid: `${height}${n}`.padStart(64, "0"),
    logIndex: 0,
    currency: "USDT" as const,
    amount: amount("1"),
    eventFrom: "somebody",
    eventTo,
    diesAfter: TIME,
    expiresAt: TIME,
  }));
  const hashes = { parentHeight: height - 1, hash: `h${height}`, parentHash: `h${height - 1}` };
  return { height, ...hashes, time: TIME, tick: TIME, transactions: [], transfers };
}

/** Addresses to be swept, by their names, with how often something happened to each. */
async function targets(sql: Sql): Promise<string[]> {
  const rows = await sql<{ address: string; touched: string }[]>`
    SELECT address, touched FROM book.sweep_address ORDER BY address`;
  return rows.map(({ address, touched }) => `${address} ${touched}`);
}

const HELD = [
  {
    what: "locked",
    lock: (tx: Sql) => tx`SELECT FROM book.sweep_address WHERE address = 'address-2' FOR UPDATE`,
  },
  {
    what: "changed",
    lock: (tx: Sql) =>
      tx`UPDATE book.sweep_address SET detail = 'by hand' WHERE address = 'address-2'`,
  },
  {
    what: "deleted",
    lock: (tx: Sql) => tx`DELETE FROM book.sweep_address WHERE address = 'address-2'`,
  },
] as const;

for (const { what, lock } of HELD) {
  test(`an address to be swept whose row another session has ${what} holds no scan, and is noted when that ends`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      SELECT 'address-' || n, 'TRX', 'mer_' || n, 'adr_' || n, n FROM generate_series(1, 3) n`;
    await sql`
      INSERT INTO book.sweep_address (network, address, currency, merchant_id)
      SELECT 'TRX', 'address-' || n, 'USDT', 'mer_' || n FROM generate_series(1, 2) n`;
    const chain = paperChain("TRX", {});
    // a planner that has read the address before the transfers were met thinks that it is empty
    const planned = (await dueSweepAddresses(sql, "TRX", 9)).find(({ walletIndex }) =>
      walletIndex === 2
    );
    assert(planned !== undefined);
    const letGo = await holdRows(database, lock);
    for (const height of [9, 10]) await recordBlocks(sql, chain, [blockOf(height)], "solid");
    const credited = await sql`SELECT FROM book.inbox WHERE phase = 'solid' AND quarantine IS NULL`;
    const items = await sql`SELECT FROM book.sweep_item`;
    assertEquals([credited.length, items.length], [6, 6]);
    const others = (all: string[]) => all.filter((one) => !one.startsWith("address-2"));
    assertEquals(others(await targets(sql)), ["address-1 2", "address-3 1"]);

    await takeLateSweepAddresses(sql, "TRX");
    const late = () => sql`SELECT FROM book.late_sweep_address`;
    assertEquals((await late()).length, 1, "it is held still");
    await sql`UPDATE book.late_sweep_address SET noted_at = noted_at - interval '2 minutes'`;
    const status = async () => {
      const sweeps = new Map([["TRX" as const, await readSweepHealth(sql, "TRX")]]);
      return sweepReasons({ sweeps }, "TRX", TIME);
    };
    assertEquals(await status(), [
      "TRX cannot sweep 1 addresses that were paid: an open transaction holds their rows",
    ]);
    await letGo();
    await takeLateSweepAddresses(sql, "TRX");
    assertEquals([(await late()).length, await status()], [0, []]);
    await closeSweepAddress(sql, planned);
    const noted = (await targets(sql)).find((one) => one.startsWith("address-2"));
    assertEquals(noted, "address-2 1");
    assertEquals(others(await targets(sql)), ["address-1 2", "address-3 1"]);
  });
}

test("an address whose row was closed while another session held it is to be swept again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO book.sweep_address (network, address, currency, merchant_id)
    VALUES ('TRX', 'address-1', 'USDT', 'mer_1')`;
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES ('address-1', 'TRX', 'mer_1', 'adr_1', 1)`;
  const letGo = await holdRows(
    database,
    (tx) => tx`SELECT FROM book.sweep_address FOR UPDATE`,
  );
  await recordBlocks(sql, paperChain("TRX", {}), [blockOf(9)], "solid");
  await letGo();
  const [planned] = await dueSweepAddresses(sql, "TRX", 9);
  assert(planned !== undefined);
  await closeSweepAddress(sql, planned);
  assertEquals(await targets(sql), []);
  await takeLateSweepAddresses(sql, "TRX");
  assertEquals(await targets(sql), ["address-1 0"]);
});
