/** Connections by what they are for. */
export interface PoolShares {
  readonly actors: number;
  readonly requests: number;
  readonly reads: number;
  readonly operators: number;
}

/**
 * Shares the configured connections out. Half of them are the actors', whose work is never refused;
 * a merchant's list may be, so lists wait for fewer.
 *
 * @param connections all of them, 8 or more
 */
export function sharePool(connections: number): PoolShares {
  const reads = Math.floor(connections / 4);
  const requests = Math.max(Math.floor(connections / 8), 1);
  const operators = Math.max(Math.floor(connections / 8), 1);
  return { actors: connections - reads - requests - operators, requests, reads, operators };
}
