import type { TransferState } from "../../ledger/watcher/pending_deposits.ts";
import { delay } from "../../ledger/database/delay.ts";

/** Transfers whose states one question reads: a transaction may have paid a merchant thousands of times. */
const AT_A_TIME = 100;
/** Pause between two looks at transfers of which none was booked meanwhile, milliseconds: at first, and at most. */
const PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

/** Reads the states of some transfers of a transaction. */
export type ReadStates = (logIndexes: readonly number[]) => Promise<readonly TransferState[]>;

/** Clock of a wait. */
export interface BookingClock {
  /** Milliseconds that never go back. */
  now(): number;
  pause(ms: number): Promise<void>;
}

const SYSTEM_CLOCK: BookingClock = {
  now: () => performance.now(),
  pause: delay,
};

/** The transfers that are not booked, found a hundred at a time. */
export async function findUnbooked(
  read: ReadStates,
  logIndexes: readonly number[],
): Promise<readonly number[]> {
  const open: number[] = [];
  for (let from = 0; from < logIndexes.length; from += AT_A_TIME) {
    const states = await read(logIndexes.slice(from, from + AT_A_TIME));
    open.push(...states.filter(({ booked }) => !booked).map(({ logIndex }) => logIndex));
  }
  return open;
}

/**
 * Waits until transfers are booked. A look reads the first hundred that are left, however many there are,
 * and the pause before the next one grows while none of them is booked.
 *
 * @param boundMs the longest wait
 * @returns `booked`; `open` where some were not in time; or the state of one that is quarantined and waits for
 * more than the decision on a deposit booked by hand, which goes on once that came to nothing
 */
export async function awaitBooking(
  read: ReadStates,
  logIndexes: readonly number[],
  boundMs: number,
  clock: BookingClock = SYSTEM_CLOCK,
): Promise<"booked" | "open" | TransferState> {
  const deadline = clock.now() + boundMs;
  let left = logIndexes;
  let pauseMs = PAUSE_MS;
  while (clock.now() < deadline) {
    const looked = left.slice(0, AT_A_TIME);
    const open = (await read(looked)).filter(({ booked }) => !booked);
    const aside = open.find(({ quarantine }) => quarantine?.startsWith("claimed:") === false);
    if (aside !== undefined) return aside;
    left = [...open.map(({ logIndex }) => logIndex), ...left.slice(looked.length)];
    if (left.length === 0) return "booked";
    if (open.length === 0) continue;
    pauseMs = open.length < looked.length ? PAUSE_MS : Math.min(1.5 * pauseMs, LONGEST_PAUSE_MS);
    await clock.pause(pauseMs);
  }
  return "open";
}
