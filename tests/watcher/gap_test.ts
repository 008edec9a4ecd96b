import { assert, assertEquals } from "@std/assert";
import { paymentActors } from "../../actors/payment/payment_actor.ts";
import { Timers } from "../../actors/runtime/timers.ts";
import { rescanBlocks } from "../../actors/watcher/rescan_blocks.ts";
import { readCursor, readScannedRanges } from "../../ledger/watcher/cursor.ts";
import { findGaps } from "./support/find_gaps.ts";
import { newWallet, withChain } from "../dev_chain/support/chain.ts";
import { booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { adapterOver, addWatched, watch } from "./support/watch.ts";

const test = testNeeding({ ...DATABASE, write: true });

for (const landed of [false, true]) {
  const what = landed ? "CONFIRMED by what is in it" : "FAILED as nothing is in it";
  test(`a deposit in a gap of the scan stays PENDING until the gap is read again, then is ${what}`, () =>
    withChain(async (chain) => {
      await using database = await testDatabase();
      const { sql } = database;
      const address = newWallet().base58;
      await addWatched(sql, address);
      const adapter = adapterOver([chain.url], chain.usdt);
      const watcher = watch(sql, () => adapter);
      const { journal } = watcher;
      await chain.mine(20);
      await watcher.look();
      await chain.mine(10);
      const { txid } = await chain.post("/dev/transfer", {
        to: address,
        amount: "4",
        expiresInMs: 6_000,
      });
      const { head: height }: { head: number } = await chain.mine(1);
      await watcher.look();
      const read = async () => {
        const [row] = await sql<{ id: string; status: string; height: string }[]>`
          SELECT id, status, height FROM book.deposit WHERE txid = ${txid}`;
        return row;
      };
      await until(async () => (await read())?.status === "PENDING");
      const deposit = await read();
      assertEquals(Number(deposit?.height), height);
      if (!landed) await chain.post("/dev/reorg", { depth: 1, drop: true });
      await chain.mine(20);
      // the scan passes the block without its transfer, and what it says of it is taken away again
      await sql`UPDATE hub.address SET address = 'nobody'`;
      await watcher.lookOn();
      await sql`UPDATE hub.address SET address = ${address}`;
      const [range] = await readScannedRanges(sql, "TRX");
      assert(range !== undefined && range.first < height && range.last > height);

      const actor = await paymentActors({
        sql,
        timers: new Timers(sql, () => {}),
        now: () => Date.now(),
        recheckMs: () => 1_000,
        wakeMerchant: (id) => journal.wake(id),
      }).activate(deposit?.id ?? "");
      const unread = async (first: number, last: number) => {
        await sql`DELETE FROM hub.scanned_range`;
        await sql`
          INSERT INTO hub.scanned_range (network, first_height, last_height)
          VALUES ('TRX', ${range.first}, ${first - 1}), ('TRX', ${last + 1}, ${range.last})`;
        await actor.receive({ type: "timer", name: "expiry" });
        await journal.wakeAll();
        const told = await sql`SELECT FROM book.inbox WHERE phase = 'vanished'`;
        const timers = await sql`SELECT FROM hub.timer WHERE name = 'expiry'`;
        assertEquals([told.length, timers.length], [0, 1], `${first} to ${last} unread`);
      };
      // a reorganisation may have brought it back in another block than it was seen in
      const gaps = [[height - 2, height - 1], [height + 3, height + 3], [
        height,
        height + 1,
      ]] as const;
      for (const [first, last] of gaps) await unread(first, last);
      assertEquals((await read())?.status, "PENDING");

      const again = await rescanBlocks(
        { sql, chain: adapter, network: "TRX", stopped: null, wake: (id) => journal.wake(id) },
        height,
        height + 1,
        AbortSignal.timeout(10_000),
      );
      assertEquals(again.kind, "read");
      const cursor = await readCursor(sql, "TRX", "solid");
      assertEquals(findGaps(await readScannedRanges(sql, "TRX"), cursor?.height ?? 0), []);
      await actor.receive({ type: "timer", name: "expiry" });
      const ends = landed ? "CONFIRMED" : "FAILED";
      await until(async () => (await read())?.status === ends);
      await actor.receive({ type: "timer", name: "expiry" });
      assertEquals((await sql`SELECT FROM hub.timer WHERE name = 'expiry'`).length, 0);
      assertEquals((await read())?.status, ends);
      assertEquals(await booksFaults(sql), []);
      await journal.stop(1_000);
    }));
}

test("a deposit that was seen before a gap-free scan was lost to it is not given up", () =>
  withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    const address = newWallet().base58;
    await addWatched(sql, address);
    const watcher = watch(sql, () => adapterOver([chain.url], chain.usdt));
    await chain.mine(20);
    await watcher.look();
    await chain.post("/dev/transfer", { to: address, amount: "4", expiresInMs: 6_000 });
    await chain.mine(1);
    await watcher.look();
    await until(async () => (await sql`SELECT FROM book.deposit`).length === 1);
    await chain.post("/dev/reorg", { depth: 1, drop: true });
    await chain.mine(20);
    await watcher.lookOn();
    const [deposit] = await sql<
      { id: string; height: string }[]
    >`SELECT id, height FROM book.deposit`;
    const { activate } = paymentActors({
      sql,
      timers: new Timers(sql, () => {}),
      now: () => Date.now(),
      recheckMs: () => 1_000,
      wakeMerchant: () => {},
    });
    const actor = await activate(deposit?.id ?? "");
    const vanished = async () => {
      await actor.receive({ type: "timer", name: "expiry" });
      return (await sql`SELECT FROM book.inbox WHERE phase = 'vanished'`).length;
    };
    const seen = Number(deposit?.height);
    await sql`UPDATE hub.scanned_range SET first_height = ${seen + 1}`;
    assertEquals(await vanished(), 0);
    await sql`UPDATE hub.scanned_range SET first_height = ${seen}`;
    assertEquals(await vanished(), 1);
    await watcher.journal.stop(1_000);
  }));
