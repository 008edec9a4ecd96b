import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sql } from "../../ledger/database/connect.ts";
import { testDatabase } from "../support/database.ts";
import { needs } from "../support/permissions.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });
/** Bound of one command on a busy machine. */
const COMMAND_MS = 120_000;

const NEWER =
  "a newer version of the service made it: migration 9999_later.sql; start that version";
const CHANGED = "a migration has changed since it was applied: 0001_settings.sql; put the files of";

const asNewer = (sql: Sql) =>
  sql`INSERT INTO hub.migration (number, name, checksum) VALUES ('9999', '9999_later.sql', 'later')`;
const asChanged = (sql: Sql) =>
  sql`UPDATE hub.migration SET checksum = 'other' WHERE number = '0001'`;

/** Runs a program of the repository; what it complained of, and its exit code. */
async function run(line: readonly string[], env: Readonly<Record<string, string>>) {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", "--no-check", ...line],
    cwd: ROOT,
    env: { PORT: "0", NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    signal: AbortSignal.timeout(COMMAND_MS),
  }).output();
  return { code, printed: new TextDecoder().decode(stderr) };
}

/** Checks that a program refuses in one plain line: service and reconciliation with 2, other commands with 1. */
async function assertRefused(
  line: readonly string[],
  env: Readonly<Record<string, string>>,
  words: string,
): Promise<void> {
  const { code, printed } = await run(line, env);
  assertStringIncludes(printed, words);
  const isApart = ["main.ts", "app/commands/reconcile.ts"].includes(line[0] ?? "");
  const expected = [isApart ? 2 : 1, 1];
  assertEquals([code, printed.trim().split("\n").length], expected, printed);
}

Deno.test({
  name: "the service and its commands refuse a database of other migrations in one line each",
  ignore,
  fn: async () => {
    await using database = await testDatabase({ unused: true });
    const folder = await Deno.makeTempDir();
    const env = { DATA_DIR: `${folder}/data`, DATABASE_URL: database.url };
    const [owner] = await database.sql<{ name: string }[]>`SELECT current_user AS name`;
    const programs: readonly (readonly string[])[] = [
      ["main.ts"],
      ["app/commands/reconcile.ts"],
      ["app/commands/admin.ts", "audit", "verify"],
      ["app/commands/signer.ts", "role", owner?.name ?? ""],
      ["app/commands/wallet.ts", "unclaimed"],
    ];
    const refusals = async (words: string) => {
      for (const line of programs) await assertRefused(line, env, words);
      const first = { ...env, ENVIRONMENT: "staging" };
      await assertRefused(["app/commands/admin.ts", "bootstrap"], first, words);
    };
    try {
      await asNewer(database.sql);
      await refusals(NEWER);
      await database.sql`DELETE FROM hub.migration WHERE number = '9999'`;
      await asChanged(database.sql);
      await refusals(CHANGED);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "commands refuse an older database, which the start of the service brings up to date",
  ignore,
  fn: async () => {
    await using database = await testDatabase({ migrated: false });
    const folder = await Deno.makeTempDir();
    const env = { DATA_DIR: folder, DATABASE_URL: database.url };
    try {
      const missing = "; the start of this version of the service applies them";
      await assertRefused(["app/commands/reconcile.ts"], env, missing);
      await assertRefused(["app/commands/admin.ts", "audit", "verify"], env, missing);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "a data folder of another version is refused in one line, and no server of it runs on",
  ignore,
  fn: async () => {
    const { withService } = await import("../support/service.ts");
    await withService(async (service) => {
      await service.start();
      await asNewer(service.sql);
      service.signal("SIGTERM");
      await service.ended;
      const { dataDir } = service;
      const assertNoServer = async () => {
        const names = await Array.fromAsync(Deno.readDir(join(dataDir, "postgres")));
        assertEquals(names.filter(({ name }) => name === "postmaster.pid"), []);
      };
      await assertNoServer();
      const env = { DATA_DIR: dataDir };
      await assertRefused(["main.ts"], env, NEWER);
      await assertNoServer();
      await assertRefused(["app/commands/reconcile.ts"], env, NEWER);
      await assertNoServer();

      const credentials = join(dataDir, "dev-credentials.json");
      const kept = await Deno.readTextFile(credentials);
      await Deno.writeTextFile(credentials, "{}");
      const others =
        "dev-credentials.json as it is not what this version writes; start the version";
      await assertRefused(["app/commands/admin.ts", "pairs"], env, others);
      await Deno.writeTextFile(credentials, kept);

      const version = join(dataDir, "postgres", "PG_VERSION");
      await Deno.writeTextFile(version, "17\n");
      try {
        const major = "another major version of PostgreSQL made it: 17; start the version";
        await assertRefused(["main.ts"], env, major);
        await assertRefused(["app/commands/reconcile.ts"], env, major);
      } finally {
        await Deno.writeTextFile(version, "18\n");
      }
    });
  },
});
