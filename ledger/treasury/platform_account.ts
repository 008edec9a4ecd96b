/**
 * The account that transfers of the house itself belong to: sweeps, their gas, what goes to the cold
 * wallet. It is no merchant, has no balances and no inbox; the schema ties the id to those kinds.
 */
export const PLATFORM_ACCOUNT = "mer_platform";
