import { configure, reset } from "@logtape/logtape";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "node:path";
import {
  assertMigrated,
  migrate,
  MIGRATION_STATEMENT_MS,
  MigrationMismatch,
  readMigrations,
} from "../../ledger/database/migrate.ts";
import { type TestDatabase, withDatabase } from "../support/database.ts";
import { DATABASE, needs } from "../support/permissions.ts";

const ignore = needs(DATABASE);

const FIRST = { "0001_first.sql": "CREATE TABLE a (n int); INSERT INTO a VALUES (1);" };
const SECOND = {
  ...FIRST,
  "0002_second.sql": "INSERT INTO a VALUES (2); ALTER TABLE a ADD m int;",
};

/** A folder of migrations whose contents a test changes. */
async function withMigrations(
  body: (
    database: TestDatabase,
    folder: string,
    set: (files: Readonly<Record<string, string>>) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "engine-migrations-" });
  const set = async (files: Readonly<Record<string, string>>) => {
    for await (const entry of Deno.readDir(folder)) await Deno.remove(join(folder, entry.name));
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(join(folder, name), text);
    }
  };
  try {
    await withDatabase((database) => body(database, folder, set), { migrated: false });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function test(name: string, body: Parameters<typeof withMigrations>[0]): void {
  Deno.test({ name, ignore, fn: () => withMigrations(body) });
}

test("only what is missing is applied, in order", async ({ sql }, folder, set) => {
  await set(FIRST);
  assertEquals(await migrate(sql, await readMigrations(folder)), { applied: ["0001_first.sql"] });
  await set(SECOND);
  assertEquals(await migrate(sql, await readMigrations(folder)), { applied: ["0002_second.sql"] });
  assertEquals(await migrate(sql, await readMigrations(folder)), { applied: [] });
  await assertMigrated(sql, await readMigrations(folder));
  assertEquals((await sql`SELECT n FROM a ORDER BY n`).map((row) => row.n), [1, 2]);
});

test("nodes that start together apply a migration once", async (database, folder, set) => {
  await set(SECOND);
  const nodes = [1, 2, 3, 4].map(() => database.connect({ max: 1 }));
  const answers = await Promise.all(
    nodes.map(async (sql) => await migrate(sql, await readMigrations(folder))),
  );
  assertEquals(answers.flatMap((answer) => answer.applied).sort(), Object.keys(SECOND));
  assertEquals((await database.sql`SELECT n FROM a`).length, 2);
});

test(
  "a migration has hours for its statement, and does not wait for a locked table",
  async ({ sql }, folder, set) => {
    const bounds = ["statement_timeout", "lock_timeout"]
      .map((name) => `(SELECT setting::int AS ${name} FROM pg_settings WHERE name = '${name}')`);
    await set({
      "0001_first.sql": `CREATE TABLE bounds AS SELECT * FROM ${bounds.join(" a, ")} b`,
    });
    await migrate(sql, await readMigrations(folder));
    assertEquals([...await sql`SELECT * FROM bounds`], [{
      statement_timeout: MIGRATION_STATEMENT_MS,
      lock_timeout: 60_000,
    }]);
  },
);

test(
  "migrations of a database that is in use are told one by one, those of an empty one are not",
  async ({ sql }, folder, set) => {
    const told: string[] = [];
    await configure({
      sinks: { kept: ({ properties: { event, migration } }) => told.push(`${event} ${migration}`) },
      loggers: [
        { category: ["engine", "database"], lowestLevel: "info", sinks: ["kept"] },
        { category: ["logtape", "meta"], lowestLevel: "error", sinks: [] },
      ],
    });
    try {
      await set(FIRST);
      await migrate(sql, await readMigrations(folder));
      assertEquals(told, []);
      await set(SECOND);
      await migrate(sql, await readMigrations(folder));
    } finally {
      await reset();
    }
    assertEquals(told, ["database.migrating 0002_second.sql", "database.migrated 0002_second.sql"]);
  },
);

test("a migration that fails leaves nothing of itself behind", async ({ sql }, folder, set) => {
  await set({ ...FIRST, "0002_broken.sql": "INSERT INTO a VALUES (2); SELECT nonsense;" });
  await assertRejects(
    async () => await migrate(sql, await readMigrations(folder)),
    Error,
    "nonsense",
  );
  assertEquals((await sql`SELECT n FROM a`).map((row) => row.n), [1]);
  await assertRejects(
    async () => await assertMigrated(sql, await readMigrations(folder)),
    MigrationMismatch,
    "0002_broken.sql",
  );
});

test("a database of a newer version is refused", async ({ sql }, folder, set) => {
  await set(SECOND);
  await migrate(sql, await readMigrations(folder));
  await set(FIRST);
  await assertRejects(
    async () => await migrate(sql, await readMigrations(folder)),
    MigrationMismatch,
    "newer",
  );
  await assertRejects(
    async () => await assertMigrated(sql, await readMigrations(folder)),
    MigrationMismatch,
    "newer",
  );
});

test("a migration that changed after it was applied is refused", async ({ sql }, folder, set) => {
  await set(FIRST);
  await migrate(sql, await readMigrations(folder));
  await set({ "0001_first.sql": `${FIRST["0001_first.sql"]} -- changed` });
  await assertRejects(
    async () => await migrate(sql, await readMigrations(folder)),
    MigrationMismatch,
    "changed",
  );
});

test(
  "who serves already is not disturbed by files that change on disk",
  async ({ sql }, folder, set) => {
    await set(FIRST);
    const started = await readMigrations(folder);
    await migrate(sql, started);
    await set({ ...SECOND, "0001_first.sql": `${FIRST["0001_first.sql"]} -- changed` });
    await assertMigrated(sql, started);
    await assertRejects(async () => await assertMigrated(sql, await readMigrations(folder)), Error);
  },
);

test("a migration that comes late is refused", async ({ sql }, folder, set) => {
  await set({ "0002_second.sql": "CREATE TABLE b (n int)" });
  await migrate(sql, await readMigrations(folder));
  await set({ ...FIRST, "0002_second.sql": "CREATE TABLE b (n int)" });
  await assertRejects(
    async () => await migrate(sql, await readMigrations(folder)),
    MigrationMismatch,
    "added before",
  );
});

test("an empty database is not taken for a migrated one", async ({ sql }, folder, set) => {
  await set(FIRST);
  await assertRejects(
    async () => await assertMigrated(sql, await readMigrations(folder)),
    MigrationMismatch,
    "0001_first.sql",
  );
});

test("file names have one form and numbers are not shared", async (_, folder, set) => {
  await set({ "1_first.sql": "" });
  await assertRejects(() => readMigrations(folder), Error, "NNNN_name.sql");
  await set({ "0001_a.sql": "", "0001_b.sql": "" });
  await assertRejects(() => readMigrations(folder), Error, "share a number");
});

Deno.test({
  name: "the service's own migrations are numbered and have checksums",
  ignore,
  fn: async () => {
    const migrations = await readMigrations();
    assert(migrations.length > 0);
    for (const { checksum } of migrations) assertMatch(checksum, /^[0-9a-f]{64}$/);
  },
});
