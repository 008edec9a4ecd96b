/**
 * Kinds of transactions that leave the wallets of the service; nothing else lists them but the schema.
 *
 * @module
 */

/**
 * `gas`: the chain's coin for an address. `delegation`: what is delegated to one, `reclaim`: what is undelegated.
 * `setup`: a transaction that the hot wallet sends once before it can send sweeps, such as the creation of their
 * contract; it moves nothing.
 */
export const TRANSFER_KINDS = [
  "payout",
  "settlement",
  "sweep",
  "gas",
  "delegation",
  "reclaim",
  "cold",
  "setup",
] as const;
/** One of {@linkcode TRANSFER_KINDS}. */
export type TransferKind = (typeof TRANSFER_KINDS)[number];
