import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../app/open/open_database.ts";
import { admin } from "../../app/commands/admin.ts";
import { migrate, readMigrations } from "../../ledger/database/migrate.ts";
import { OtherEnvironment, requireEnvironment } from "../../ledger/installation.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a database belongs to the environment that it was begun in, and says so in one line", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await requireEnvironment(sql, "staging");
  await requireEnvironment(sql, "staging");
  const error = await assertRejects(
    () => requireEnvironment(sql, "production"),
    OtherEnvironment,
    "set ENVIRONMENT=staging, or begin a new database",
  );
  assertMatch(error.message, /^[^\n]+$/);
  await assertRejects(() => sql`UPDATE hub.installation SET environment = 'production'`, Error);
  await assertRejects(() => sql`DELETE FROM hub.installation`, Error, "written once");
  // the service and the first command of a new installation both compare it
  const { Secret } = await import("../../app/config/secret.ts");
  await assertRejects(
    () =>
      openDatabase({
        databaseUrl: new Secret(database.url),
        databasePool: 8,
        dataDir: "/nonexistent",
        environment: "development",
      }),
    OtherEnvironment,
  );
  const lines: string[] = [];
  const say = (line: string) => lines.push(line);
  const env = { ENVIRONMENT: "production", DATABASE_URL: database.url };
  assertEquals(await admin(["bootstrap"], env, { log: say, error: say }), 1);
  assertStringIncludes(lines.join("\n"), "it was begun for staging");
});

test("a version that is newer is refused by another environment's database before it migrates it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await requireEnvironment(sql, "production");
  const newer = { number: "9999", name: "9999_newer.sql", checksum: "9", text: "SELECT 1" };
  const migrations = [...await readMigrations(), newer];
  await assertRejects(() => migrate(sql, migrations, "staging"), OtherEnvironment);
  // to the service and to the first command this database lacks its newest migration
  const gone = await sql`
    DELETE FROM hub.migration WHERE number = (SELECT max(number) FROM hub.migration) RETURNING name`;
  assertEquals(gone.length, 1);
  const before = await sql`SELECT * FROM hub.migration ORDER BY number`;
  const { Secret } = await import("../../app/config/secret.ts");
  await assertRejects(
    () =>
      openDatabase({
        databaseUrl: new Secret(database.url),
        databasePool: 8,
        dataDir: "/nonexistent",
        environment: "development",
      }),
    OtherEnvironment,
  );
  const lines: string[] = [];
  const say = (line: string) => lines.push(line);
  const env = { ENVIRONMENT: "staging", DATABASE_URL: database.url };
  assertEquals(await admin(["bootstrap"], env, { log: say, error: say }), 1);
  assertMatch(lines.join("\n"), /^[^\n]*it was begun for production[^\n]*$/);
  assertEquals(await sql`SELECT * FROM hub.migration ORDER BY number`, before);
});

test("of two environments that begin one database together, one has it and the other is refused", async () => {
  await using database = await testDatabase({ migrated: false });
  const began = await Promise.allSettled(
    ["staging", "production"].map((environment) =>
      migrate(database.connect({ max: 1 }), undefined, environment)
    ),
  );
  const refused = began.filter((end) => end.status === "rejected");
  assertEquals(refused.map(({ reason }) => reason.name), ["OtherEnvironment"]);
  const [row] = await database.sql`SELECT environment FROM hub.installation`;
  assertEquals(row?.environment, began[0]?.status === "fulfilled" ? "staging" : "production");
});

test("a command that cannot reach its database says so in one line with what mends it", async () => {
  for (
    const url of [
      "postgres://engine:hunter2@127.0.0.1:9/engine",
      "postgres://engine:hunter2@no-such-host.invalid/engine",
    ]
  ) {
    const lines: string[] = [];
    const say = (line: string) => lines.push(line);
    const env = { ENVIRONMENT: "staging", DATABASE_URL: url };
    assertEquals(await admin(["bootstrap"], env, { log: say, error: say }), 1);
    assertEquals(lines.length, 1);
    assertMatch(lines[0] ?? "", /^Cannot use the database: [^\n]+deno task admin doctor$/);
    assertEquals(lines[0]?.includes("hunter2"), false);
  }
});
