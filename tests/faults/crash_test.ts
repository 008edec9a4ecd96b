import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Moments of chains that count nonces; the model of lanes dies at these (properties/lane_model_test.ts). */
const isOfLanes = (point: string) =>
  /^treasury\.after-(?:promise|replacement-sign|cancel-commit)$/.test(point);

test({
  name: "a death at any point of a deposit or a withdrawal loses nothing and does nothing twice",
  timeout: 300_000,
  fn: async (t) => {
    const { assertEquals } = await import("@std/assert");
    const { CRASH_POINTS } = await import("../../actors/runtime/crash_point.ts");
    const { withNode } = await import("./support/node.ts");
    const { DEATHS, surviveDeposits, survivePayouts } = await import("./support/crashes.ts");
    const { deposits, payouts } = DEATHS;
    assertEquals(
      [...new Set([...Object.values(deposits), ...Object.values(payouts)].flat())].sort(),
      CRASH_POINTS.filter((point) => !point.startsWith("sweeper.") && !isOfLanes(point)).sort(),
      "every point has a moment",
    );
    // real processes die in killed_test.ts and in `deno task soak deaths`
    await t.step("deposits", () => surviveDeposits(withNode));
    await t.step("payouts", () => survivePayouts(withNode));
  },
});
