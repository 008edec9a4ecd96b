import { assertEquals, assertNotEquals } from "@std/assert";
import { privateCluster } from "../support/private_cluster.ts";
import { classifyDatabaseError } from "../../ledger/database/classify_database_error.ts";

Deno.test("a pool is used again after the server was killed and returned", async () => {
  await using cluster = await privateCluster();
  const sql = cluster.connect({ max: 2 });
  await sql`CREATE TABLE kept (n int)`;
  await sql`INSERT INTO kept VALUES (1)`;
  const before = cluster.pid;
  await cluster.kill9();
  const lost = await sql`SELECT 1`.then(() => "answered", classifyDatabaseError);
  assertEquals(lost, "connection");
  const t = performance.now();
  await cluster.restart();
  console.log("restart", performance.now() - t);
  const rows = await sql`SELECT n FROM kept`;
  console.log("use", performance.now() - t);
  assertEquals(rows.map((row) => row.n), [1]);
  assertNotEquals(cluster.pid, before);
});
