/** Why an address with something to sweep is not swept, as programs read it. */
export const SWEEP_REASONS = [
  /** A sweep of it waits for its signature or for its block. */
  "in_flight",
  /** Coin or energy for it is on its way. */
  "waiting_gas",
  /** The same, and the chain does not know the address before that. */
  "address_not_activated",
  /** Energy that was lent to it is being taken back. */
  "reclaiming",
  /** No node tells what it holds, or what its sweep would cost. */
  "chain_unavailable",
  /** Sweeping costs more than it is worth. */
  "below_economics",
  /** Nobody knows what the chain's coin is worth, so not whether it pays. */
  "no_rate",
  /** Sweeps of the network are switched off. */
  "paused",
  /** The network has no contract of the currency configured. */
  "unsupported",
  /** What should be there is not there in solid blocks (yet); what comes later is swept all the same. */
  "balance_differs",
  /** The node says that the transfer would fail. */
  "would_fail",
  /** It failed, and is tried again after a while. */
  "failed",
  /** A sweep succeeded without the transfer that was intended: for the operator. */
  "unexpected",
  /** Its merchant has not booked what was carried (its pair takes no deposits now, say). */
  "deposit_held",
] as const;
/** One of {@linkcode SWEEP_REASONS}. */
export type SweepReason = (typeof SWEEP_REASONS)[number];
