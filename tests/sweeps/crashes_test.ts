import { assert } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test({
  name:
    "a death at any point of a sweep loses no top-up, and neither moves nor gives anything twice",
  timeout: 300_000,
  fn: async () => {
    const { withNode } = await import("../faults/support/node.ts");
    const { surviveSweeps, SWEEP_DEATHS } = await import("./support/deaths.ts");
    await withNode(async (service) => {
      assert(await surviveSweeps(service) >= SWEEP_DEATHS.length);
    }, { sweeps: true, staleMs: 2_000 });
  },
});
