/**
 * Failures that say more than a category: which call or node they concern, and for how long.
 *
 * @module
 */

import { ChainUnavailable } from "../chain.ts";

/** A failure that also says how long its node wants to be left alone. */
export class RateLimited extends ChainUnavailable {
  constructor(message: string, readonly retryAfterMs: number | null) {
    super("rate-limit", message);
  }
}

/** The node said for how long it answers nothing to this key or address; it is left alone exactly so long. */
export class Suspended extends RateLimited {
  constructor(message: string, override readonly retryAfterMs: number) {
    super(message, retryAfterMs);
  }
}

/** One call went wrong at a node that may be fine for every other one. */
export class CallFailed extends ChainUnavailable {
  /**
   * @param call path and body of the call, or its path where the node does not serve it at all
   * @param isRefusal a well-formed answer that the node could not do it: no sign that the node is broken
   */
  constructor(
    category: ChainUnavailable["category"],
    message: string,
    readonly call: string,
    readonly isRefusal: boolean,
  ) {
    super(category, message);
  }
}

/** The node's operator has closed this API, it is a lite node without that history, or such a call alone is never answered. */
export class NotServed extends CallFailed {
  constructor(message: string, path: string) {
    super("malformed", message, path, true);
  }
}

/** An answer that is longer than any true one, or that no one thread should read: its node is broken, not the one call. */
export class OverlongAnswer extends ChainUnavailable {
  constructor(message: string) {
    super("malformed", message);
  }
}

/** The call was not sent: what may be asked per second left no room for it in time. The node did nothing wrong. */
export class NotAsked extends ChainUnavailable {
  constructor(message: string) {
    super("rate-limit", message);
  }
}

/** A node answers for another chain than the one it is configured for. */
export class WrongChainNode extends ChainUnavailable {
  constructor(message: string) {
    super("malformed", message);
    this.name = "WrongChainNode";
  }
}
