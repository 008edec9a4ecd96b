/** The lanes of a network as of the last poll. */
export interface LaneState {
  /** Reason of the hot wallet's lane for which nothing is signed; null: there is none. */
  readonly stopped: string | null;
  /** Deposit addresses whose lanes are closed, as their nonces are not those of the books. */
  readonly closed: number;
  /** Nonces that are promised and that no solid block has used. */
  readonly open: number;
  /** Those of them that no block shows. */
  readonly unseen: number;
  /** Time since the lowest of the hot wallet's was promised, milliseconds; null: none is open. */
  readonly lowestAgeMs: number | null;
  /** Transactions that wait as fees are above the cap. */
  readonly capped: number;
  /** Transactions that were replaced since the start. */
  readonly replaced: number;
}
