import { assert } from "@std/assert";
import { withDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { type Bug, type LaneFigures, liveLane } from "./support/lane_world.ts";

const test = testNeeding(DATABASE);

/** Lives of a run in the suite, and of this one; by hand: `deno test ... tests/properties/lane_model_test.ts -- --seeds 2000 [--from 1]`. */
const MOST_SEEDS = 3;
const SEEDS = numberAfter("--seeds") ?? MOST_SEEDS;
const FROM = numberAfter("--from") ?? 1;
/** Lives in which a deliberate bug has to be caught. */
const TRIES = 12;

/** Tells a person who has asked for more lives than the suite lives. */
function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

function numberAfter(name: string): number | null {
  const place = Deno.args.indexOf(name);
  return place < 0 ? null : Number(Deno.args[place + 1]);
}

test("whatever happens to a lane, each intent is paid once or given back, and the lane is empty in the end", async () => {
  const sums: Record<keyof LaneFigures, number> = {
    intents: 0,
    paid: 0,
    superseded: 0,
    cancelled: 0,
    deaths: 0,
  };
  const failures: string[] = [];
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    try {
      const figures = await withDatabase(({ sql }) => liveLane(sql, seed, null));
      for (const [name, figure] of Object.entries(figures)) {
        sums[name as keyof LaneFigures] += figure;
      }
    } catch (error) {
      failures.push(`seed ${seed}: ${error instanceof Error ? error.stack : error}`);
      if (failures.length === 3) break;
    }
  }
  if (SEEDS > MOST_SEEDS) say(`${SEEDS} seeds from ${FROM}: ${JSON.stringify(sums)}`);
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
      } catch (error) {
        if (SEEDS > MOST_SEEDS) say(`${bug}: seed ${seed}: ${error}`);
        return;
      }
    }
    throw new Error(`${bug}, and ${TRIES} lives do not show it`);
  });
}
