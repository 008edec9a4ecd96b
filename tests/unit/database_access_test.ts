import { assertEquals } from "@std/assert";
import { type DatabaseAccess, databaseAccess } from "../../ledger/database/database_url.ts";

const CASES: Readonly<Record<string, Partial<DatabaseAccess>>> = {
  "postgres://signer:secret@10.0.0.1:5433/engine": { hosts: ["10.0.0.1:5433"] },
  "postgresql://signer@db.internal/engine?sslmode=require": { hosts: ["db.internal:5432"] },
  "postgres://u:p@a:6432,b,c:7/engine": { hosts: ["a:6432", "b:5432", "c:7"] },
  "postgres://u:p%40ss@[::1]:5432/engine": { hosts: ["[::1]:5432"] },
  "postgres://localhost": { hosts: ["localhost:5432"] },
  "postgres://u@%2Frun%2Fpostgresql:5433/engine": {
    sockets: ["/run/postgresql/.s.PGSQL.5433"],
  },
  "postgres://u:p@db/engine?sslmode=verify-full&sslrootcert=/etc/engine/ca.pem": {
    hosts: ["db:5432"],
    files: ["/etc/engine/ca.pem"],
  },
  "postgres://u:p@db/engine?sslmode=verify-full&sslrootcert=system": { hosts: ["db:5432"] },
};
for (const [url, expected] of Object.entries(CASES)) {
  Deno.test(`a process may reach its database and nothing else: ${url}`, () => {
    assertEquals(databaseAccess(url), { hosts: [], sockets: [], files: [], ...expected });
  });
}

Deno.test("what is no connection string of PostgreSQL needs nothing", () => {
  for (const url of ["nonsense:secret", ""]) assertEquals(databaseAccess(url), null);
});
