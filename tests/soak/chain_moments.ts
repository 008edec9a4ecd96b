import { delay } from "../../ledger/database/delay.ts";
import type { Progress } from "./chain_customers.ts";
import { count, type Done } from "./chain_troubles.ts";
import type { SoakWorld } from "./chain_world.ts";

/** Something that is done when a share of the work is. */
export interface Moment {
  readonly what: string;
  /** Share of the work, from 0 to 1. */
  readonly at: number;
}

/** Shares of the work, spread evenly and then moved at random. */
export function momentsOf(what: string, times: number, draw: () => number): readonly Moment[] {
  return Array.from({ length: times }, (_, n) => ({ what, at: (n + draw()) / times * 0.97 }));
}

/** Does something at each of its moments, one after the other, while there is work. */
export async function atMoments(
  { options }: SoakWorld,
  progress: Progress,
  signal: AbortSignal,
  done: Done,
  moments: readonly Moment[],
  act: (what: string) => Promise<void>,
): Promise<void> {
  const all = options.deposits + options.payouts;
  for (const { what, at } of moments.toSorted((a, b) => a.at - b.at)) {
    while (progress.paid + progress.asked < at * all) {
      if (signal.aborted) return;
      await delay(20);
    }
    await act(what);
    count(done, what);
  }
}
