/** Time for which a request that a fault leaves without answer is held. */
const SILENCE_MS = 60_000;

/** Holds a request that a fault leaves without answer, until it or the server ends. */
export function silence(ended: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, SILENCE_MS);
  const end = () => {
    clearTimeout(timer);
    resolve();
  };
  if (ended.aborted) end();
  else ended.addEventListener("abort", end, { once: true });
  return promise;
}
