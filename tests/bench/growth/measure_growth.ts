/**
 * The same figures with more rows and more merchants: withdrawals per second, what each costs, pages
 * of lists and the balance, beside what people write instead.
 *
 * @module
 */

import type { BenchCluster } from "../bench_cluster.ts";
import { storedFunctionText } from "../baseline/stored_function.ts";
import { checkpoint } from "../checkpoint.ts";
import type { Generator } from "../load/load.ts";
import { type Case, measure, type Measurement } from "../measure.ts";
import type { Options } from "../options.ts";
import { startServer } from "../server_process.ts";
import type { Side } from "../side.ts";
import { type GrowthDatabase, GrowthDatabases, type Size } from "./growth_databases.ts";
import { type BookRead, measureReads } from "./measure_reads.ts";
import { measureWrites, type WriteCost } from "./measure_writes.ts";
import { readTableSizes, type TableSize } from "./table_sizes.ts";

/** Figures with so many rows and merchants. */
export type Sized<T> = T & Size;

/** Results of the section "growth". */
export interface GrowthResults {
  readonly loads: Sized<Measurement>[];
  readonly writes: Sized<WriteCost>[];
  readonly reads: Sized<BookRead>[];
  readonly tables: Sized<TableSize>[];
}

/** Sides beside the engine: what people write instead. */
const COMPARED: readonly Side[] = ["row_lock", "stored_function"];
const CONNECTIONS = 64;
/** Connections of a comparator; which number suits it best differs little. */
const POOL = 16;
/** Merchants of the databases that differ in rows, and rows of those that differ in merchants. */
const USUAL_MERCHANTS = 1_000;
const USUAL_ROWS = 100_000;
const WARM_UP_S = 2;

/**
 * Measures every size in every round.
 *
 * @param keep called after each size: what was measured until then is not lost with the run
 */
export async function measureGrowth(
  cluster: BenchCluster,
  generator: Generator,
  options: Options,
  note: (text: string) => void,
  keep: (results: GrowthResults) => Promise<void>,
): Promise<void> {
  const databases = new GrowthDatabases(cluster, note);
  const sizes = sizesOf(options);
  for (const size of sizes) await databases.fill(size);
  const results: GrowthResults = { loads: [], writes: [], reads: [], tables: [] };
  for (let round = 1; !options.fillOnly && round <= options.rounds; round++) {
    for (const size of sizes) {
      note(`round ${round}: ${size.rows} withdrawals, ${size.merchants} merchants`);
      await using database = await databases.open(size);
      // what a checkpoint costs is the same for every size: none comes in between
      await checkpoint(cluster.admin);
      await measureSize(database, size, round, generator, options.seconds, results);
      await keep(results);
    }
  }
}

/** Databases to measure: each number of rows, and each number of merchants. */
function sizesOf({ sizes, merchants }: Options): readonly Size[] {
  const all = [
    ...sizes.map((rows) => ({ rows, merchants: USUAL_MERCHANTS })),
    ...merchants.map((count) => ({ rows: USUAL_ROWS, merchants: count })),
  ];
  const byName = new Map(all.map((size) => [`${size.rows} ${size.merchants}`, size]));
  return [...byName.values()];
}

async function measureSize(
  database: GrowthDatabase,
  size: Size,
  round: number,
  generator: Generator,
  seconds: number,
  results: GrowthResults,
): Promise<void> {
  const { url, sql, seed } = database;
  // more merchants make a difference only where they all pay
  const cases: readonly Case[] = size.merchants === USUAL_MERCHANTS
    ? ["hot", "spread"]
    : ["spread"];
  if (round === 1) {
    results.tables.push(...(await readTableSizes(sql)).map((table) => ({ ...table, ...size })));
  }
  for (const side of ["journal", ...COMPARED] as const) {
    await using _function = side === "stored_function" ? await withFunction(database) : null;
    await using server = await startServer({ side, pool: POOL, databaseUrl: url });
    const task = { side, connections: CONNECTIONS, round };
    // code, plans, and the first change of every page after the checkpoint
    for (const which of cases) {
      await measure(database, generator, server, { ...task, case: which, seconds: WARM_UP_S });
    }
    for (const which of cases) {
      const found = await measure(database, generator, server, { ...task, case: which, seconds });
      results.loads.push({ ...found, ...size });
    }
    if (side !== "journal") continue;
    const [key = "", merchantId = ""] = [seed.hotKeys[0], seed.hotMerchants[0]];
    const reads = await measureReads(server.url, sql, { key, merchantId }, round);
    results.reads.push(...reads.map((read) => ({ ...read, ...size })));
  }
  for (const which of cases) {
    results.writes.push({ ...await measureWrites(url, seed, which, round), ...size });
  }
}

/** Creates the function of a comparator, and drops it: the database may be a kept one. */
async function withFunction({ sql }: GrowthDatabase): Promise<AsyncDisposable> {
  const drop = async () => {
    await sql`DROP SCHEMA IF EXISTS bench CASCADE`;
  };
  await drop();
  await sql.unsafe(await storedFunctionText());
  return { [Symbol.asyncDispose]: drop };
}
