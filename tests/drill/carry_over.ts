/**
 * The first half of `deno task drill upgrade`: an older database is put on an empty one, this version's
 * migrations are applied, and both are compared.
 *
 * @module
 */

import { verifyAudit } from "../../ledger/audit_trail.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { migrate } from "../../ledger/database/migrate.ts";
import { booksFaults } from "../support/books.ts";
import { keptDumps, migrationsOf } from "../release/released.ts";
import { loadRows, renewAwaitedVerdict } from "../release/rows.ts";
import { figureFaults, readFigures } from "./figures.ts";

/** Prints a step with the time that it took. */
export async function timed<T>(
  say: (line: string) => void,
  step: () => Promise<readonly [string, T]>,
): Promise<T> {
  const since = performance.now();
  const [told, answer] = await step();
  say(`${told} (${((performance.now() - since) / 1_000).toFixed(1)} s)`);
  return answer;
}

/** Makes an empty database one of the last release, with its kept rows. */
export async function loadLastRelease(sql: Sql): Promise<string> {
  const newest = (await keptDumps()).at(-1);
  if (newest === undefined) throw new Error("Cannot drill an upgrade as no release is kept");
  await migrate(sql, await migrationsOf(newest.version));
  await loadRows(sql, newest.text);
  await renewAwaitedVerdict(sql);
  return newest.version;
}

/** Applies what is missing, compares, and answers what is wrong. */
export async function carryOver(
  sql: Sql,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const before = await timed(say, async () => {
    const figures = await readFigures(sql);
    return [`read before: ${figures.size} figures`, figures];
  });
  await timed(say, async () => {
    const { applied } = await migrate(sql);
    const names = applied.length === 0 ? "none is missing" : applied.join(", ");
    return [`migrations of this version: ${names}`, null];
  });
  const changed = await timed(say, async () => {
    const after = await readFigures(sql);
    const faults = figureFaults(before, after);
    return [`read afterwards: ${after.size} figures, ${faults.length} differences`, faults];
  });
  const wrong = await timed(say, async () => {
    const faults = [...await booksFaults(sql), ...await auditFaults(sql)];
    return [`books and audit trail compared by this version: ${faults.length} differences`, faults];
  });
  return [...changed, ...wrong];
}

async function auditFaults(sql: Sql): Promise<readonly string[]> {
  const { faults } = await verifyAudit(sql, null);
  return faults.map(({ auditId, number, fault }) => `audit ${auditId ?? number}: ${fault}`);
}
