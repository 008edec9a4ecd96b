import fc from "fast-check";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { step } from "./support/bank_steps.ts";
import { closeWorld, openWorld } from "./support/bank_world.ts";

/** After this long no further run is begun, milliseconds. */
const BOUND_MS = 5_000;

testNeeding(DATABASE)(
  "whatever happens in whatever order on whichever node, the books are those of the plain model",
  async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await sql`UPDATE book.setting SET base_fee = 0.7, markup_rate = 0.013`;
    await sql`UPDATE book.settlement_threshold SET amount = 50`;
    const end = performance.now() + BOUND_MS;
    // a failure prints its seed and path: give both to fc.assert to see it again
    await fc.assert(
      fc.asyncProperty(fc.commands([step], { maxCommands: 30, size: "max" }), async (steps) => {
        if (performance.now() > end) return;
        const world = await openWorld(sql);
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: world }), steps);
        } finally {
          await closeWorld(world);
        }
      }),
      { numRuns: 50, endOnFailure: false },
    );
  },
);
