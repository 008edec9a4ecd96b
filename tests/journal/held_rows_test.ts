import { assert, assertEquals } from "@std/assert";
import type { Sql, TransactionSql } from "../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import {
  addMerchant,
  addTransfer,
  booksFaults,
  fund,
  openJournal,
  refundCommand,
} from "../support/books.ts";
import { amount, reserveCommand, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Holds rows as a session does that was left open by hand. Answers how to let go. */
async function hold(
  sql: Sql,
  select: (tx: TransactionSql) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = sql.begin(async (tx) => {
    await select(tx);
    held.resolve();
    await free.promise;
    throw new Error("rolled back");
  }).catch((error) => assertEquals(error.message, "rolled back"));
  await Promise.race([held.promise, holding]);
  return async () => {
    free.resolve();
    await holding;
  };
}

/** Counts the writes that the database refused, by its code. */
function countingStore(sql: Sql): JournalStore & { readonly refused: string[] } {
  const store = createJournalStore(sql);
  const refused: string[] = [];
  return {
    ...store,
    refused,
    async writeBatch(...args) {
      try {
        return await store.writeBatch(...args);
      } catch (error) {
        refused.push(error instanceof Error && "code" in error ? String(error.code) : `${error}`);
        throw error;
      }
    },
  };
}

/** The rows of a merchant that a session may hold, and how often the others' batches wait for one. */
const ROWS: readonly {
  readonly row: string;
  readonly most: number;
  readonly lock: (tx: TransactionSql, merchantId: string) => Promise<unknown>;
}[] = [
  {
    row: "account",
    most: 0,
    lock: (tx, id) => tx`SELECT 1 FROM book.account WHERE merchant_id = ${id} FOR UPDATE`,
  },
  {
    row: "balance",
    most: 6,
    lock: (tx, id) => tx`SELECT 1 FROM book.balance WHERE merchant_id = ${id} FOR UPDATE`,
  },
  {
    row: "list count",
    most: 6,
    lock: (tx, id) =>
      tx`
      INSERT INTO book.list_bucket VALUES (${id}, 'transaction', 0, 'USDT', 'TRX', 'PENDING', 'WITHDRAWAL', 1, 1)`,
  },
  {
    row: "reference",
    most: 6,
    lock: (tx, id) =>
      tx`
      INSERT INTO book.withdrawal SELECT (w).* FROM (
        SELECT jsonb_populate_record(w, '{"id": "wd_held", "reference_id": "order-1", "seq": 9999, "transaction_seq": 9999}') AS w
        FROM book.withdrawal w WHERE w.merchant_id = ${id} LIMIT 1) one`,
  },
];

for (const { row, most, lock } of ROWS) {
  test(`a held ${row} of one merchant waits alone: others are done, it is done once let go`, async () => {
    await using database = await testDatabase({ max: 12 });
    const { sql } = database;
    const funding = openJournal(sql);
    const merchants = await Promise.all(Array.from({ length: 21 }, () => addMerchant(sql)));
    for (const merchantId of merchants) await fund(sql, funding, merchantId, "10000");
    const [held = "", ...others] = merchants;
    // with its deposit 249 lines: the next one fills a bucket, which is counted then
    for (let n = 0; n < 4; n++) {
      const some = Array.from({ length: 62 }, () => funding.ask(held, reserveCommand(), 60_000));
      for (const { kind } of await Promise.all(some)) assertEquals(kind, "done");
    }
    await funding.stop(1_000);
    const store = countingStore(sql);
    const journal = openJournal(sql, { store });
    const letGo = await hold(sql, (tx) => lock(tx, held));

    const order: string[] = [];
    const waiting = ["order-1", "order-2", "order-3"].map(async (referenceId) => {
      const outcome = await journal.ask(held, reserveCommand({ referenceId }), 60_000);
      order.push(referenceId);
      return outcome.kind;
    });
    for (let round = 0; round < 20; round++) {
      const outcomes = await Promise.all(
        others.map((merchantId) =>
          journal.ask(merchantId, reserveCommand({ amount: amount("1") }), 60_000)
        ),
      );
      assertEquals(outcomes.map(({ kind }) => kind), others.map(() => "done"));
    }
    assert(store.refused.length <= most, `${store.refused} of at most ${most}`);
    assertEquals([order, journal.figures.paused], [[], 1]);

    await letGo();
    assertEquals(await Promise.all(waiting), ["done", "done", "done"]);
    assertEquals(order, ["order-1", "order-2", "order-3"]);
    await until(() => journal.figures.paused === 0);
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

test("a sender whose time ends while its merchant's account is held is answered that nothing happened", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchants = await Promise.all(Array.from({ length: 4 }, () => addMerchant(sql)));
  for (const merchantId of merchants) await fund(sql, journal, merchantId, "100");
  const [held = "", ...others] = merchants;
  const letGo = await hold(
    sql,
    (tx) => tx`SELECT 1 FROM book.account WHERE merchant_id = ${held} FOR UPDATE`,
  );
  // a sender whose time ends while its try is out in the database learns that the outcome is unknown, which
  // is so; between two tries, where nearly all of the time is spent, it learns that nothing happened
  const late = until(async () =>
    (await journal.ask(held, reserveCommand(), 500)).kind === "withdrawn"
  );
  const outcomes = await Promise.all(
    others.map((merchantId) => journal.ask(merchantId, reserveCommand(), 20_000)),
  );
  assertEquals(outcomes.map(({ kind }) => kind), others.map(() => "done"));
  await late;
  await letGo();
  assertEquals((await journal.ask(held, reserveCommand(), 60_000)).kind, "done");
  const [row] = await sql`
    SELECT count(*)::int AS n FROM book.withdrawal WHERE merchant_id = ${held}`;
  assertEquals(row?.["n"], 1);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a refund whose payout another transaction locks waits alone, without waiting in the database", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = countingStore(sql);
  const journal = openJournal(sql, { store });
  const [held, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [held, other]) await fund(sql, journal, merchantId, "1000");
  const made = reserveCommand();
  assertEquals((await journal.ask(held, made, 60_000)).kind, "done");
  const letGo = await hold(
    sql,
    (tx) => tx`SELECT 1 FROM book.outgoing WHERE id = ${made.outgoingId} FOR UPDATE`,
  );
  const refund = journal.ask(held, refundCommand(made.withdrawalId), 60_000);
  for (let round = 0; round < 5; round++) {
    assertEquals((await journal.ask(other, reserveCommand(), 60_000)).kind, "done");
  }
  assertEquals(store.refused, []);
  await letGo();
  assertEquals((await refund).kind, "done");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a chain event that is to be quarantined while its row is locked keeps no merchant, and is quarantined later", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const [held, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [held, other]) await fund(sql, journal, merchantId, "1000");
  const txid = await addTransfer(sql, held, "nonsense");
  const letGo = await hold(
    sql,
    (tx) => tx`SELECT 1 FROM book.inbox WHERE txid = ${txid} FOR UPDATE`,
  );
  journal.wake(held);
  await until(() => journal.figures.quarantined > 0);
  for (const merchantId of [held, other]) {
    assertEquals((await journal.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  }
  await letGo();
  journal.wake(held);
  await until(async () => {
    const [row] = await sql`SELECT quarantine FROM book.inbox WHERE txid = ${txid}`;
    return row?.["quarantine"] !== null;
  });
  assertEquals(journal.figures.givenUp, 0);
  await journal.stop(1_000);
});

test("merchants that two nodes serve at once are answered without a word of locks, whichever node writes them first", async () => {
  await using database = await testDatabase({ max: 12 });
  const { sql } = database;
  const nodes = [openJournal(sql), openJournal(sql)];
  const merchants = await Promise.all(Array.from({ length: 3 }, () => addMerchant(sql)));
  for (const merchantId of merchants) await fund(sql, openJournal(sql), merchantId, "100000");
  const kinds = new Map<string, number>();
  await Promise.all(nodes.flatMap((node) =>
    merchants.map(async (merchantId) => {
      for (let n = 0; n < 30; n++) {
        const { kind } = await node.ask(
          merchantId,
          reserveCommand({ amount: amount("1") }),
          60_000,
        );
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    })
  ));
  // what collided too often may be asked again, as before; nothing waited its time out
  assertEquals((kinds.get("done") ?? 0) + (kinds.get("overloaded") ?? 0), 180);
  assert((kinds.get("done") ?? 0) >= 160, JSON.stringify([...kinds]));
  assertEquals(await booksFaults(sql), []);
  await Promise.all(nodes.map((node) => node.stop(1_000)));
});
