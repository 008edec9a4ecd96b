/**
 * Comparing goes on: a rule that breaks, a network that is away and a clock that was wrong keep
 * nothing else from being compared.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { compareAll } from "../../actors/reconcile/compare_all.ts";
import { ensureJob, newestReports, storeReport, takeJob } from "../../ledger/reconcile/reports.ts";
import { reconcileReasons } from "../../app/health/books.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { movingChain, passed } from "./support/moving_chain.ts";

const test = testNeeding(DATABASE);

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;

test("a rule that breaks is told as not compared, and so is a network; the others are compared", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { chain } = movingChain({ "hot-wallet": amount("1000") });
  await passed(sql, 10);
  const broken = { ...chain, solid: () => Promise.reject(new TypeError("a bug")) };
  await sql`ALTER TABLE book.margin_day RENAME TO margin_day_away`;
  await sql`UPDATE book.system_balance SET balance = 1`;
  const { body, unchecked } = await compareAll({
    sql,
    chains: new Map([["TRX", broken], ["TRX_SHASTA", chain]]),
    coldAddressOf: () => null,
    pause: () => Promise.resolve(),
  }, { scope: "full", sparesNodes: true });
  const [books, tron, other] = body.parts;
  assertEquals(books?.rules.length, 25);
  const missing = books?.rules.filter((one) => one.unchecked !== null) ?? [];
  assertEquals(missing.map(({ rule }) => rule), ["margins per day are those of the margins"]);
  assertStringIncludes(missing[0]?.unchecked ?? "", "comparing broke: ");
  assertEquals(tron?.rules.filter((one) => one.unchecked === "comparing broke: a bug").length, 3);
  assertEquals(tron?.rules.filter((one) => one.unchecked === null).length, 1);
  assertEquals(other?.network, "TRX_SHASTA");
  assertEquals(unchecked >= 2, true);
});

test("a comparison that was put off while a clock was a year ahead is due", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const now = Date.now();
  const every = 15 * MINUTE_MS;
  await ensureJob(sql, "quick", now);
  assertEquals(await takeJob(sql, "quick", now + YEAR_MS, now + YEAR_MS + every, every), true);
  assertEquals(await takeJob(sql, "quick", now + every, now + 2 * every, every), true);
  assertEquals(await takeJob(sql, "quick", now + every, now + 2 * every, every), false);
  // a clock that went back by an hour
  const back = now - 60 * MINUTE_MS;
  assertEquals(await takeJob(sql, "quick", back, back + every, every), true);
});

test("a report from the future hides no later one, and readiness tells that comparing has ended", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const now = Date.now();
  const report = (id: string, finishedAt: number) => ({
    id,
    scope: "quick" as const,
    startedAt: finishedAt - 1_000,
    finishedAt,
    differences: 0,
    unchecked: 0,
    body: { parts: [] },
  });
  const reasons = async (lookingMs = 0) =>
    reconcileReasons(
      { newest: await newestReports(sql), overdueMs: 45 * MINUTE_MS, lookingMs },
      now,
    );
  assertEquals(await reasons(), []);
  assertEquals(await reasons(60 * MINUTE_MS), ["the books were not compared since the start"]);
  await storeReport(sql, report("rec_z", now + YEAR_MS));
  assertEquals(await reasons(60 * MINUTE_MS), ["the books were not compared since the start"]);
  await storeReport(sql, report("rec_a", now - 60 * MINUTE_MS));
  assertStringIncludes((await reasons()).join(), "the books were last compared at");
  await storeReport(sql, report("rec_b", now));
  assertEquals(await reasons(), []);
  for (let i = 0; i < 101; i++) await storeReport(sql, report(`rec_f${i}`, now + YEAR_MS + i));
  const [newest] = await newestReports(sql);
  assertEquals(newest?.id, "rec_b", "what is kept is not pushed out by reports from the future");
});
