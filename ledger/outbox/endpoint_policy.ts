/**
 * When an endpoint that does not acknowledge is paused, and how often it is probed then.
 *
 * @module
 */

/** Times of a pause, milliseconds. */
export interface EndpointPolicy {
  /** How long an endpoint acknowledges nothing before it is paused. */
  readonly pauseAfterMs: number;
  /** From one probe of a paused endpoint to the next, while an event waits for it. */
  readonly waitingProbeMs: number;
  /** From the failure to the first probe with a failed event; each further wait is twice as long. */
  readonly firstProbeMs: number;
  /** Longest wait between two probes with failed events. */
  readonly longestProbeMs: number;
}

/**
 * An outage of a few minutes pauses nobody: its events go through their retries, and what runs out
 * of them is sent once more after the recovery. Probes with what waits do not grow rarer: the wait
 * between two is how late a new event may be once the endpoint answers again.
 */
export const ENDPOINT_POLICY: EndpointPolicy = {
  pauseAfterMs: 5 * 60_000,
  waitingProbeMs: 30_000,
  firstProbeMs: 30_000,
  longestProbeMs: 10 * 60_000,
};
