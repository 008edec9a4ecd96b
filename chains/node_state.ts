/**
 * The nodes of a network, as operators, metrics and the composition root see them.
 *
 * @module
 */

/** Calls to one node, counted by day (UTC). */
export interface CallCounter {
  /** Takes what was counted since the last time, to be added to the count of all services. */
  take(): { readonly day: string; readonly calls: number };
  /** Learns the count of all services; one of another day is of no use. */
  learn(day: string, total: number): void;
  /** Gives back what could not be handed over. */
  giveBack(day: string, calls: number): void;
}

/** The nodes of a network. */
export interface NetworkNodes {
  /** In their configured order. */
  readonly states: readonly NodeState[];
  /** Counters of calls by node. */
  readonly meters: ReadonlyMap<string, CallCounter>;
  /** Id of the chain's first block, as nodes say or as was expected; null while no node has said it. */
  readonly genesis: string | null;
  /** Fixes the chain; nodes of another one are not believed from then on. */
  expect(genesis: string): void;
}

/** State of one node; for pace, metrics and operators. */
export interface NodeState {
  /** Host and port; a path or credentials in its URL may be secret. */
  readonly name: string;
  /**
   * `cooling-down`: left alone after a failure. `quota-used-up`: no calls are left today, so it is asked
   * last. `wrong-chain`: it is of another chain, or has another block in place of the newest solid one that
   * was read, and is not believed.
   */
  readonly state: "ready" | "cooling-down" | "quota-used-up" | "wrong-chain";
  /** Remaining time for which it is left alone, milliseconds. */
  readonly coolDownMs: number;
  /** The part of it for which it answers nothing, as it said itself, milliseconds. */
  readonly suspendedMs: number;
  /** Calls per second that it is sent at most now, null without a bound. */
  readonly callsPerSecond: number | null;
  /** Single calls that it could not answer and is not asked now, while it is asked all others. */
  readonly coolingCalls: number;
  /** Paths that it said it does not serve, or that alone it never answers: a lite node, or an API that its operator has closed. */
  readonly unserved: readonly string[];
  /** Calls of this day (UTC). */
  readonly callsToday: number;
  /** Calls per day that its provider allows, null without a bound. */
  readonly dailyCalls: number | null;
  /** Its last failure since it last answered, null while it answers. */
  readonly failure: string | null;
}
