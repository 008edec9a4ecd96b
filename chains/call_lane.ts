import { AsyncLocalStorage } from "node:async_hooks";

const asked = new AsyncLocalStorage<true>();

/**
 * Asks a chain for a request from outside. Its calls are sent where payouts, scan and head view leave
 * room, and take a part of a node's calls per second at most. Only for the question itself: what it
 * has others do, such as waking an actor, would be taken for the request's own.
 */
export function askForRequest<T>(ask: () => Promise<T>): Promise<T> {
  return asked.run(true, ask);
}

/** True while the running code serves a request from outside. */
export function isAskedByRequest(): boolean {
  return asked.getStore() === true;
}
