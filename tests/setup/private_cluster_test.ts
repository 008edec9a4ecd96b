import { assertEquals, assertNotEquals } from "@std/assert";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import { DATABASE, needs } from "../support/permissions.ts";
import { privateCluster } from "../support/private_cluster.ts";

const ignore = needs(DATABASE);

Deno.test({
  name: "a pool is used again after the server was killed and has returned",
  ignore,
  fn: async () => {
    await using cluster = await privateCluster({ migrated: false });
    const sql = cluster.connect({ max: 2 });
    await sql`CREATE TABLE kept AS SELECT 1 AS n`;
    const before = cluster.pid;
    await cluster.kill9();
    assertEquals(await sql`SELECT 1`.then(() => "answered", classifyDatabaseError), "connection");
    await cluster.restart();
    assertNotEquals(cluster.pid, before);
    // The pool's pause before it connects again must not have grown meanwhile.
    const rows = await Promise.race([
      sql`SELECT n FROM kept`,
      new Promise<null>((done) => AbortSignal.timeout(15_000).onabort = () => done(null)),
    ]);
    assertEquals(rows?.map((row) => row.n), [1]);
  },
});
