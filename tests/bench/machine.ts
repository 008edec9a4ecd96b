/**
 * The machine on which the figures were measured.
 *
 * @module
 */

import { join } from "node:path";
import type { Sql } from "../../ledger/database/connect.ts";
import { median } from "./statistics.ts";

/** Facts that a figure means nothing without. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly system: string;
  /** Processes that wanted a core in the last minute before the bench began. */
  readonly loadBefore: number;
  readonly deno: string;
  readonly postgres: string;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
  readonly sharedBuffers: string;
  /** Median time of one 8 kB write with fdatasync in the cluster's folder, milliseconds; null: unknown. */
  readonly flushMs: number | null;
}

/** Looks at machine and server. `folder` is the cluster's; null: of a server elsewhere. */
export async function describeMachine(sql: Sql, folder: string | null): Promise<Machine> {
  const [row] = await sql<Record<string, string>[]>`
    SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS commit, current_setting('full_page_writes') AS pages,
      current_setting('shared_buffers') AS buffers`;
  return {
    cores: navigator.hardwareConcurrency,
    processor: await processorName(),
    system: `${Deno.build.os} ${Deno.osRelease()}`,
    loadBefore: Deno.loadavg()[0] ?? 0,
    deno: Deno.version.deno,
    postgres: row?.["version"] ?? "?",
    fsync: row?.["fsync"] ?? "?",
    synchronousCommit: row?.["commit"] ?? "?",
    fullPageWrites: row?.["pages"] ?? "?",
    sharedBuffers: row?.["buffers"] ?? "?",
    flushMs: folder === null ? null : await flushTime(folder),
  };
}

async function processorName(): Promise<string> {
  try {
    const text = await Deno.readTextFile("/proc/cpuinfo");
    return /^model name\s*: (.+)$/m.exec(text)?.[1] ?? Deno.build.arch;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return Deno.build.arch;
    throw error;
  }
}

async function flushTime(folder: string): Promise<number> {
  const path = join(folder, "bench-flush");
  const page = new Uint8Array(8_192).fill(7);
  const times: number[] = [];
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  for (let i = 0; i < 100; i++) {
    await file.seek(0, Deno.SeekMode.Start);
    await file.write(page);
    const started = performance.now();
    await file.syncData();
    times.push(performance.now() - started);
  }
  await Deno.remove(path);
  return median(times);
}
