/** First port below those that systems hand out by themselves (Linux: from 32,768 on), and how many are looked at. */
const FIRST = 20_000;
const COUNT = 12_000;
/** Tries before the system is asked after all. */
const MOST_TRIES = 100;

/**
 * A port of the loopback interface that is free now, and that the system gives to no program by itself: it
 * is still free when it is bound a moment later, or after a restart.
 */
export function freePort(): number {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (isFree(port)) return port;
  }
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** True if a port of the loopback interface can be bound now. */
export function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
