import { assert, assertEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";

Deno.test({
  name: "hostile requests of every kind are answered as the reference says, and none by a 5xx",
  ignore: needs({ net: true, run: true, read: true, write: true, env: true, sys: true }),
  fn: async () => {
    const { runFuzz } = await import("./run_fuzz.ts");
    const { statuses, raw, faults } = await runFuzz(
      { seed: 20_261_123, requests: 600, clients: 8 },
      () => {},
    );
    assertEquals(faults, []);
    // no single refusal, a limit or a closed route, was all that was met
    assert((statuses.get(200) ?? 0) > 30 && (statuses.get(400) ?? 0) > 30, `${[...statuses]}`);
    assert(raw > 5);
  },
});
