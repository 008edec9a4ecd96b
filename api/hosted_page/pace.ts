/** How often an open page asks how its payment stands, milliseconds. */
export const PACE = {
  /** After opening the page, and after every change. */
  first: 2_000,
  /** Each answer without news makes the pause this many times longer. */
  growth: 1.25,
  /** The longest pause while the page's time lasts. */
  most: 8_000,
  /** The longest pause while the service cannot be reached, and once the page's time is over. */
  patient: 30_000,
  /** Bound of one request. */
  timeout: 10_000,
} as const;

/**
 * How long a poll waits for others to be answered by the same reads of the database, milliseconds.
 * Nobody notices it, and a thousand open pages cost the database a third less.
 */
export const POLL_LINGER_MS = 50;
