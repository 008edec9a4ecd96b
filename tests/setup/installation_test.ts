import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../app/open/open_database.ts";
import { admin } from "../../app/commands/admin.ts";
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
