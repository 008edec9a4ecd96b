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
 * Least time from one read of the polls' answers to the next, milliseconds. A poll that comes alone
 * is answered at once; a thousand open pages ask 125 times a second and are answered by five reads.
 * Nobody notices a fifth of a second where pages ask every 2 to 8, and it halves what they cost.
 */
export const POLL_SPACING_MS = 200;
