import { assertEquals } from "@std/assert";
import * as paymentRows from "../../ledger/payment_rows.ts";
import * as rows from "../../ledger/rows.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { SCHEMA_FILE, SCHEMA_VERSION, schemaText } from "../support/schema_text.ts";

const test = testNeeding(DATABASE);

test("ledger/schema.sql is what the migrations make", async () => {
  await using database = await testDatabase({ unused: true });
  const [server] = await database.sql<{ version: number }[]>`
    SELECT current_setting('server_version_num')::int / 10000 AS version`;
  // another server writes the same definitions in another way
  if (server?.version !== SCHEMA_VERSION) return;
  assertEquals(
    await schemaText(database.sql),
    await Deno.readTextFile(SCHEMA_FILE),
    "run `deno task schema`",
  );
});

test("the columns of ledger/rows.ts and payment_rows.ts are those of the database, in its order", async () => {
  await using database = await testDatabase();
  const tables = Object.values({ ...rows, ...paymentRows }).filter((one) => "rowType" in one);
  assertEquals(tables.length, 20);
  for (const { rowType, columns } of tables) {
    const kept = await database.sql<{ name: string }[]>`
      SELECT attname AS name FROM pg_attribute
      WHERE attrelid = ${rowType}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;
    assertEquals(columns.map(({ name }) => name), kept.map(({ name }) => name), rowType);
  }
});
