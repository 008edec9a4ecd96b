/**
 * Waits for work, up to a bound; the work goes on after it.
 *
 * @param boundMs milliseconds
 * @returns whether it ended in time
 * @throws what the work throws in time
 */
export async function within(boundMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const bound = new Promise<false>((resolve) => timer = setTimeout(() => resolve(false), boundMs));
  try {
    return await Promise.race([work.then(() => true), bound]);
  } finally {
    clearTimeout(timer);
  }
}
