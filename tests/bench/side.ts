/**
 * The programs that are measured against each other.
 *
 * @module
 */

/** Implementations behind `POST /api/withdrawals`. */
export const SIDES = {
  /** A: `SELECT ... FOR UPDATE`, seven round trips, one transaction per request. */
  row_lock: "A  row lock, one transaction per request",
  /** B: the same in one stored function, one round trip per request. */
  stored_function: "B  stored function, one per request",
  /** D: the service's journal. */
  journal: "D  the engine",
  /** D where each flush takes 2 ms longer, as on the disks of clouds. */
  journal_slow_disk: "D  the engine, every flush 2 ms longer",
  /** F: Hono, JSON and zod, no key and no database. */
  http: "F  HTTP ceiling, no database",
} as const;

/** One of {@linkcode SIDES}. */
export type Side = keyof typeof SIDES;

/** Arguments of `serve.ts`, as JSON in its only argument. */
export interface ServeArgs {
  readonly side: Side;
  readonly databaseUrl: string;
  /** Connections of a baseline; the journal has the service's own pools. */
  readonly pool: number;
  /** True where the service's own listener is in front, with its bounds; default false. */
  readonly behindDoor?: boolean;
}

/** First line that `serve.ts` prints, as JSON. */
export interface Serving {
  /** URL of the interface. */
  readonly url: string;
  /** URL of {@linkcode Figures}. */
  readonly figuresUrl: string;
}

/** Figures that a serving process reports of itself. */
export interface Figures {
  /** Answers with status 201 so far. */
  readonly created: number;
  /** Requests that are being answered. */
  readonly inFlight: number;
  /** Processor time of the process so far, microseconds. */
  readonly cpuUs: number;
  /** Batches of the journal so far. */
  readonly batches: number;
  /** Resident memory of the process, bytes. */
  readonly memory: number;
}
