import { needs } from "../support/permissions.ts";

Deno.test({
  name: "a death at any point of a deposit or a withdrawal loses nothing and does nothing twice",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  // steps run beside each other, which the sanitizers cannot tell apart
  sanitizeOps: false,
  sanitizeResources: false,
  sanitizeExit: false,
  fn: async (t) => {
    const { assertEquals } = await import("@std/assert");
    const { CRASH_POINTS } = await import("../../actors/runtime/crash_point.ts");
    const { DEATHS, surviveDeposits, survivePayouts } = await import("./support/crashes.ts");
    const { deposits, payouts } = DEATHS;
    assertEquals(
      [...new Set([...Object.values(deposits), ...Object.values(payouts)].flat())].sort(),
      CRASH_POINTS.filter((point) => !point.startsWith("sweeper.")).sort(),
      "every point has a moment",
    );
    // beside each other, each on a service of its own: waiting is most of it
    const unsanitized = { sanitizeOps: false, sanitizeResources: false, sanitizeExit: false };
    const ended = await Promise.allSettled([
      t.step({ name: "deposits", fn: surviveDeposits, ...unsanitized }),
      t.step({ name: "payouts", fn: survivePayouts, ...unsanitized }),
    ]);
    for (const story of ended) if (story.status === "rejected") throw story.reason;
  },
});
