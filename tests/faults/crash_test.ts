import { needs } from "../support/permissions.ts";

/** What runs beside each other, each on a service of its own: waiting is most of it. */
const LANES = [
  ["journal.before-write"],
  ["journal.after-write"],
  [
    "addresses.after-watch",
    "watcher.after-inbox",
    "treasury.after-sign",
    "treasury.after-commit",
    "treasury.after-broadcast",
  ],
  ["webhook.after-claim", "webhook.after-send", "watcher.after-cursor"],
] as const;

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
    const { surviveCrashes } = await import("./support/crashes.ts");
    assertEquals([...LANES.flat()].sort(), [...CRASH_POINTS].sort(), "every point is in a lane");
    // every lane ends by itself, so that its service ends with it
    const lanes = await Promise.allSettled(
      LANES.map((points) =>
        surviveCrashes(points, (name, body) =>
          t.step({
            name,
            fn: body,
            sanitizeOps: false,
            sanitizeResources: false,
            sanitizeExit: false,
          }))
      ),
    );
    for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
  },
});
