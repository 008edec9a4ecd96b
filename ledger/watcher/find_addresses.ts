import type { Sql } from "postgres";
import type { Network } from "../pair.ts";

/** Whose an address is. */
export interface AddressOwner {
  readonly address: string;
  readonly merchantId: string;
  readonly addressId: string;
}

/**
 * Which addresses are ours, of those that events name. One query whatever their number, by unique
 * key, so that the number of issued addresses does not matter. Thousands are sent as one text: to
 * quote each of them for an array costs the service three times as much. No network's address holds
 * a comma. They are an array of a query of its own, which hides their number from the planner: by
 * that it would read the whole table for them.
 *
 * @param eventAddresses in the form in which the network's events carry them (`Transfer.eventTo`)
 * @returns their owners, by the same form
 */
export async function findAddresses(
  sql: Sql,
  network: Network,
  eventAddresses: readonly string[],
): Promise<ReadonlyMap<string, AddressOwner>> {
  if (eventAddresses.length === 0) return new Map();
  const rows = await sql<(AddressOwner & { readonly eventAddress: string })[]>`
    SELECT address, event_address AS "eventAddress", merchant_id AS "merchantId",
      address_id AS "addressId"
    FROM hub.address WHERE network = ${network}
      AND event_address = ANY ((SELECT string_to_array(${eventAddresses.join(",")}, ','))::text[])`;
  return new Map(rows.map((row) => [row.eventAddress, row]));
}
