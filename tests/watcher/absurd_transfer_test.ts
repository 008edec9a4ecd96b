import { assertEquals, assertStringIncludes } from "@std/assert";
import { formatAmount } from "../../ledger/money/amount.ts";
import { listUndecided } from "../../ledger/failover/unknown_spends.ts";
import { readHealth } from "../../ledger/database/read_health.ts";
import { newWallet, withChain } from "../dev_chain/support/chain.ts";
import { booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { adapterOver, addWatched, watch } from "./support/watch.ts";

const test = testNeeding({ ...DATABASE, write: true });

test("a transfer that the books cannot hold is quarantined with an alarm, and every other one is credited", () =>
  withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    const [victim, other] = [newWallet().base58, newWallet().base58];
    await addWatched(sql, victim);
    const otherId = await addWatched(sql, other, 1);
    const watcher = watch(sql, () => adapterOver([chain.url], chain.usdt));
    await chain.mine(5);
    await watcher.look();
    const event = (to: string, amount: string) => ({
      do: "event",
      from: newWallet().base58,
      to,
      amount,
    });
    await chain.post("/dev/emit", {
      steps: [event(victim, `1${"0".repeat(36)}`), event(other, "5000000")],
    });
    await chain.post("/dev/transfer", { to: victim, amount: "3" });
    await chain.mine(5);
    await watcher.lookOn();
    assertEquals(watcher.status().readSolid, watcher.status().chainSolid);
    const [row] =
      await sql`SELECT data ->> 'amount' AS amount, quarantine FROM book.inbox WHERE quarantine IS NOT NULL AND phase = 'solid'`;
    assertEquals(row?.["amount"], `1${"0".repeat(30)}`);
    assertStringIncludes(row?.["quarantine"], "cannot be held");
    assertEquals((await readHealth(sql, 30)).quarantinedRows > 0, true);
    await until(async () =>
      (await sql`SELECT FROM book.deposit WHERE status = 'CONFIRMED'`).length === 2
    );
    const [balance] = await sql`SELECT available FROM book.balance WHERE merchant_id = ${otherId}`;
    assertEquals(Number(balance?.["available"]), 5);
    assertEquals(await booksFaults(sql), []);
    await watcher.journal.stop(1_000);
  }));

test("a transfer out of an address of ours that the books cannot hold waits for an operator, and the scan goes on", () =>
  withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    const own = newWallet().base58;
    await addWatched(sql, own);
    const watcher = watch(sql, () => adapterOver([chain.url], chain.usdt));
    await chain.mine(5);
    await watcher.look();
    const amount = `1${"0".repeat(36)}`;
    await chain.post("/dev/emit", {
      steps: [{ do: "event", from: own, to: newWallet().base58, amount }],
    });
    await chain.mine(5);
    await watcher.lookOn();
    await watcher.journal.stop(1_000);
    assertEquals(watcher.status().readSolid, watcher.status().chainSolid);
    const spends = await listUndecided(sql);
    assertEquals(spends.map((spend) => [spend.from, formatAmount(spend.amount)]), [
      [own, `1${"0".repeat(19)}`],
    ]);
  }));
