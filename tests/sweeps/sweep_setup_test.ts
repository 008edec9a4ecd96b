/** Set-ups, which the hot wallet sends once before it can send sweeps: planned once, whatever happens to them. */

import { assertEquals, assertRejects } from "@std/assert";
import { SweepSetup } from "../../actors/sweeper/sweep_setup.ts";
import type { Wait } from "../../actors/sweeper/next_step.ts";
import { sweepPace } from "../../app/open/treasury_policy.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { withDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const PACE = sweepPace("ETH");

/** A planner's look while the chain says that this is missing. */
async function look(
  sql: Sql,
  missing: readonly string[],
  setup = new SweepSetup({ network: "ETH", missingSetup: () => Promise.resolve(missing) }),
): Promise<Wait | null> {
  return await setup.look(sql, PACE, () => {})();
}

async function setups(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ line: string }[]>`
    SELECT concat_ws(' ', kind, status, trim_scale(amount)::text, destination, wallet, currency) AS line
    FROM book.outgoing ORDER BY id`;
  return rows.map(({ line }) => line);
}

async function end(sql: Sql, status: string, reason: string | null = null, age = "0 s") {
  await sql.begin(async (tx) => {
    for (const next of status === "void" ? ["signed", "dead", "void"] : ["signed", status]) {
      await tx`UPDATE book.outgoing SET status = ${next}, reason = ${reason}, updated_at = now() - ${age}::interval
        WHERE status NOT IN ('void', 'final')`;
    }
  });
}

for (
  const [what, before, lines, detail] of [
    ["is queued when it is missing", null, ["queued"], "is queued"],
    ["is not queued beside one that waits", ["queued"], ["queued"], "is queued"],
    ["is not queued beside one that is signed", ["signed"], ["signed"], "is signed"],
    [
      "is not queued after one that has ended well, as its chain creates nothing, or a node lags",
      ["final"],
      ["final"],
      "or its chain creates nothing",
    ],
    [
      "rests after one that has failed",
      ["void", "failed: REVERT", "1 min"],
      ["void"],
      "failed: REVERT",
    ],
    [
      "is queued anew after that",
      ["void", "failed: REVERT", "1 h"],
      ["void", "queued"],
      "is queued",
    ],
    [
      "is queued anew after one that was given up",
      ["void", "by hand", "0 s"],
      ["void", "queued"],
      "is queued",
    ],
  ] as const
) {
  test(`a set-up ${what}`, async () => {
    await withDatabase(async ({ sql }) => {
      if (before !== null) {
        await look(sql, ["0xc0"]);
        const [status, reason, age] = before;
        if (status !== "queued") await end(sql, status, reason ?? null, age ?? "0 s");
      }
      const wait = await look(sql, ["0xc0"]);
      assertEquals(wait?.reason, "waiting_setup");
      assertEquals(wait?.detail.includes(detail), true, wait?.detail);
      assertEquals(await setups(sql), lines.map((status) => `setup ${status} 0 0xc0 hot native`));
    });
  });
}

test("addresses are swept once all is there, and a set-up that nothing needs any more is given up", async () => {
  await withDatabase(async ({ sql }) => {
    await look(sql, ["0xc0"]);
    assertEquals(await look(sql, []), null);
    assertEquals(await setups(sql), ["setup void 0 0xc0 hot native"]);
  });
});

test("a chain that was found ready is not asked again", async () => {
  await withDatabase(async ({ sql }) => {
    let asked = 0;
    const missingSetup = () => Promise.resolve(asked++ === 0 ? [] : ["0xc0"]);
    const setup = new SweepSetup({ network: "ETH", missingSetup });
    assertEquals([await look(sql, [], setup), await look(sql, [], setup), asked], [null, null, 1]);
  });
});

test("the schema has a set-up move nothing, and lets one live or end well", async () => {
  await withDatabase(async ({ sql }) => {
    const insert = (id: string, kind: string, amount: number) =>
      sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
      VALUES (${id}, 'mer_platform', ${kind}, 'ETH', 'native', ${amount}, '0xc0', 'queued', now(), now())`;
    await assertRejects(() => insert("out_1", "setup", 1), Error, "outgoing_amount_check");
    await assertRejects(() => insert("out_1", "gas", 0), Error, "outgoing_amount_check");
    await insert("out_1", "setup", 0);
    await assertRejects(() => insert("out_2", "setup", 0), Error, "outgoing_setup_once");
    await end(sql, "final");
    await assertRejects(() => insert("out_2", "setup", 0), Error, "outgoing_setup_once");
  });
});
