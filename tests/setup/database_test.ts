import { assert, assertEquals, assertLess, assertNotEquals, assertRejects } from "@std/assert";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { addMerchant, fund, openJournal } from "../support/books.ts";
import { testDatabase, withDatabase } from "../support/database.ts";
import { DATABASE, needs } from "../support/permissions.ts";

const ignore = needs(DATABASE);

Deno.test({
  name: "a test has a migrated database that no other test sees",
  ignore,
  fn: async () => {
    const urls = await Promise.all([1, 2].map(() =>
      withDatabase(async ({ sql, url }) => {
        assert((await sql`SELECT FROM hub.migration`).length > 0);
        await sql`CREATE TABLE mine (n int)`;
        return url;
      })
    ));
    assertNotEquals(urls[0], urls[1]);
  },
});

Deno.test({
  name: "a test's database is gone after the test",
  ignore,
  fn: async () => {
    const url = await withDatabase((database) => Promise.resolve(database.url));
    const sql = connect(url, { max: 1 });
    await assertRejects(() => sql`SELECT 1`, Error, "does not exist");
    await sql.end({ timeout: 5 });
  },
});

Deno.test({
  name: "a database that other tests have used is as it was made",
  ignore,
  fn: async () => {
    const rowsOf = async (sql: Sql) => {
      const tables = await sql<{ name: string }[]>`
        SELECT c.oid::regclass::text AS name FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname IN ('book', 'hub') ORDER BY c.oid`;
      const found: Record<string, unknown> = {};
      for (const { name } of tables) {
        const rows = await sql.unsafe(`SELECT t::text AS row FROM ${name} t ORDER BY 1`);
        if (rows.length > 0) found[name] = rows.map(({ row }) => row);
        const [size] = await sql`SELECT pg_relation_size(${name}::regclass)::int AS bytes`;
        assertLess(size?.["bytes"], 65_537, name);
      }
      const [history] = await sql`
        SELECT h.database_oid::text AS oid FROM hub.server_history() h`;
      return { found, oid: String(history?.["oid"]) };
    };
    const made = await withDatabase(({ sql }) => rowsOf(sql), { unused: true });
    const used = new Map<string, number>();
    // another file's test may take it between two of these
    for (let turn = 0; turn < 20 && Math.max(0, ...used.values()) < 3; turn++) {
      await withDatabase(async ({ sql }) => {
        const { found, oid } = await rowsOf(sql);
        const told = (rows: unknown, own: string) =>
          JSON.stringify(rows).replaceAll(own, "its oid");
        assertEquals(told(found, oid), told(made.found, made.oid));
        used.set(oid, (used.get(oid) ?? 0) + 1);
        const journal = openJournal(sql);
        const merchantId = await addMerchant(sql);
        await fund(sql, journal, merchantId, "5");
        await sql`
          INSERT INTO hub.timer (actor, name, due_at)
          SELECT 'payment/' || n, 'expiry', now() FROM generate_series(1, 5000) n`;
        await journal.stop(60_000);
        await sql`UPDATE book.setting SET base_fee = 5, epoch = gen_random_uuid()`;
        await sql`DELETE FROM book.pair WHERE network = 'ETH'`;
        await sql`UPDATE book.pair SET min_withdrawal = 0.000000000000000001`;
      });
    }
    assert(Math.max(...used.values()) >= 3, "no database is used again");
  },
});

Deno.test({
  name: "a database whose tables or settings were changed is used by no other test",
  ignore,
  fn: async () => {
    const changes = [
      "ALTER TABLE book.merchant ADD COLUMN mine int",
      "ALTER TABLE book.merchant RENAME TO mine",
      "CREATE TABLE book.mine (n int)",
      "CREATE TABLE mine (n int)",
      "CREATE INDEX mine ON book.merchant (name)",
      "DROP INDEX book.outbox_due",
      "ALTER TABLE book.merchant DISABLE TRIGGER ALL",
      "CREATE FUNCTION mine() RETURNS int LANGUAGE sql RETURN 1",
      "CREATE OR REPLACE FUNCTION hub.event_address(network text, address text) RETURNS text LANGUAGE sql IMMUTABLE RETURN address",
      "ALTER FUNCTION hub.event_address(text, text) COST 7",
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 64', current_database()); END $$",
      "GRANT SELECT ON book.merchant TO PUBLIC",
      "ANALYZE book.pair",
    ];
    await using looker = await testDatabase();
    for (const change of changes) {
      const oid = await withDatabase(async ({ sql }) => {
        await sql.unsafe(change);
        const [row] = await sql`SELECT oid FROM pg_database WHERE datname = current_database()`;
        return Number(row?.["oid"]);
      });
      const rows = await looker.sql`SELECT FROM pg_database WHERE oid = ${oid}`;
      assertEquals([change, rows.length], [change, 0]);
    }
  },
});

Deno.test({
  name: "numbers of any size arrive exactly, as text",
  ignore,
  fn: () =>
    withDatabase(async ({ sql }) => {
      const [row] = await sql`
        SELECT 99999999999999999999.999999999999999999::numeric(38,18) AS amount,
               9223372036854775807 AS count`;
      assertEquals({ ...row }, {
        amount: "99999999999999999999.999999999999999999",
        count: "9223372036854775807",
      });
    }),
});
