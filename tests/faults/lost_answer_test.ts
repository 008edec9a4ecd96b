import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Sql } from "../../ledger/database/connect.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A write of an administrator outside the journal, and how its effect is seen. */
interface Row {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  /** Answers something else once it was stored. */
  readonly seen: (sql: Sql) => Promise<unknown>;
}

const count = (table: string) => async (sql: Sql) =>
  (await sql.unsafe<{ n: string }[]>(`SELECT count(*) AS n FROM ${table}`))[0]?.n;

/** Every kind of write outside the journal: single statements and transactions. */
function rowsFor(merchantId: string, keyId: string): readonly Row[] {
  const keys = `/api/merchants/${merchantId}/api-keys`;
  const key = { label: "till", permissions: ["read"] };
  return [
    {
      method: "POST",
      path: "/api/admin/withdrawal-fees",
      body: { baseFee: "7" },
      seen: async (sql) => (await sql`SELECT base_fee FROM book.setting`)[0]?.["base_fee"],
    },
    {
      method: "PUT",
      path: "/api/admin/settings",
      body: { settlementThresholds: { USDT: "77", USDC: "77" } },
      seen: async (sql) => JSON.stringify(await sql`SELECT * FROM book.settlement_threshold`),
    },
    {
      method: "PUT",
      path: "/api/admin/pairs",
      body: { currency: "USDT", network: "TRX", minWithdrawal: "3" },
      seen: async (sql) => JSON.stringify(await sql`SELECT * FROM book.pair ORDER BY 1, 2`),
    },
    {
      method: "POST",
      path: "/api/admin/merchants",
      body: { name: "Once" },
      seen: count("book.merchant"),
    },
    { method: "POST", path: keys, body: key, seen: count("hub.api_key") },
    {
      method: "POST",
      path: `${keys}/${keyId}/rotate`,
      body: { overlapHours: 1 },
      seen: count("hub.api_key"),
    },
    {
      method: "DELETE",
      path: `${keys}/${keyId}`,
      seen: async (sql) =>
        (await sql`SELECT revoked_at FROM hub.api_key WHERE id = ${keyId}`)[0]?.["revoked_at"],
    },
  ];
}

test("a write whose answer was lost is not told as undone, and one that was never sent is", async () => {
  const { newId } = await import("../../actors/runtime/ids.ts");
  const { hashApiKey, mintApiKey } = await import("../../api/http/key_ring.ts");
  const { connect } = await import("../../ledger/database/connect.ts");
  const { testApi } = await import("../support/api.ts");
  const { addMerchant } = await import("../support/books.ts");
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase();
  const direct = database.sql;
  await using proxy = openForgetfulProxy(database.url);
  const sql = connect(proxy.url, { max: 1 });
  await using api = await testApi({ sql });
  const addKey = async (merchantId: string | null, role: string, permissions: string[]) => {
    const [id, key] = [newId("key"), mintApiKey("development")];
    await direct`
      INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
      VALUES (${id}, ${
      Buffer.from(hashApiKey(key), "hex")
    }, ${merchantId}, ${role}, ${permissions}, 'test', now())`;
    return { id, key };
  };
  const merchantId = await addMerchant(direct);
  const { key } = await addKey(null, "ADMIN", ["read", "write", "admin:read", "admin:write"]);
  const { id: keyId } = await addKey(merchantId, "MERCHANT", ["read"]);
  // the administrator's key is known from now on
  assertEquals((await api.call("GET", "/api/admin/pairs", { key })).status, 200);
  const unexpected: unknown[] = [];
  for (const { method, path, body, seen } of rowsFor(merchantId, keyId)) {
    const before = await seen(direct);
    // nothing was sent: no connection could be made
    proxy.refuse(true);
    const refused = await api.call(method, path, { key, body });
    proxy.refuse(false);
    const untouched = await seen(direct);
    if (refused.status !== 503 || untouched !== before || !refused.headers.get("retry-after")) {
      unexpected.push([method, path, "refused", refused.status, refused.body]);
    }
    // the request was committed, and its answer is lost
    proxy.forget(true);
    const lost = await api.call(method, path, { key, body });
    proxy.forget(false);
    const stored = (await seen(direct)) !== before;
    if (lost.status !== 500 || lost.body.error !== "Outcome unknown" || !stored) {
      unexpected.push([method, path, "lost", lost.status, lost.body, stored]);
    }
  }
  assertEquals(unexpected, []);

  await sql.end({ timeout: 1 });
});

/** Passes bytes, and can lose the answer to a write, or refuse connections. */
function openForgetfulProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const pairs = new Set<readonly [Deno.Conn, Deno.Conn]>();
  let [forgets, refuses] = [false, false];
  const close = (pair: readonly [Deno.Conn, Deno.Conn]) => {
    if (pairs.delete(pair)) { for (const end of pair) end.close(); }
  };
  const pipes: Promise<unknown>[] = [];
  const accept = async () => {
    for await (const client of listener) {
      if (refuses) {
        client.close();
        continue;
      }
      const server = await Deno.connect({ hostname: target.hostname, port: Number(target.port) });
      const pair = [client, server] as const;
      pairs.add(pair);
      let isWrite = false;
      const pass = async (from: Deno.Conn, to: Deno.Conn, isUp: boolean) => {
        const buffer = new Uint8Array(65_536);
        try {
          for (;;) {
            const length = await from.read(buffer);
            if (length === null) break;
            const text = new TextDecoder("latin1").decode(buffer.subarray(0, length));
            if (isUp) isWrite ||= forgets && WRITE.test(text);
            else if (isWrite && text.endsWith(COMMITTED)) break;
            const bytes = buffer.subarray(0, length);
            let sent = 0;
            while (sent < length) sent += await to.write(bytes.subarray(sent));
          }
        } catch {
          // closed
        }
        close(pair);
      };
      pipes.push(pass(client, server, true), pass(server, client, false));
    }
  };
  const accepting = accept();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${listener.addr.port}`;
  return {
    url: url.href,
    refuse: (on: boolean) => {
      refuses = on;
      if (on) { for (const pair of pairs) close(pair); }
    },
    forget: (on: boolean) => forgets = on,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
      for (const pair of pairs) close(pair);
      await Promise.all(pipes);
    },
  };
}

const WRITE = /insert into|update (book|hub)|delete from|(book|hub)\.\w+\s*\(/i;
/** ReadyForQuery, outside a transaction (PostgreSQL manual, chapter "Message Formats"). */
const COMMITTED = "Z\0\0\0\x05I";
