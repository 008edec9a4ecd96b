import { assert, assertEquals } from "@std/assert";
import { testNeedingDebianPostgres } from "../support/debian_postgres.ts";

const test = testNeedingDebianPostgres();

test("a failover of Debian's PostgreSQL with its default settings that loses commits pays nothing twice", async () => {
  const { lossyFailover } = await import("./support/lossy_failover.ts");
  const came = await lossyFailover(8, "debian");
  assertEquals(came.faults, []);
  assert(came.lost > 0, "nothing was lost, so that nothing was tried");
});
