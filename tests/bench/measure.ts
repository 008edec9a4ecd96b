/**
 * One measurement: load on one side, and whether what was acknowledged is really there.
 *
 * @module
 */

import type { Sql } from "../../ledger/database/connect.ts";
import type { BenchCluster } from "./bench_cluster.ts";
import type { Generator } from "./load/load.ts";
import { serverTimeUs } from "./processor_time.ts";
import type { ServerProcess } from "./server_process.ts";
import type { Side } from "./side.ts";

/** Everybody pays from one account, or each from its own. */
export type Case = "hot" | "spread";

/** One case on one side, to be measured. */
export interface Task {
  readonly side: Side;
  /** Name of the database; by default that of the side. */
  readonly database?: string;
  readonly case: Case;
  readonly connections: number;
  readonly seconds: number;
  readonly round: number;
}

/** A task with its figures. */
export interface Measurement extends Task {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor time per withdrawal: serving process, and PostgreSQL (null: unknown). */
  readonly serverUs: number;
  readonly databaseUs: number | null;
  /** Mean size of the journal's batches; 1 for the baselines. */
  readonly batch: number;
  /** Resident memory of the serving process afterwards, megabytes. */
  readonly memoryMb: number;
}

/** Databases by name, and what the load generator sends. */
export type Place = Pick<BenchCluster, "database" | "files" | "pid">;

let runs = 0;

/**
 * Measures one side.
 *
 * @throws when anything was refused or lost, or when rows and answers differ
 */
export async function measure(
  cluster: Place,
  generator: Generator,
  server: ServerProcess,
  task: Task,
): Promise<Measurement> {
  const { sql } = await cluster.database(task.database ?? task.side);
  const before = await server.settled();
  const newest = await newestId(sql);
  const databaseBefore = await serverTimeUs(cluster.pid);
  const result = await generator.run({
    url: server.url,
    connections: task.connections,
    seconds: task.seconds,
    name: `run-${crypto.randomUUID().slice(0, 8)}-${++runs}`,
    keysFile: cluster.files[task.case],
    destinationsFile: cluster.files.destinations,
  });
  const after = await server.settled();
  const databaseAfter = await serverTimeUs(cluster.pid);
  const what = `${task.side} ${task.case} at ${task.connections} connections`;
  if (result.refused + result.broken > 0) {
    throw new Error(
      `Cannot compare as requests failed: ${result.refused} refused, ${result.broken} without an answer, of ${what}`,
    );
  }
  // requests under way when the generator hung up are answered, but it counts no answer to them
  const created = after.created - before.created;
  if (created < result.answers || created > result.answers + task.connections) {
    throw new Error(
      `Cannot compare as answers differ: ${created} sent, ${result.answers} received, of ${what}`,
    );
  }
  const rows = await countNewer(sql, newest);
  if (task.side !== "http" && rows !== created) {
    throw new Error(
      `Cannot compare as answers and rows differ: ${created} answers 201, ${rows} rows, of ${what}`,
    );
  }
  return {
    ...task,
    perSecond: result.answers / result.seconds,
    p50: result.p50,
    p99: result.p99,
    serverUs: (after.cpuUs - before.cpuUs) / created,
    databaseUs: databaseBefore === null || databaseAfter === null
      ? null
      : (databaseAfter - databaseBefore) / created,
    batch: after.batches === before.batches ? 1 : created / (after.batches - before.batches),
    memoryMb: after.memory / 1e6,
  };
}

/** Ids sort by creation, so that new rows are counted at the same cost however many there are. */
async function newestId(sql: Sql): Promise<string> {
  const [row] = await sql<{ id: string | null }[]>`SELECT max(id) AS id FROM book.withdrawal`;
  return row?.id ?? "";
}

async function countNewer(sql: Sql, id: string): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM book.withdrawal WHERE id > ${id}`;
  return row?.n ?? 0;
}
