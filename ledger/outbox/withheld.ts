/** Outcome of an event of a deposit under 1 USD, which is listed as SKIPPED and never sent by itself. */
export const UNDER_ONE_USD = "under_1_usd";
