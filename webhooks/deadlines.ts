/**
 * Time-outs of many attempts with few timers: they are rounded up to a grid.
 *
 * @module
 */

/** Distance of two lines of the grid, milliseconds. */
const STEP_MS = 25;

/** A time-out that was set. */
export interface Deadline {
  clear(): void;
}

/** One line of the grid. */
interface Slot {
  readonly due: Set<() => void>;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Time-outs. */
export class Deadlines {
  readonly #slots = new Map<number, Slot>();

  /** Calls after a delay, a little later at most. @param isOver is a function of its own each time */
  set(delayMs: number, isOver: () => void): Deadline {
    const now = performance.now();
    const at = Math.ceil((now + delayMs) / STEP_MS);
    let slot = this.#slots.get(at);
    if (slot === undefined) {
      const timer = setTimeout(() => this.#ring(at), at * STEP_MS - now);
      slot = { due: new Set(), timer };
      this.#slots.set(at, slot);
    }
    const { due } = slot;
    due.add(isOver);
    return { clear: () => due.delete(isOver) };
  }

  /** Forgets all. */
  clear(): void {
    for (const { timer } of this.#slots.values()) clearTimeout(timer);
    this.#slots.clear();
  }

  #ring(at: number): void {
    const slot = this.#slots.get(at);
    this.#slots.delete(at);
    for (const isOver of slot?.due ?? []) isOver();
  }
}
