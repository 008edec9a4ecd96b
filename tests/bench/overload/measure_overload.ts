/**
 * The engine behind its own listener when three times as much is asked as it can do, alone and with
 * a thousand slow or idle connections beside.
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FLOOD_MS } from "../../../api/http/change_places.ts";
import { delay } from "../../../ledger/database/delay.ts";
import { booksFaults } from "../../support/books.ts";
import type { BenchCluster } from "../bench_cluster.ts";
import { checkpoint } from "../checkpoint.ts";
import type { Generator } from "../load/load.ts";
import { measure, type Measurement } from "../measure.ts";
import type { Options } from "../options.ts";
import { firstLine, type ServerProcess, startServer } from "../server_process.ts";
import type { IdleClients } from "./idle_clients.ts";
import type { OpenLoad, OpenResult } from "./open_loop.ts";

/** The load that is offered, as a multiple of the capacity that was measured in the same round. */
export const TIMES = 3;
/** Slow and idle connections. */
export const IDLE_CLIENTS = 1_000;

/** One round with or without {@linkcode IDLE_CLIENTS}. */
export interface OverloadMeasurement extends OpenResult {
  readonly round: number;
  readonly idleClients: number;
  /** Closed loop, as many connections as give the most: requests per second and their p99. */
  readonly peak: number;
  readonly peakP99: number;
  readonly offered: number;
  /** Acknowledged withdrawals that the ledger does not have. */
  readonly lost: number;
}

/** Everything that the rounds of this section need. */
export interface OverloadRun {
  readonly cluster: BenchCluster;
  readonly generator: Generator;
  readonly options: Options;
  readonly note: (text: string) => void;
}

/** Connections of the closed loop that finds the capacity. */
const PEAK_CONNECTIONS = 256;
/** Connections that the open loop may open. */
const OPEN_CONNECTIONS = 2_500;

/** Measures rounds, in which the two cases take turns in being first. */
export async function measureOverload(
  { cluster, generator, options, note }: OverloadRun,
): Promise<readonly OverloadMeasurement[]> {
  const { url, sql } = await cluster.database("overload");
  await using server = await startServer({
    side: "journal",
    pool: 0,
    databaseUrl: url,
    behindDoor: true,
  });
  const closed = async (round: number, seconds: number): Promise<Measurement> => {
    // so long after its last refusal a flood's fewer places are given no more
    await delay(2 * FLOOD_MS);
    const task = {
      side: "journal",
      database: "overload",
      case: "spread",
      connections: PEAK_CONNECTIONS,
      seconds,
      round,
    } as const;
    await checkpoint(cluster.admin);
    return await measure(cluster, generator, server, task);
  };
  note("warming up");
  await closed(0, 2);
  const found: OverloadMeasurement[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const idleClients of round % 2 === 1 ? [0, IDLE_CLIENTS] : [IDLE_CLIENTS, 0]) {
      note(`overload, round ${round} of ${options.rounds}, ${idleClients} idle connections beside`);
      await using _idle = idleClients > 0 ? await startIdle(server, idleClients) : null;
      const { perSecond, p99 } = await closed(round, options.seconds);
      const offered = Math.round(TIMES * perSecond);
      const name = `over-${round}-${idleClients}`;
      const result = await overload(cluster, server, name, offered, 2 * options.seconds);
      await server.settled();
      const acknowledged = result.acknowledged;
      const [row] = await sql<{ found: number }[]>`
        SELECT count(*)::int AS found FROM book.withdrawal
        WHERE reference_id = ANY (${acknowledged}::text[])`;
      found.push({
        ...result.figures,
        round,
        idleClients,
        peak: perSecond,
        peakP99: p99,
        offered,
        lost: acknowledged.length - (row?.found ?? 0),
      });
    }
  }
  note("checking the books of overload");
  const [fault] = await booksFaults(sql);
  if (fault !== undefined) {
    throw new Error(`Cannot trust the figures as the books of overload are wrong: ${fault}`);
  }
  return found;
}

async function overload(
  cluster: BenchCluster,
  server: ServerProcess,
  name: string,
  perSecond: number,
  seconds: number,
): Promise<{ readonly figures: OpenResult; readonly acknowledged: readonly string[] }> {
  const folder = await Deno.makeTempDir({ prefix: "engine-overload-" });
  try {
    const { hostname, port } = new URL(server.url);
    const load: OpenLoad = {
      hostname,
      port: Number(port),
      perSecond,
      seconds,
      connections: OPEN_CONNECTIONS,
      name,
      keysFile: cluster.files.spread,
      destinationsFile: cluster.files.destinations,
      acknowledgedFile: join(folder, "acknowledged"),
    };
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...argsOf("open_loop.ts"), JSON.stringify(load)],
    }).output();
    if (!success) {
      throw new Error(
        `Cannot measure as the load generator failed: ${new TextDecoder().decode(stderr)}`,
      );
    }
    const text = await Deno.readTextFile(load.acknowledgedFile);
    return {
      figures: JSON.parse(new TextDecoder().decode(stdout)),
      acknowledged: text.split("\n").filter((line) => line !== ""),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function startIdle(server: ServerProcess, clients: number): Promise<AsyncDisposable> {
  const { hostname, port } = new URL(server.url);
  const asked: IdleClients = { hostname, port: Number(port), clients };
  const child = new Deno.Command(Deno.execPath(), {
    args: [...argsOf("idle_clients.ts"), JSON.stringify(asked)],
    stdout: "piped",
    stdin: "null",
  }).spawn();
  await firstLine(child.stdout);
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

function argsOf(program: string): string[] {
  const path = fileURLToPath(new URL(program, import.meta.url));
  return ["run", "--no-prompt", "--allow-net=127.0.0.1", "--allow-read", "--allow-write", path];
}
