/**
 * The same work, begun anew only after it ended: who asks meanwhile gets what is under way. What hangs
 * then takes no more than its own connection, however often it is asked for.
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null;
  return () =>
    underWay ??= work().finally(() => {
      underWay = null;
    });
}
