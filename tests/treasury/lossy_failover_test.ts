import { assert, assertEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";

Deno.test({
  name:
    "a failover that loses commits pays nothing twice, hands no address out twice, and tells what was lost",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async () => {
    const { lossyFailover } = await import("./support/lossy_failover.ts");
    const came = await lossyFailover(7);
    assertEquals(came.faults, []);
    assert(came.lost > 0, "nothing was lost, so that nothing was tried");
  },
});
