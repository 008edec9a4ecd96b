// The short form of `deno task soak chain`: each kind of trouble at least once, from another seed each time.

import { assertEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";

Deno.test({
  name:
    "failing nodes, reorganisations and deaths, drawn from a seed, change nothing of the outcome",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async () => {
    const { runChainSoak } = await import("../soak/run_chain_soak.ts");
    const seed = Number(Deno.env.get("SEED") ?? Date.now() % 1_000_000);
    const told = [`seed ${seed}`];
    try {
      const { faults, figures } = await runChainSoak({
        network: "TRX",
        seed,
        deposits: 60,
        payouts: 30,
        kills: 1,
        chainKills: 1,
        databaseKills: 1,
        anvilKills: 0,
        strangers: 0,
        merchants: 4,
        workers: 4,
        blockMs: 150,
        peaceMs: 300_000,
      }, (text) => told.push(text));
      told.push(JSON.stringify(figures));
      assertEquals(faults, []);
    } finally {
      // deno-lint-ignore no-console -- with SEED=... the same run is drawn again
      console.log(told.join("\n"));
    }
  },
});
