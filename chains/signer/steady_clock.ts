/**
 * A clock that cannot be set while the process lives: it begins where the machine's own stood at the
 * start and goes on by the time that has passed. A machine's clock that is ahead for a moment ends no
 * day of a cap, and no life of a signature.
 *
 * @param wall the machine's own clock, Unix milliseconds
 * @param monotonic a clock that is never set, milliseconds
 * @returns Unix milliseconds
 */
export function steadyClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  const start = wall() - monotonic();
  return () => Math.floor(start + monotonic());
}
