/**
 * Answers that several subjects give before their own rules: an unknown merchant or field, a reversed
 * range of dates, a chain in doubt, addresses that may not be handed out.
 *
 * @module
 */

import type { IssuedAddress } from "../../actors/addresses/address_guard.ts";
import type { ChainInDoubt } from "../../actors/watcher/chain_in_doubt.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readMerchant } from "../../ledger/merchants.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { Answer } from "./answer.ts";
import type { ApiContext } from "./context.ts";
import { invalidField, notFound, unavailable, validationFailed } from "./errors.ts";
import type { Caller } from "./permission.ts";

/**
 * The 404 for a merchant that an administrator names and that does not exist; otherwise null. A
 * merchant's own key cannot name another.
 */
export async function refuseUnknownMerchant(
  sql: Sql,
  caller: Caller,
  merchantId: string,
): Promise<Answer | null> {
  if (caller.merchantId === merchantId) return null;
  return await readMerchant(sql, merchantId) === null ? notFound : null;
}

/** The 400 for the first field that an administrator sent and the route does not know, otherwise null. */
export function refuseUnknownFields(
  caller: Caller,
  body: object,
  known: Readonly<Record<string, unknown>>,
): Answer | null {
  if (caller.role !== "ADMIN") return null;
  const unknown = Object.keys(body).find((field) => !Object.hasOwn(known, field));
  return unknown === undefined
    ? null
    : invalidField(unknown, "There is no such field", "unrecognized_keys");
}

/** The Idempotency-Key of a request, null without; the 400 for one that is malformed. */
export function readIdempotencyKey(headers: Headers): string | null | Answer {
  const key = headers.get("idempotency-key");
  if (key === null || /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  return invalidField("Idempotency-Key", "Expected 1 to 255 ASCII characters", "invalid_string");
}

/** The two ends, Unix milliseconds; `endDate` is excluded. */
export interface DateRange {
  readonly startDate?: number | undefined;
  readonly endDate?: number | undefined;
}

/** The 422 for a range that ends before it starts, otherwise null. */
export function refuseReversed(range: DateRange): Answer | null {
  const { startDate, endDate } = range;
  if (startDate === undefined || endDate === undefined || startDate < endDate) return null;
  return validationFailed("endDate", "The range ends before it starts", "reversed_range");
}

/** The reason for which the scan of a network does not go on, as far as this service knows; null while it does. */
export function whyStopped({ scanOf }: Pick<ApiContext, "scanOf">, network: Network) {
  return scanOf?.(network).status?.stopped ?? null;
}

/** 503: no node of the network can be believed now. The merchant does not learn the reason. */
export function cannotBelieve(network: Network): Answer {
  return unavailable(`Blocks of ${network} cannot be relied on just now; nothing was credited.`);
}

/**
 * 503 for staff, with the reason.
 *
 * @param done what was done all the same, as the beginning of a sentence
 */
export function cannotBelieveAs({ reason }: ChainInDoubt, done = "Nothing was done"): Answer {
  return unavailable(`${done}, as the chain cannot be relied on: ${reason}`);
}

/**
 * Checks that addresses of a merchant may be part of an answer; asked without any before an address is made.
 *
 * @returns the answer to give instead, 503; null where they may
 */
export async function withheld(
  { addresses, doneReading }: Pick<ApiContext, "addresses" | "doneReading">,
  merchantId: string,
  given: readonly IssuedAddress[] = [],
): Promise<Answer | null> {
  // comparing takes up to ten seconds and no connection: other lists are read meanwhile
  if (given.length > 0) doneReading?.();
  const clearance = await addresses.clears(merchantId, given);
  switch (clearance) {
    case "cleared":
      return null;
    case "refused":
      return unavailable(
        "Addresses cannot be handed out at the moment; the operator was told why.",
      );
    case "busy":
      return unavailable(
        "Too many addresses are being compared with the wallet; ask again, what was done is kept.",
      );
    default: {
      const never: never = clearance;
      return never;
    }
  }
}
