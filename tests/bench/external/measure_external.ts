/**
 * The engine on other PostgreSQL servers with their own default settings, against the embedded one
 * in interleaved rounds.
 *
 * @module
 */

import { booksFaults } from "../../support/books.ts";
import { debianServers } from "../../support/debian_postgres.ts";
import { privateCluster } from "../../support/private_cluster.ts";
import { type BenchCluster, startBenchCluster } from "../bench_cluster.ts";
import { checkpoint } from "../checkpoint.ts";
import type { Generator } from "../load/load.ts";
import { type Case, measure, type Measurement } from "../measure.ts";
import type { Options } from "../options.ts";
import { type ServerProcess, startServer } from "../server_process.ts";

/** Name of the embedded server among those that are measured. */
export const EMBEDDED = "embedded";

/** One measurement on one server. */
export interface ExternalMeasurement extends Measurement {
  /** {@linkcode EMBEDDED}, or the version as the server tells it. */
  readonly server: string;
}

/** Everything that the rounds of this section need. */
export interface ExternalRun {
  readonly cluster: BenchCluster;
  readonly generator: Generator;
  readonly options: Options;
  readonly note: (text: string) => void;
}

interface Place {
  readonly name: string;
  readonly cluster: BenchCluster;
  readonly server: ServerProcess;
}

const CASES: readonly Case[] = ["hot", "spread"];
/** The oldest version that the service runs on. */
const LEAST_VERSION = 14;
/** Measurements that only warm up, seconds. */
const WARM_S = 1;

/**
 * Measures withdrawals on the embedded server and on each other one: that of `--database-url`, or else
 * those of `--postgres` and the installed packages, started for the run with nothing set.
 */
export async function measureExternal(
  { cluster, generator, options, note }: ExternalRun,
): Promise<readonly ExternalMeasurement[]> {
  await using stack = new AsyncDisposableStack();
  const places: Place[] = [];
  const add = async (name: string | null, where: BenchCluster) => {
    const { url } = await where.database("journal");
    const server = stack.use(await startServer({ side: "journal", pool: 0, databaseUrl: url }));
    places.push({ name: name ?? where.machine.postgres, cluster: where, server });
  };
  if (options.database !== null) {
    note("starting an embedded server beside the named one");
    await add(EMBEDDED, stack.use(await startBenchCluster(null)));
    await add(null, cluster);
  } else {
    await add(EMBEDDED, cluster);
    for (const folder of [...options.postgres, ...debianServers(LEAST_VERSION)]) {
      note(`starting the server of ${folder} with its default settings`);
      const own = stack.use(
        await privateCluster({ binaries: "debian", programs: folder, migrated: false }),
      );
      await add(null, stack.use(await startBenchCluster({ url: own.url, pid: own.pid })));
    }
  }
  if (places.length === 1) note("there is no other server: install one, or name it");
  const connections = options.connections[0] ?? 64;
  const found: ExternalMeasurement[] = [];
  const take = async (place: Place, which: Case, seconds: number, round: number) => {
    const task = { side: "journal", case: which, connections, seconds, round } as const;
    await checkpoint(place.cluster.admin);
    const measured = await measure(place.cluster, generator, place.server, task);
    if (round > 0) found.push({ ...measured, server: place.name });
  };
  for (let round = 0; places.length > 1 && round <= options.rounds; round++) {
    note(round === 0 ? "warming up" : `servers, round ${round} of ${options.rounds}`);
    // who comes first is another one in each round
    const order = places.map((_, n) => places[(n + round) % places.length] as Place);
    for (const which of CASES) {
      for (const place of order) {
        await take(place, which, round === 0 ? WARM_S : options.seconds, round);
      }
    }
  }
  for (const { name, cluster: { database } } of places) {
    note(`checking the books of ${name}`);
    const [fault] = await booksFaults((await database("journal")).sql);
    if (fault !== undefined) {
      throw new Error(`Cannot trust the figures as the books of ${name} are wrong: ${fault}`);
    }
  }
  return found;
}
