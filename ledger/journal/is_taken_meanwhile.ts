import postgres from "postgres";

const UNIQUE_VIOLATION = "23505";

/**
 * What is there once for all merchants, so that two batches, or two merchants of one, can reach for
 * it at once: the id of an upstream event, a payment of somebody else's wallet, and the transaction
 * that a deposit by hand names.
 */
const TAKEN_ONCE = new Set(["ingested_pkey", "ingested_payment", "deposit_by_hand"]);

/**
 * Whether a write was rolled back because what it takes was taken after its facts were read.
 * Decided again, whoever came second is told so.
 */
export function isTakenMeanwhile(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === UNIQUE_VIOLATION &&
    TAKEN_ONCE.has(error.constraint_name ?? "");
}
