import { assertEquals } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a standby has what its primary acknowledged, and takes writes when it is promoted", async () => {
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { startStandby } = await import("../support/standby.ts");
  await using primary = await privateCluster({ migrated: false });
  const sql = primary.connect({ max: 1 });
  await sql`CREATE TABLE kept (n int)`;
  await using standby = await startStandby(primary, { synchronous: true });
  await sql`INSERT INTO kept VALUES (1)`;
  await standby.stop();
  await standby.start();
  await sql`INSERT INTO kept VALUES (2)`;
  await primary.kill9();
  await standby.promote();
  const promoted = standby.connect({ max: 1 });
  await promoted`INSERT INTO kept VALUES (3)`;
  const rows = await promoted<{ n: number }[]>`SELECT n FROM kept ORDER BY n`;
  assertEquals(rows.map(({ n }) => n), [1, 2, 3]);
});
