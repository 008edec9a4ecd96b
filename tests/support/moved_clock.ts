/** The clock of waits, `performance.now`, set forward by a test. */
export interface MovedClock extends Disposable {
  advance(ms: number): void;
}

/** The same clock, standing still. */
export interface StoppedClock extends Disposable {
  /** Lets it go on, from where it would be. */
  goOn(): void;
}

/** Lets a test pass time that nothing has to be waited for; until it is disposed of. */
export function movedClock(): MovedClock {
  const { now } = performance;
  let ahead = 0;
  performance.now = () => now.call(performance) + ahead;
  return {
    advance: (ms) => {
      ahead += ms;
    },
    [Symbol.dispose]: () => {
      performance.now = now;
    },
  };
}

/**
 * Lets the clock of waits run so many times as fast: what rests for a while by it is tried again sooner.
 * Timers of the system, and so the bounds of what is asked over a network, keep their length.
 */
export function fastClock(times: number): Disposable {
  const { now } = performance;
  const since = performance.now();
  performance.now = () => since + (now.call(performance) - since) * times;
  return {
    [Symbol.dispose]: () => {
      performance.now = now;
    },
  };
}

/** Stops the clock of waits: what is bounded by it neither ends nor begins. */
export function stoppedClock(): StoppedClock {
  const { now } = performance;
  const stoppedAt = performance.now();
  performance.now = () => stoppedAt;
  const goOn = () => {
    performance.now = now;
  };
  return { goOn, [Symbol.dispose]: goOn };
}
