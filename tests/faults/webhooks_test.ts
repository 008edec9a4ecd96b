import { assertEquals } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test(
  "events to endpoints that fail at random arrive or are listed as failed, though nodes die",
  async () => {
    const { withNode } = await import("./support/node.ts");
    const { runWebhookSoak } = await import("../soak/run_webhook_soak.ts");
    const seed = Number(Deno.env.get("SEED") ?? Date.now() % 1_000_000);
    // deno-lint-ignore no-console -- with SEED=... the same moments are drawn again
    console.log(`seed ${seed}`);
    const { faults, figures } = await runWebhookSoak(
      { seed, events: 2_000, kills: 2, merchants: 10 },
      () => {},
      (body) => withNode(body),
      // less than the shortest pause before a retry, so that retries follow in their order
      400,
    );
    assertEquals(faults, []);
    assertEquals(Number(figures["events"]) > 1_500, true, "enough happened");
  },
);
