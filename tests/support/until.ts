/** Time that a condition may take on a slow and busy machine. */
const BOUND_MS = 120_000;
/** The real clock, also in a test that has moved or stopped it. */
const now = performance.now.bind(performance);

/** Waits for a condition, for as long as a slow machine may need. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = now() + BOUND_MS;
  while (!await condition()) {
    if (now() > end) {
      throw new Error(`Cannot go on as a condition did not come true in ${BOUND_MS} ms`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
