/**
 * The bench: the engine against what people write instead, and against the ceilings of the machine,
 * in one run. `deno task bench --quick` takes about a minute.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { booksFaults } from "../support/books.ts";
import { joinHouseShards } from "./baseline/house_shards.ts";
import { type BenchCluster, startBenchCluster } from "./bench_cluster.ts";
import { checkpoint } from "./checkpoint.ts";
import { measureBulk } from "./bulk.ts";
import { measureEvm } from "./evm/measure_evm.ts";
import { measureExternal } from "./external/measure_external.ts";
import { measureCallbacks } from "./callbacks/measure_callbacks.ts";
import { chooseGenerator, type Generator } from "./load/load.ts";
import { showWarnings } from "./logging.ts";
import { measureLists } from "./lists.ts";
import { measureGrowth } from "./growth/measure_growth.ts";
import { measurePartitions } from "./growth/measure_partitions.ts";
import { measureLife } from "./life/measure_life.ts";
import { type Case, measure } from "./measure.ts";
import { measureOverload } from "./overload/measure_overload.ts";
import { type Options, parseOptions, USAGE } from "./options.ts";
import { report } from "./report.ts";
import type { Results } from "./results.ts";
import { ScanBench } from "./scan/measure_scan.ts";
import { casesOf } from "./scan/scan_report.ts";
import { measurePages } from "./page/measure_page.ts";
import { type ServerProcess, startServer } from "./server_process.ts";
import type { Side } from "./side.ts";
import { coreTime, stolenShare } from "./stolen_time.ts";

const OUTPUT = new URL("../output/", import.meta.url);
const CASES: readonly Case[] = ["hot", "spread"];
const BASELINES = ["row_lock", "stored_function"] as const;
const BULK_SIZES = [100, 500];
/** Measurements that only choose a pool or warm up are shorter. */
const TRIAL_S = 1;
/** A life takes six seconds, so that less says nothing about a steady pace. */
const LIFE_S = 10;

/** Servers by side and, for the baselines, case: each with the pool that suits it best. */
type Servers = Map<string, ServerProcess>;

function print(text: string): void {
  // deno-lint-ignore no-console -- the report is read on the terminal
  console.log(text);
}

function note(text: string): void {
  // deno-lint-ignore no-console -- progress, apart from the report
  console.error(text);
}

async function run(options: Options): Promise<void> {
  const began = await coreTime();
  await showWarnings();
  await using stack = new AsyncDisposableStack();
  const generator = await chooseGenerator(options.ownLoad);
  const cluster = stack.use(
    await startBenchCluster(
      options.database === null ? null : { url: options.database.reveal(), pid: null },
      options.folder,
    ),
  );
  const results: Results = {
    startedAt: new Date().toISOString(),
    machine: cluster.machine,
    generator: generator.name,
    stolen: null,
    commit: await commitOf(),
    options: { ...options, sections: [...options.sections] },
    pools: {},
    measurements: [],
    bulk: [],
    pages: [],
    lists: [],
    scans: [],
    callbacks: [],
    lives: [],
    evm: [],
    externals: [],
    overloads: [],
    growth: null,
    partitions: [],
  };
  const servers = await startServers(stack, cluster, generator, options, results);
  await using _progress = {
    [Symbol.asyncDispose]: async () => {
      // of a run that failed too
      results.stolen ??= stolenShare(began, await coreTime());
      await writeResults(results);
    },
  };
  const rounds = servers.size > 0 || options.sections.has("bulk") ? options.rounds : 0;
  for (let round = 1; round <= rounds; round++) {
    note(`round ${round} of ${rounds}`);
    await measureRound(cluster, generator, servers, options, results, round);
  }
  if (options.sections.has("external")) {
    results.externals.push(...await measureExternal({ cluster, generator, options, note }));
  }
  if (options.sections.has("overload")) {
    results.overloads.push(...await measureOverload({ cluster, generator, options, note }));
  }
  await checkBooks(cluster, servers, options);
  if (options.sections.has("life")) {
    results.lives.push(await measureLife(Math.max(LIFE_S, options.seconds * 5), note));
  }
  if (options.sections.has("evm")) await measureEvm(cluster, options, note, results.evm);
  if (options.sections.has("page")) {
    results.pages.push(...await measurePages(cluster, options, note));
  }
  if (options.sections.has("lists")) results.lists.push(...await measureLists(cluster, note));
  await measureScans(cluster, options, results);
  if (options.sections.has("growth")) {
    await measureGrowth(cluster, generator, options, note, async (growth) => {
      results.growth = growth;
      await writeResults(results);
    });
  }
  if (options.sections.has("partitions")) {
    results.partitions.push(...await measurePartitions(cluster, options.rounds, note));
  }
  if (options.sections.has("callbacks") || options.sections.has("isolation")) {
    results.callbacks.push(...await measureCallbacks(cluster, options, note));
  }
  results.stolen = stolenShare(began, await coreTime());
  print(report(results));
}

/** Reading blocks and crediting deposits, each case in a database of its own. */
async function measureScans(cluster: BenchCluster, options: Options, results: Results) {
  const cases = (["scan", "deposits"] as const).flatMap((section) =>
    options.sections.has(section) ? casesOf(section) : []
  );
  await using bench = new ScanBench(cluster, options.seconds, note);
  for (let round = 1; cases.length > 0 && round <= options.rounds; round++) {
    note(`blocks, round ${round} of ${options.rounds}`);
    for (const which of cases) results.scans.push(await bench.measure(which, round));
  }
  await requireRightBooks(cluster, cases.filter((which) => which.startsWith("deposits")));
}

/** Starts every side; tries the pool sizes of the baselines and keeps the best of each case. */
async function startServers(
  stack: AsyncDisposableStack,
  cluster: BenchCluster,
  generator: Generator,
  options: Options,
  results: Results,
): Promise<Servers> {
  const servers: Servers = new Map();
  const start = async (side: Side, pool: number) =>
    await startServer({ side, pool, databaseUrl: (await cluster.database(side)).url });
  const { sections } = options;
  if (sections.has("withdrawals") || sections.has("latency")) {
    for (const side of BASELINES) {
      note(`choosing the pool of ${side}`);
      const best = { hot: 0, spread: 0 };
      const kept: Partial<Record<Case, ServerProcess>> = {};
      const all: ServerProcess[] = [];
      for (const pool of options.pools) {
        const server = await start(side, pool);
        all.push(server);
        for (const which of CASES) {
          const task = { side, case: which, connections: 64, seconds: TRIAL_S, round: 0 };
          // the first second only warms up
          if (which === "hot") await measure(cluster, generator, server, task);
          const { perSecond } = await measure(cluster, generator, server, task);
          if (perSecond <= best[which]) continue;
          best[which] = perSecond;
          kept[which] = server;
          results.pools[`${side} ${which}`] = pool;
        }
      }
      for (const server of all) {
        if (Object.values(kept).includes(server)) stack.use(server);
        else await server[Symbol.asyncDispose]();
      }
      for (const which of CASES) {
        const server = kept[which];
        if (server !== undefined) servers.set(`${side} ${which}`, server);
      }
    }
    await addServer("journal");
  }
  if (sections.has("disk")) {
    if (!servers.has("journal hot")) await addServer("journal");
    await addServer("journal_slow_disk");
  }
  if (sections.has("http")) await addServer("http");
  return servers;

  async function addServer(side: Side): Promise<void> {
    const server = stack.use(await start(side, 0));
    for (const which of CASES) {
      servers.set(`${side} ${which}`, server);
      const task = { side, case: which, connections: 64, seconds: TRIAL_S, round: 0 };
      await measure(cluster, generator, server, task);
    }
  }
}

async function measureRound(
  cluster: BenchCluster,
  generator: Generator,
  servers: Servers,
  options: Options,
  results: Results,
  round: number,
): Promise<void> {
  const take = async (side: Side, which: Case, connections: number, seconds: number) => {
    const server = servers.get(`${side} ${which}`);
    if (server === undefined) return;
    const task = { side, case: which, connections, seconds, round };
    // each side begins with the same: none pays for what the one before it wrote
    await checkpoint(cluster.admin);
    results.measurements.push(await measure(cluster, generator, server, task));
  };
  const { sections, seconds } = options;
  for (const connections of options.connections) {
    if (sections.has("withdrawals")) {
      for (const which of CASES) {
        for (const side of [...BASELINES, "journal"] as const) {
          await take(side, which, connections, seconds);
        }
      }
    }
    if (sections.has("disk")) {
      if (!sections.has("withdrawals")) await take("journal", "hot", connections, seconds);
      await take("journal_slow_disk", "hot", connections, seconds);
    }
    if (sections.has("http")) await take("http", "hot", connections, Math.min(seconds, 2));
  }
  if (sections.has("latency")) {
    for (const side of [...BASELINES, "journal"] as const) await take(side, "hot", 1, 1);
  }
  if (sections.has("bulk")) {
    const { sql } = await cluster.database("bulk");
    for (const which of CASES) {
      for (const size of BULK_SIZES) {
        results.bulk.push(await measureBulk(sql, cluster.seed, { case: which, size, round }));
      }
    }
  }
}

/** A figure made by breaking the books is worth nothing. */
async function checkBooks(cluster: BenchCluster, servers: Servers, options: Options) {
  const names = new Set([...servers.keys()].map((key) => key.split(" ")[0] ?? ""));
  if (options.sections.has("bulk")) names.add("bulk");
  names.delete("http");
  await requireRightBooks(cluster, names);
}

async function requireRightBooks(cluster: BenchCluster, names: Iterable<string>) {
  for (const name of names) {
    note(`checking the books of ${name}`);
    const { sql } = await cluster.database(name);
    await joinHouseShards(sql);
    const faults = await booksFaults(sql);
    if (faults.length > 0) {
      throw new Error(`Cannot trust the figures as the books of ${name} are wrong: ${faults[0]}`);
    }
  }
}

async function writeResults(results: Results): Promise<void> {
  await Deno.mkdir(OUTPUT, { recursive: true });
  const text = JSON.stringify(results, null, 2) + "\n";
  const kept = `bench-${results.startedAt.replaceAll(/[-:]|\.\d+/g, "")}.json`;
  for (const name of ["bench.json", kept]) {
    const path = new URL(name, OUTPUT);
    await Deno.writeTextFile(path, text);
    note(`all figures: ${fileURLToPath(path)}`);
  }
}

/** The commit that is measured, marked where files differ from it; null: this is no checkout. */
async function commitOf(): Promise<string | null> {
  try {
    const { success, stdout } = await new Deno.Command("git", {
      args: ["describe", "--always", "--abbrev=10", "--dirty=+"],
      stderr: "null",
    }).output();
    return success ? new TextDecoder().decode(stdout).trim() : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

let options: Options;
try {
  options = parseOptions(Deno.args);
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  note(`${error.message}\n${USAGE}`);
  Deno.exit(2);
}
await run(options);
