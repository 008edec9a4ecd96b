import { assert, assertEquals, assertRejects } from "@std/assert";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a database that cannot be used is 503, with a reason that says why", async () => {
  const { connect } = await import("../../ledger/database/connect.ts");
  const { testApi } = await import("../support/api.ts");
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { hasOpenssl, serveTls } = await import("../support/server_certificate.ts");
  await using cluster = await privateCluster({
    migrated: false,
    settings: { max_connections: 12, superuser_reserved_connections: 0, reserved_connections: 0 },
  });
  const changed = (change: (url: URL) => void) => {
    const url = new URL(cluster.url);
    change(url);
    return url.href;
  };
  const withQuery = (query: string) => `${cluster.url}?${query}`;
  const cases: { readonly url: string; readonly says: string }[] = [
    { url: "postgres://u:p@127.0.0.1:1/db", says: "ECONNREFUSED" },
    { url: changed((url) => url.password = "wrong"), says: "password authentication failed" },
    { url: changed((url) => url.pathname = "/nowhere"), says: "does not exist" },
    { url: withQuery("sslmode=require"), says: "does not speak TLS" },
  ];
  const openAndClose = async () => {
    for (const { url, says } of cases) {
      const sql = connect(url, { max: 1 });
      await using api = await testApi({ sql });
      const answer = await api.call("GET", "/api/balance", { key: await api.addKey(null) });
      assertEquals([says, answer.status], [says, 503], JSON.stringify(answer.body));
      assert(answer.headers.get("retry-after") !== null);
      const error = await assertRejects(() => sql`SELECT 1`, Error);
      assertEquals([says, classifyDatabaseError(error)], [says, "connection"]);
      assert(error.message.includes(says), `${error.message} does not say: ${says}`);
      await sql.end({ timeout: 0 });
    }
  };
  await openAndClose();
  if (await hasOpenssl()) {
    const certificate = await serveTls(cluster, { name: "elsewhere.example" });
    const copy = await Deno.makeTempFile();
    await Deno.copyFile(certificate, copy);
    cases.splice(0, cases.length, {
      // signed by itself
      url: withQuery("sslmode=verify-full"),
      says: "TLS was not agreed on",
    }, {
      url: withQuery("sslmode=verify-ca"),
      says: "TLS was not agreed on",
    }, {
      // trusted, and of another name
      url: withQuery(`sslmode=verify-full&sslrootcert=${encodeURIComponent(copy)}`),
      says: "TLS was not agreed on",
    });
    await openAndClose();
    const trusted = connect(
      withQuery(`sslmode=verify-ca&sslrootcert=${encodeURIComponent(copy)}`),
      { max: 1 },
    );
    const [row] = await trusted<{ ssl: boolean }[]>`
      SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
    assertEquals(row?.ssl, true, "verify-ca takes any name that a trusted authority signed");
    await trusted.end();
    await Deno.remove(copy);
  }
  // no connection is left
  // more than there are: one that is refused must leave no place free
  const admin = cluster.connect({ max: 1 });
  await admin`SELECT 1`;
  const many = connect(cluster.url, { max: 24 });
  const held = Array.from({ length: 24 }, () => many`SELECT pg_sleep(600)`.catch(() => {}));
  let said = "";
  const end = performance.now() + 120_000;
  while (said === "" && performance.now() < end) {
    const one = connect(cluster.url, { max: 1 });
    await one`SELECT 1`.catch((error) => {
      assertEquals(classifyDatabaseError(error), "connection");
      said = error.message;
    });
    await one.end({ timeout: 0 });
  }
  assert(/too many clients|remaining connection slots/.test(said), said);
  await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%'
    AND pid <> pg_backend_pid()`;
  await many.end({ timeout: 1 });
  await Promise.all(held);
});

Deno.test("an error of a name, a certificate or a start is one of the connection", () => {
  const codes = ["ENOTFOUND", "ECONNREFUSED", "EHOSTUNREACH", "TLS_REFUSED", "NOT_WRITABLE"];
  for (const code of [...codes, "SASL_SIGNATURE_MISMATCH", "UNSAFE_SERVER", "SERVER_SILENT"]) {
    const error = Object.assign(new Error("no"), { code });
    assertEquals([code, classifyDatabaseError(error)], [code, "connection"]);
  }
});
