import { assertEquals } from "@std/assert";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import { connect } from "../../ledger/database/connect.ts";
import { freePort } from "../../app/postgres/free_port.ts";
import { withDatabase } from "../support/database.ts";
import { DATABASE, needs } from "../support/permissions.ts";

const ignore = needs(DATABASE);

async function kindOf(query: PromiseLike<unknown>): Promise<string> {
  return await query.then(() => "no error", classifyDatabaseError);
}

Deno.test({
  name: "a broken rule of the schema is a constraint error",
  ignore,
  fn: () =>
    withDatabase(async ({ sql }) => {
      await sql`CREATE TABLE a (n int PRIMARY KEY CHECK (n > 0))`;
      await sql`INSERT INTO a VALUES (1)`;
      assertEquals(await kindOf(sql`INSERT INTO a VALUES (1)`), "constraint");
      assertEquals(await kindOf(sql`INSERT INTO a VALUES (0)`), "constraint");
      assertEquals(await kindOf(sql`INSERT INTO a VALUES (NULL)`), "constraint");
    }, { migrated: false }),
});

Deno.test({
  name: "a lost race may be tried again",
  ignore,
  fn: () =>
    withDatabase(async ({ sql }) => {
      await sql`CREATE TABLE a AS SELECT 1 AS n`;
      const race = sql.begin("ISOLATION LEVEL SERIALIZABLE", async (tx) => {
        await tx`SELECT n FROM a`;
        await sql`UPDATE a SET n = n + 1`;
        await tx`UPDATE a SET n = n + 1`;
      });
      assertEquals(await kindOf(race), "serialization");
      const wait = sql.begin(async (tx) => {
        await tx`UPDATE a SET n = 5`;
        await sql.begin(async (other) => {
          await other`SET LOCAL lock_timeout = '10ms'`;
          await other`UPDATE a SET n = 6`;
        });
      });
      assertEquals(await kindOf(wait), "serialization");
    }, { migrated: false }),
});

Deno.test({
  name: "a statement that the server refused or gave up committed nothing",
  ignore,
  fn: () =>
    withDatabase(async ({ sql, connect }) => {
      assertEquals(await kindOf(sql`SELECT * FROM nowhere`), "statement");
      assertEquals(await kindOf(sql`SELECT 1 / 0`), "statement");
      const hasty = connect({ max: 1, statementTimeoutMs: 20 });
      assertEquals(await kindOf(hasty`SELECT pg_sleep(30)`), "statement");
    }, { migrated: false }),
});

Deno.test({
  name: "a session that ends while a statement runs leaves its outcome unknown",
  ignore,
  fn: () =>
    withDatabase(async ({ sql, connect }) => {
      const pool = connect({ max: 1, applicationName: "victim" });
      await pool`SELECT 1`;
      const lost = kindOf(pool`SELECT pg_sleep(30)`);
      const deadline = Date.now() + 60_000;
      let ended = 0;
      while (ended === 0 && Date.now() < deadline) {
        ended = (await sql`
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'victim' AND state = 'active'
            AND datname = current_database()`).length;
      }
      assertEquals(await lost, "connection");
      // What is sent before the end of the session has arrived is lost as well; then it works again.
      let next = await kindOf(pool`SELECT 1`);
      while (next === "connection" && Date.now() < deadline) next = await kindOf(pool`SELECT 1`);
      assertEquals(next, "no error");
    }, { migrated: false }),
});

Deno.test({
  name: "a server that is not there is a connection error",
  ignore,
  fn: async () => {
    const sql = connect(`postgres://nobody:nothing@127.0.0.1:${freePort()}/none`, { max: 1 });
    assertEquals(await kindOf(sql`SELECT 1`), "connection");
    await sql.end({ timeout: 1 });
    assertEquals(await kindOf(sql`SELECT 1`), "connection");
  },
});

Deno.test("a bug of ours is no lost connection", () => {
  assertEquals(classifyDatabaseError(new TypeError("Cannot read properties of null")), "statement");
});
