import { assert, assertEquals } from "@std/assert";
import { parseDatabaseUrl } from "../../ledger/database/database_url.ts";

function parse(text: string) {
  const parsed = parseDatabaseUrl(text);
  assert(parsed.ok, parsed.ok ? "" : parsed.fault);
  return parsed.database;
}

Deno.test("a connection string may name several hosts", () => {
  const { hosts, writable, url } = parse(
    "postgres://u:p%40w@h1:5433,[::1],h3/db?target_session_attrs=read-write&sslmode=require",
  );
  assertEquals(hosts, [
    { host: "h1", port: 5433 },
    { host: "::1", port: 5432 },
    { host: "h3", port: 5432 },
  ]);
  assertEquals(writable, true);
  // the driver is given neither the hosts nor what it would take for settings of the server
  assertEquals(url, "postgres://u:p%40w@host.invalid/db");
});

Deno.test("of several hosts only a primary will do, of one any server", () => {
  assertEquals(parse("postgres://h1,h2/db").writable, true);
  assertEquals(parse("postgres://h1/db").writable, false);
  assertEquals(parse("postgres://h1/db?target_session_attrs=primary").writable, true);
  assertEquals(parse("postgresql://h1/db?target_session_attrs=any").writable, false);
});

Deno.test("a folder of a Unix socket and other parameters are kept", () => {
  const { hosts, url } = parse("postgres://u@%2Frun%2Fpostgresql:5433/db?options=-c%20jit%3Don");
  assertEquals(hosts, [{ host: "/run/postgresql", port: 5433 }]);
  assertEquals(url.includes("options="), true);
});

Deno.test("TLS is named as by libpq, and a list of trusted certificates is checked against", () => {
  const modeOf = (query: string) => parse(`postgres://h/db${query}`).tls.mode;
  assertEquals(
    ["", "?sslmode=disable", "?sslmode=allow", "?sslmode=prefer", "?sslmode=require"].map(modeOf),
    ["disable", "disable", "prefer", "prefer", "require"],
  );
  assertEquals(
    ["?sslmode=verify-ca", "?sslmode=verify-full", "?sslrootcert=/ca.pem", "?ssl=true"].map(modeOf),
    ["verify-ca", "verify-full", "verify-full", "verify-full"],
  );
  assertEquals(parse("postgres://h/db?sslrootcert=/ca.pem").tls.rootCertificates, "/ca.pem");
});

Deno.test("what is wrong with a connection string is said without its text", () => {
  const faults = [
    "mysql://h/db",
    "postgres://h:port/db",
    "postgres://h1:5432,h2:99999/db",
    "postgres://h/db?target_session_attrs=standby",
    "postgres://h1,h2/db?target_session_attrs=any",
    "postgres://h/db?sslmode=no-verify",
    "postgres://%zz/db",
  ].map(parseDatabaseUrl);
  for (const found of faults) {
    assertEquals(found.ok, false);
    if (!found.ok) assert(!/99999|no-verify|%zz|mysql/.test(found.fault), found.fault);
  }
});
