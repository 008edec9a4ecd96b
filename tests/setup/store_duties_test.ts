import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { storeDuties } from "../../ledger/duties.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import { testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { DATABASE, needs, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Bound of one start on a busy machine. */
const START_MS = 120_000;
/** Those of a new database, and of a service in development. */
const FIRST: Duties = { fourEyes: "keys", aloneUpTo: amountOf("100000") };
const OTHERS: Duties = { fourEyes: "persons", aloneUpTo: amountOf("10000") };

/** Locks the duties as a confirmation by hand does until its commit is answered. */
const asConfirmation = (tx: Sql) => tx`SELECT FROM book.duty FOR NO KEY UPDATE`;

test("the same duties are kept beside a transaction that holds them, others are not", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const letGo = await holdRows(database, asConfirmation);
  try {
    assertEquals(await storeDuties(sql, FIRST, "aud_first"), "stored");
    assertEquals(await storeDuties(sql, OTHERS, "aud_others"), "locked");
  } finally {
    await letGo();
  }
  const letGoOfHead = await holdRows(database, (tx) => tx`SELECT FROM hub.audit_head FOR UPDATE`);
  try {
    assertEquals(await storeDuties(sql, OTHERS, "aud_head"), "locked");
  } finally {
    await letGoOfHead();
  }
  const rules = () => sql`SELECT four_eyes, trim_scale(alone_up_to)::text AS above FROM book.duty`;
  assertEquals([...await rules()], [{ four_eyes: "keys", above: "100000" }]);
  assertEquals(await storeDuties(sql, OTHERS, "aud_changed"), "stored");
  assertEquals([...await rules()], [{ four_eyes: "persons", above: "10000" }]);
  const lines = await sql`SELECT id FROM hub.audit WHERE action = 'duties.set'`;
  assertEquals(lines.map(({ id }) => id), ["aud_changed"]);
});

Deno.test({
  name:
    "a service starts beside a held row of the duties, and ends with one sentence where it has others",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async () => {
    await using database = await testDatabase();
    const folder = await Deno.makeTempDir();
    const start = (env: Readonly<Record<string, string>>) =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-prompt", "--allow-all", "--no-check", "main.ts"],
        cwd: ROOT,
        env: {
          DATA_DIR: `${folder}/data`,
          DATABASE_URL: database.url,
          PORT: "0",
          NO_COLOR: "1",
          ...env,
        },
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    const letGo = await holdRows(database, asConfirmation);
    try {
      const same = start({});
      const errors = new Response(same.stderr).text();
      // one that never serves ends the test with what it printed
      const bound = setTimeout(() => same.kill("SIGKILL"), START_MS);
      let printed = "";
      let isServing = false;
      for await (const text of same.stdout.pipeThrough(new TextDecoderStream())) {
        printed += text;
        if (isServing || !printed.includes("serving on")) continue;
        isServing = true;
        same.kill("SIGTERM");
      }
      const { code } = await same.status;
      clearTimeout(bound);
      assertEquals([code, isServing], [0, true], printed + await errors);

      const other = await start({ FOUR_EYES: "persons" }).output();
      const lines = new TextDecoder().decode(other.stderr).trim().split("\n");
      assertEquals([other.code, lines.length], [2, 1], lines.join("\n"));
      assertStringIncludes(lines[0] ?? "", "Cannot start as another transaction holds the duties");
    } finally {
      await letGo();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
