/**
 * When an endpoint that does not acknowledge is paused, and how often it is probed then.
 *
 * @module
 */

/** Times of a pause, milliseconds. */
export interface EndpointPolicy {
  /** How long an endpoint acknowledges nothing before it is paused. */
  readonly pauseAfterMs: number;
  /** From the pause to the first probe; each further wait is twice as long. */
  readonly firstProbeMs: number;
  /** Longest wait between two probes. */
  readonly longestProbeMs: number;
}

/**
 * An outage of a few minutes pauses nobody: its events go through their retries, and what runs out
 * of them is sent once more after the recovery.
 */
export const ENDPOINT_POLICY: EndpointPolicy = {
  pauseAfterMs: 5 * 60_000,
  firstProbeMs: 30_000,
  longestProbeMs: 10 * 60_000,
};
