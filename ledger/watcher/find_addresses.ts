import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** Whose an address is. */
export interface AddressOwner {
  readonly address: string;
  readonly merchantId: string;
  readonly addressId: string;
}

/**
 * Which addresses are ours, of those that events name. One query whatever their number, by the
 * index of their keys, so that the number of issued addresses does not matter: a key is a number,
 * since among a million whole texts a look-up takes twice as long. The keys are an array of a query
 * of its own, which hides how many they are from the planner: by that it would read the whole table
 * for them.
 *
 * @param keys `textKey` of each address in the form in which the network's events carry it
 *   (`Transfer.eventTo`); `hub.text_key` makes the same
 * @returns owners by that form; among them strangers that share a key with what was asked for
 */
export async function findAddresses(
  sql: Sql,
  network: Network,
  keys: readonly number[],
): Promise<ReadonlyMap<string, AddressOwner>> {
  if (keys.length === 0) return new Map();
  const array = `{${keys.join(",")}}`;
  const rows = await sql<(AddressOwner & { readonly eventAddress: string })[]>`
    SELECT address, event_address AS "eventAddress", merchant_id AS "merchantId",
      address_id AS "addressId"
    FROM hub.address WHERE network = ${network}
      AND hub.text_key(event_address) = ANY ((SELECT ${array}::text::integer[])::integer[])`;
  return new Map(rows.map((row) => [row.eventAddress, row]));
}
