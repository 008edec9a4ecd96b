// The moments at which a death of the whole process tells the most, by a real SIGKILL; every other one is
// in `crash_test.ts`, within the process of the test, and all of them in `deno task soak deaths`.

import { needs } from "../support/permissions.ts";

Deno.test({
  name: "a service killed between any two steps of a payout or a sweep pays and moves once",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  timeout: 1_200_000,
  fn: async (t) => {
    const { withService } = await import("../support/service.ts");
    const { openStarted, surviveKilledPayout } = await import("./support/crashes.ts");
    const { surviveSweeps, SWEEPING } = await import("../sweeps/support/deaths.ts");
    await t.step(
      "after a commit before its answer, before the broadcast, before its record",
      () => surviveKilledPayout(openStarted),
    );
    await t.step(
      "while a sweep is signed",
      () =>
        withService(async (service) => {
          await service.start();
          await surviveSweeps(service, ["treasury.after-sign@2"]);
        }, SWEEPING),
    );
  },
});
