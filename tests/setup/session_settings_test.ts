import { assert, assertEquals } from "@std/assert";
import {
  judgeSession,
  LOOKING_UP,
  PINNED,
  preparation,
} from "../../ledger/database/session_settings.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Settings made for other programs by an administrator, each harmful to the engine's statements. */
const HOSTILE: Readonly<Record<string, string>> = {
  jit: "on",
  jit_above_cost: "0",
  synchronous_commit: "off",
  search_path: "elsewhere",
  standard_conforming_strings: "off",
  array_nulls: "off",
  transform_null_equals: "on",
  bytea_output: "escape",
  "DateStyle": "German, DMY",
  "IntervalStyle": "iso_8601",
  "TimeZone": "Asia/Kathmandu",
  lc_numeric: "C",
  row_security: "on",
  default_transaction_isolation: "serializable",
  statement_timeout: "1ms",
  lock_timeout: "1ms",
  idle_in_transaction_session_timeout: "1ms",
  idle_session_timeout: "1ms",
  transaction_timeout: "1s",
  enable_indexscan: "off",
  enable_indexonlyscan: "off",
  enable_bitmapscan: "off",
  enable_nestloop: "off",
  plan_cache_mode: "force_custom_plan",
  random_page_cost: "1000",
  work_mem: "64kB",
};

test("no default of a role or a database changes a session", async () => {
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase();
  const admin = database.connect({ max: 1 });
  const url = new URL(database.url);
  const role = `role_${crypto.randomUUID().replaceAll("-", "")}`;
  const name = url.pathname.slice(1);
  await admin.unsafe(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'secret'`);
  try {
    const settings = Object.entries(HOSTILE);
    for (const [index, [setting, value]] of settings.entries()) {
      const whose = index % 2 === 0 ? `ROLE ${role}` : `DATABASE ${name}`;
      await admin.unsafe(`ALTER ${whose} SET ${setting} = '${value}'`);
    }
    url.username = role;
    url.password = "secret";
    const { connect } = await import("../../ledger/database/connect.ts");
    for (const looksUpOnly of [false, true]) {
      const sql = connect(url.href, { max: 1, statementTimeoutMs: 0, looksUpOnly });
      const rows = await sql<{ name: string; setting: string; source: string }[]>`
        SELECT name, current_setting(name) AS setting, source FROM pg_settings`;
      const now = new Map(rows.map((row) => [row.name.toLowerCase(), row]));
      for (const setting of Object.keys(HOSTILE)) {
        const row = now.get(setting.toLowerCase());
        if (setting === "jit_above_cost") continue;
        assert(
          row?.source === "client" || row?.source === "session",
          `${setting} comes from ${row?.source}`,
        );
      }
      assertEquals(
        ["jit", "synchronous_commit", "statement_timeout", "transaction_timeout", "search_path"]
          .map((one) => now.get(one)?.setting),
        ["off", "on", "0", "0", "public"],
      );
      assertEquals(now.get("enable_seqscan")?.setting, looksUpOnly ? "off" : "on");
      await sql.end();
    }
    await withdrawOnce(url.href);
  } finally {
    await admin`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${role}`;
    await admin.unsafe(`REASSIGN OWNED BY ${role} TO CURRENT_USER`);
    await admin.unsafe(`DROP ROLE ${role}`);
  }
});

test("a pooler that leaves the startup options out changes no session either", async () => {
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase({ migrated: false });
  const admin = database.connect({ max: 1 });
  const name = new URL(database.url).pathname.slice(1);
  // those that would end the session before its first statement are for a pooler's own settings
  const settings = Object.entries(HOSTILE).filter(([setting]) => !setting.includes("_timeout"));
  for (const [setting, value] of settings) {
    await admin.unsafe(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  }
  await using pooler = openPooler(database.url);
  const { connect } = await import("../../ledger/database/connect.ts");
  for (const looksUpOnly of [false, true]) {
    const sql = connect(pooler.url, { max: 1, looksUpOnly, statementTimeoutMs: 7_000 });
    const now = new Map(
      (await sql<{ name: string; setting: string }[]>`
        SELECT lower(name) AS name, current_setting(name) AS setting FROM pg_settings`)
        .map(({ name, setting }) => [name, setting]),
    );
    const wanted = { ...PINNED, ...(looksUpOnly ? LOOKING_UP : {}), statement_timeout: "7s" };
    const wrong = Object.entries(wanted).filter(([setting, value]) => {
      const found = now.get(setting.toLowerCase());
      // a time is shown with its unit
      return found !== value && !found?.startsWith(value) && found !== "1min";
    });
    assertEquals(wrong, []);
    assertEquals(now.get("synchronous_commit"), "on");
    await sql.end();
  }
  assert(pooler.leftOut > 0, "no options were sent, so that none were left out");
});

test("a server's connection that has used temporary tables can be set up again", async () => {
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase({ migrated: false });
  const pooled = database.connect({ max: 1 });
  // the size of their buffers can be set no more from here on, and the service has no such tables
  await pooled.unsafe(
    "SET temp_buffers = '16MB'; CREATE TEMPORARY TABLE used (id int); INSERT INTO used VALUES (1)",
  );
  await pooled.unsafe(preparation(PINNED));
});

/** A pooler in front of a server that forwards everything but the startup parameter `options`. */
function openPooler(
  serverUrl: string,
): AsyncDisposable & { readonly url: string; readonly leftOut: number } {
  const { hostname, port } = new URL(serverUrl);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let leftOut = 0;
  const serve = async (client: Deno.TcpConn) => {
    const server = await Deno.connect({ hostname, port: Number(port) });
    const buffer = new Uint8Array(65_536);
    const length = await client.read(buffer) ?? 0;
    const texts = new TextDecoder().decode(buffer.subarray(8, length)).split("\0");
    const at = texts.indexOf("options");
    if (at >= 0) leftOut += texts.splice(at, 2).length;
    const body = new TextEncoder().encode(texts.join("\0"));
    const message = new Uint8Array(8 + body.length);
    message.set(buffer.subarray(4, 8), 4);
    message.set(body, 8);
    new DataView(message.buffer).setUint32(0, message.length);
    const writer = server.writable.getWriter();
    await writer.write(message);
    writer.releaseLock();
    await Promise.allSettled([
      client.readable.pipeTo(server.writable),
      server.readable.pipeTo(client.writable),
    ]);
  };
  const serving: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const client of listener) serving.push(serve(client));
  })();
  return {
    url: Object.assign(new URL(serverUrl), { host: `127.0.0.1:${listener.addr.port}` }).href,
    get leftOut() {
      return leftOut;
    },
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
      await Promise.all(serving);
    },
  };
}

/** Funds an account and withdraws from it, through the journal. */
async function withdrawOnce(url: string): Promise<void> {
  const { connect } = await import("../../ledger/database/connect.ts");
  const { addMerchant, booksFaults, fund, openJournal, reserveCommand } = await import(
    "../support/books.ts"
  );
  const sql = connect(url, { max: 4, looksUpOnly: true });
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const answer = await journal.ask(merchantId, reserveCommand(), 10_000);
  assertEquals(answer.kind, "done");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
  await sql.end();
}

test("a commit is never weaker than on, and what is stronger stays", async () => {
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase({ migrated: false });
  const admin = database.connect({ max: 1 });
  const name = new URL(database.url).pathname.slice(1);
  for (
    const [given, wanted] of [
      ["off", "on"],
      ["local", "on"],
      ["remote_write", "on"],
      ["on", "on"],
      ["remote_apply", "remote_apply"],
    ]
  ) {
    await admin.unsafe(`ALTER DATABASE ${name} SET synchronous_commit = '${given}'`);
    const sql = database.connect({ max: 1 });
    const [row] = await sql<{ synchronous_commit: string }[]>`SHOW synchronous_commit`;
    assertEquals([given, row?.synchronous_commit], [given, wanted]);
    await sql.end();
  }
});

test("every pinned setting is one that each role may set", async () => {
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase({ migrated: false });
  const names = Object.keys(PINNED).map((name) => name.toLowerCase());
  const rows = await database.sql<{ name: string; context: string }[]>`
    SELECT lower(name) AS name, context FROM pg_settings WHERE lower(name) = ANY (${names}::text[])`;
  assertEquals(rows.filter(({ context }) => context !== "user"), []);
  assertEquals(rows.length, names.length);
});

const SAFE = "recovery=false,read_only=off,fsync=on,full_page_writes=on,zero_damaged_pages=off," +
  "ignore_checksum_failure=off,session_replication_role=origin,commit=on";

Deno.test("a server that may lose what it acknowledged is refused by the setting's name", () => {
  const needs = { primary: true, writes: true, durable: true };
  assertEquals(judgeSession(SAFE, needs), null);
  for (
    const [setting, wrong] of [
      ["fsync", "off"],
      ["full_page_writes", "off"],
      ["zero_damaged_pages", "on"],
      ["ignore_checksum_failure", "on"],
      ["session_replication_role", "replica"],
    ] as const
  ) {
    const answer = SAFE.replace(new RegExp(`${setting}=\\w+`), `${setting}=${wrong}`);
    const refusal = judgeSession(answer, needs);
    assert(refusal?.message.includes(`${setting} is not`), String(refusal));
    assertEquals(judgeSession(answer, { ...needs, durable: false }), null);
  }
});

Deno.test("a server in recovery, or one that takes no writes, is no primary", () => {
  const needs = { primary: true, writes: true, durable: false };
  const [standby, readOnly] = [
    SAFE.replace("recovery=false", "recovery=true"),
    SAFE.replace("read_only=off", "read_only=on"),
  ];
  assert(judgeSession(standby, needs)?.message.includes("is a standby"));
  assert(judgeSession(readOnly, needs)?.message.includes("takes no writes"));
  // a role that may only read cannot tell, and needs the newest all the same
  assertEquals(judgeSession(readOnly, { ...needs, writes: false }), null);
  assert(judgeSession(standby, { ...needs, writes: false })?.message.includes("is a standby"));
  assertEquals(judgeSession(standby, { ...needs, primary: false, writes: false }), null);
});
