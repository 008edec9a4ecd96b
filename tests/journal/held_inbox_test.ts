import { assertEquals } from "@std/assert";
import { releaseBroken, releaseClaimed } from "../../ledger/journal/quarantine_rows.ts";
import { addMerchant, addTransfer, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

for (const quarantine of ["bug: Error: x", "claimed: the deposit dep_1"]) {
  test(`a row quarantined (${quarantine}) that a session holds keeps no merchant from being woken, nor a node from starting`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const [one, free, other] = [
      await addMerchant(sql),
      await addMerchant(sql),
      await addMerchant(sql),
    ];
    await addTransfer(sql, one, "5");
    await addTransfer(sql, free, "5");
    await sql`UPDATE book.inbox SET quarantine = ${quarantine}`;
    // no actor was woken for it, as after a crash
    await addTransfer(sql, other, "5");
    const [held, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = database.connect({ max: 1 }).begin(async (tx) => {
      await tx`SELECT 1 FROM book.inbox WHERE merchant_id = ${one} FOR UPDATE`;
      held.resolve();
      await letGo.promise;
    });
    await Promise.race([held.promise, holding]);
    const journal = openJournal(database.connect({ max: 4, statementTimeoutMs: 3_000 }));
    await journal.retryBroken();
    await journal.wakeAll();
    const left = async () => {
      const rows = await sql<{ merchant_id: string }[]>`
        SELECT merchant_id FROM book.inbox WHERE consumed_at IS NULL`;
      return rows.map((row) => row.merchant_id).join();
    };
    await until(async () => await left() === one);
    letGo.resolve();
    await holding;
    await journal.retryBroken();
    await journal.wakeAll();
    await until(async () => await left() === "");
    await journal.stop(5_000);
    assertEquals(await left(), "");
  });
}

test("rows that were quarantined are given back in portions, and each broken one once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await sql`
    CREATE FUNCTION book.refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM changed) > 1000 THEN RAISE EXCEPTION 'too many rows at once'; END IF;
      RETURN NULL;
    END $$`;
  await sql`
    CREATE TRIGGER few_at_once AFTER UPDATE ON book.inbox REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_many()`;
  // what this release cannot digest either is quarantined again at once
  await sql`
    CREATE FUNCTION book.break_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.quarantine LIKE 'unreadable:%' THEN NEW.quarantine := OLD.quarantine; END IF;
      RETURN NEW;
    END $$`;
  await sql`
    CREATE TRIGGER broken_again BEFORE UPDATE ON book.inbox FOR EACH ROW EXECUTE FUNCTION book.break_again()`;
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data, quarantine)
    SELECT ${merchantId}, 'TRX', i, 0, 'solid', '{}',
      CASE WHEN i <= 2500 THEN 'bug: x' WHEN i <= 4000 THEN 'unreadable: x' ELSE 'claimed: dep_1' END
    FROM generate_series(1, 6500) i`;
  // as the journal asks: by index only, and a statement may take three seconds
  const pool = database.connect({ max: 1, statementTimeoutMs: 3_000, looksUpOnly: true });
  assertEquals(await releaseBroken(pool), 4_000);
  assertEquals(await releaseClaimed(pool, null), null);
  const left = await sql<{ quarantine: string; n: number }[]>`
    SELECT quarantine, count(*)::int AS n FROM book.inbox WHERE quarantine IS NOT NULL GROUP BY 1`;
  assertEquals(left.map(({ quarantine, n }) => `${quarantine} ${n}`), ["unreadable: x 1500"]);
});
