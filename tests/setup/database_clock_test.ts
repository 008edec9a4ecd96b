import { assert, assertEquals } from "@std/assert";
import { DatabaseClock, readDatabaseTime } from "../../ledger/database/database_clock.ts";
import { clockReasons, futureReasons } from "../../app/health/clocks.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const START = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

/** Three clocks that a test sets, and what is made of them. */
function clocks() {
  const at = { database: START, wall: START, monotonic: 500, answerMs: 0 };
  const clock = new DatabaseClock({
    read: () => {
      const told = at.database + at.answerMs / 2;
      pass(at.answerMs);
      return Promise.resolve(told);
    },
    wall: () => at.wall,
    monotonic: () => at.monotonic,
  });
  const pass = (ms: number) => {
    at.database += ms;
    at.wall += ms;
    at.monotonic += ms;
  };
  return { at, clock, pass };
}

for (const jump of [HOUR_MS, -HOUR_MS, 365 * 24 * HOUR_MS]) {
  Deno.test(`a machine's clock that jumps by ${jump / HOUR_MS} h moves no time that is kept`, async () => {
    const { at, clock, pass } = clocks();
    await clock.sync();
    at.wall += jump;
    assertEquals(clock.now(), at.database);
    pass(7_000);
    await clock.sync();
    assertEquals(clock.now(), at.database);
    assertEquals(clock.figures.aheadMs, jump);
    at.wall -= jump;
    assertEquals(clock.figures.aheadMs, 0);
  });
}

Deno.test("a machine that is 3 s off for good keeps the database's time, and readiness says so", async () => {
  const { at, clock } = clocks();
  at.wall += 3_000;
  await clock.sync();
  assertEquals(clock.now(), at.database);
  assertEquals(clockReasons(clock), ["this machine's clock is 3.0 s ahead of the database's"]);
  at.wall -= 6_000;
  assertEquals(clockReasons(clock), ["this machine's clock is 3.0 s behind the database's"]);
  at.wall += 3_500;
  assertEquals(clockReasons(clock), []);
});

Deno.test("a database's clock that is off for one reading is not followed, one that stays so is", async () => {
  const { at, clock, pass } = clocks();
  await clock.sync();
  at.database += HOUR_MS;
  await clock.sync();
  at.database -= HOUR_MS;
  assertEquals(clock.now(), at.database);
  pass(5_000);
  await clock.sync();
  at.database -= HOUR_MS;
  await clock.sync();
  assertEquals([clock.now(), clock.figures.jumps], [at.database + HOUR_MS, 0]);
  pass(5_000);
  await clock.sync();
  assertEquals([clock.now(), clock.figures.jumps], [at.database, 1]);
});

Deno.test("a slow answer moves the time by no more than it took, and a very slow one not at all", async () => {
  const { at, clock, pass } = clocks();
  await clock.sync();
  pass(5_000);
  at.answerMs = 400;
  await clock.sync();
  assertEquals(clock.now(), at.database);
  at.answerMs = 3_000;
  at.database += 900;
  await clock.sync();
  assertEquals(clock.now(), at.database - 900);
  pass(60_000);
  assertEquals(clockReasons(clock).at(-1), "the database's clock was last read 63 s ago");
});

Deno.test("small differences are followed, as two machines' clocks drift", async () => {
  const { at, clock, pass } = clocks();
  await clock.sync();
  for (let i = 0; i < 10; i++) {
    pass(5_000);
    at.database += 40;
    await clock.sync();
  }
  assertEquals(clock.now(), at.database);
});

Deno.test("what began in the future is told, as its age says nothing", () => {
  const begun = (at: number | null) => futureReasons([["TRX's oldest top-up", at]], START);
  assertEquals([begun(null), begun(START - HOUR_MS), begun(START + 5_000)], [[], [], []]);
  assertEquals(begun(START + HOUR_MS), [
    "TRX's oldest top-up is from the future: 2027-01-15T09:00:00.000Z",
  ]);
});

test("the database tells its time to the millisecond", async () => {
  await using database = await testDatabase();
  const before = Date.now();
  const time = await readDatabaseTime(database.sql);
  assert(time >= before - 1_000 && time <= Date.now() + 1_000, String(time - before));
  const clock = new DatabaseClock({ read: () => readDatabaseTime(database.sql) });
  await clock.start();
  await clock.stop();
  assert(Number.isInteger(clock.now()));
});
