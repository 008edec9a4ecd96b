/**
 * Bounds of TRON's transactions.
 *
 * @module
 */

/** Lifetime of the service's transactions in block time: short enough to prove expiry soon. */
export const LIFETIME_MS = 300_000;
/** The same on a development chain. */
export const DEVELOPMENT_LIFETIME_MS = 30_000;
/** The signer refuses when block time is further behind its clock: a node that lies or hangs. */
export const CLOCK_TOLERANCE_MS = 600_000;
