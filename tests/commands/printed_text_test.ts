import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { testApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const GUIDE = new URL("../../docs/operations.md", import.meta.url);

/** Text of a task of the operator's guide, up to the next heading of its rank or a higher one. */
async function taskOf(heading: string): Promise<string> {
  const text = await Deno.readTextFile(GUIDE);
  const [, rest = ""] = text.split(`\n${heading}\n`);
  const [task = ""] = rest.split(new RegExp(`\\n#{1,${heading.indexOf(" ")}} `));
  assert(task !== "", heading);
  return task;
}

/** The first block of code of a text, in the given language. */
function blockOf(text: string, language: string): string {
  const [, block = ""] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text) ?? [];
  return block;
}

test("before a restore a session of the service is found whatever its role is called", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [here] = await sql<{ name: string }[]>`SELECT current_database() AS name`;
  const query = blockOf(await taskOf("## After the restore of an older copy"), "sql")
    .replaceAll("'engine'", `'${here?.name}'`);
  const own = database.connect({ max: 1 });
  const service = database.connect({ max: 1, applicationName: "a service" });
  await own`SELECT 1`;
  await service`SELECT 1`;
  const isFound = async () => {
    const found = await own.unsafe<{ application_name: string }[]>(query);
    return found.some((row) => row.application_name === "a service");
  };
  assert(await isFound(), query);
  // a role that may not look into other roles' sessions is not shown what they are
  await own`SET ROLE pg_signal_backend`;
  assert(await isFound(), query);
  await own`RESET ROLE`;
  await service.end({ timeout: 5 });
  await sql.end({ timeout: 5 });
  assertEquals((await own.unsafe(query)).length, 0, "one's own is none");
});

test("the printed deposit by hand of what a restore has forgotten is accepted once its transaction is named", async () => {
  await using api = await testApi();
  const { key } = await api.addMerchant();
  const text = blockOf(await taskOf("### Payments to forgotten addresses"), "sh");
  const [, printed = ""] = /-d '(\{[\s\S]*\})'/.exec(text) ?? [];
  assert(printed.includes("<txid>"), printed);
  const named = printed.replace("<txid>", "4f0c8d27".repeat(8));
  const body = z.record(z.string(), z.unknown()).parse(JSON.parse(named));
  const answer = await api.call("POST", "/api/deposits", { key, body });
  assertEquals(answer.status, 201, JSON.stringify(answer.body));
});
