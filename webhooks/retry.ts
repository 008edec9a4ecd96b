/**
 * When a delivery that was not acknowledged is tried again.
 *
 * @module
 */

/** Wait before the first retry, in milliseconds. */
const FIRST_DELAY_MS = 1_000;

/** Longest wait between two attempts, in milliseconds. */
const LONGEST_DELAY_MS = 30_000;

const JITTER = 0.1;

/**
 * Wait after a failed attempt: 1 s, doubling, at most 30 s, with up to 10 % added so that the
 * retries of many events do not arrive together; never more than 30 s.
 *
 * @param failedAttempts how many attempts have failed so far, at least 1
 * @param random a number in [0, 1)
 * @returns whole milliseconds
 */
export function retryDelayMs(failedAttempts: number, random: number): number {
  // Past the cap the exponent is of no interest, and 2 ** 1100 would be Infinity.
  const doublings = Math.min(Math.max(failedAttempts, 1) - 1, 10);
  const base = Math.min(FIRST_DELAY_MS * 2 ** doublings, LONGEST_DELAY_MS);
  return Math.min(Math.floor(base * (1 + JITTER * random)), LONGEST_DELAY_MS);
}

/**
 * True if another attempt follows.
 *
 * @param attempts attempts made so far
 * @param retryCount retries the merchant wants after the first attempt
 */
export function isRetried(attempts: number, retryCount: number): boolean {
  return attempts <= retryCount;
}
