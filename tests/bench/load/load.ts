/**
 * Closed-loop load over HTTP/1.1: every connection sends its next request when it has the answer.
 *
 * @module
 */

import { hasWrk, runWrk } from "./wrk.ts";
import { runOwnGenerator } from "./own_generator.ts";

/** Requests to send. */
export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Begins every reference, so that no run repeats another's. */
  readonly name: string;
  /** File with one API key per line, used in turn. */
  readonly keysFile: string;
  /** File with one destination per line, used in turn. */
  readonly destinationsFile: string;
}

/** Figures of the answers. */
export interface LoadResult {
  /** Answers in all. */
  readonly answers: number;
  /** Answers that were not 2xx. */
  readonly refused: number;
  /** Requests without an answer: no connection, broken, timed out. */
  readonly broken: number;
  readonly seconds: number;
  /** Latencies, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** A load generator: always a process of its own. */
export interface Generator {
  readonly name: string;
  run(load: Load): Promise<LoadResult>;
}

/**
 * wrk where it is installed, otherwise the bench's own.
 *
 * @param own asks for the bench's own in any case
 */
export async function chooseGenerator(own: boolean): Promise<Generator> {
  if (!own && await hasWrk()) return { name: "wrk", run: runWrk };
  const reason = own ? "as asked for" : "wrk is not installed";
  return { name: `own generator (${reason})`, run: runOwnGenerator };
}
