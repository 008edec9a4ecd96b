let clock: () => number = Date.now;

/** The time that blocks are compared with, Unix milliseconds. */
export function blockTime(): number {
  return clock();
}

/**
 * Makes blocks be compared with a clock, Unix milliseconds. By a machine's own clock that is set back, the newest block of every
 * node would be one of the future, and nothing would be read any more.
 */
export function blocksFollow(now: () => number): void {
  clock = now;
}
