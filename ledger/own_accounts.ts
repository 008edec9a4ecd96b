/**
 * The account that the service's own transfers belong to: sweeps, their gas, what goes to the cold
 * wallet. It is no merchant, has no balances and no inbox; the schema ties the id to those kinds.
 */
export const PLATFORM_ACCOUNT = "mer_platform";

/**
 * The account that lost addresses belong to: handed out, and forgotten by the restore of an older
 * copy of the database. It is no merchant, has no balances, and consumes nothing.
 */
export const LOST_ACCOUNT = "mer_lost";
/** The reason for which a payment to such an address waits; the schema ties it to the account. */
export const LOST_REASON = "lost: the address was handed out after the restored copy was made";
