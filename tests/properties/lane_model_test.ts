import { assert } from "@std/assert";
import { withDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { type Bug, type LaneFigures, liveLane } from "./support/lane_world.ts";

const test = testNeeding(DATABASE);

/** Lives of a run; `deno task soak lanes` has more of them. */
const SEEDS = 3;
/** Lives in which a deliberate bug has to be caught. */
const TRIES = 12;

test("whatever happens to a lane, each intent is paid once or given back, and the lane is empty in the end", async () => {
  const sums: Record<keyof LaneFigures, number> = {
    intents: 0,
    paid: 0,
    superseded: 0,
    cancelled: 0,
    deaths: 0,
  };
  const failures: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      const figures = await withDatabase(({ sql }) => liveLane(sql, seed, null));
      for (const [name, figure] of Object.entries(figures)) {
        sums[name as keyof LaneFigures] += figure;
      }
    } catch (error) {
      failures.push(`seed ${seed}: ${error instanceof Error ? error.stack : error}`);
    }
  }
  assert(failures.length === 0, failures.join("\n"));
  // a model to which nothing happens says nothing
  for (const [name, figure] of Object.entries(sums)) assert(figure > 0, `no ${name}`);
});

/** Deliberate bugs, each with a life that shows it. */
const BUGS: Readonly<Record<Bug, number>> = {
  "forgets promises after a death": 1,
  "counts from the highest signature after a death": 8,
  "fills nothing": 3,
  "refunds what is signed": 1,
};

for (const [bug, first] of Object.entries(BUGS)) {
  test(`the model sees a lane that ${bug}`, async () => {
    for (let seed = first; seed < first + TRIES; seed++) {
      try {
        await withDatabase(({ sql }) => liveLane(sql, seed, bug as Bug));
      } catch {
        return;
      }
    }
    throw new Error(`${bug}, and ${TRIES} lives do not show it`);
  });
}
