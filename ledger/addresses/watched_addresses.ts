import type { Sql } from "postgres";
import { isLocked } from "../database/database_errors.ts";
import type { Network } from "../money/pair.ts";

/** An address about to be handed out. */
export interface WatchedAddress {
  readonly address: string;
  readonly network: Network;
  readonly merchantId: string;
  readonly addressId: string;
  readonly walletIndex: number;
}

/** Makes addresses known to the watcher; must be durable before one of them is returned to a merchant. */
export async function watchAddresses(
  sql: Sql,
  addresses: readonly WatchedAddress[],
): Promise<void> {
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    SELECT * FROM unnest(
      ${addresses.map((row) => row.address)}::text[], ${
    addresses.map((row) => row.network)
  }::text[],
      ${addresses.map((row) => row.merchantId)}::text[], ${
    addresses.map((row) => row.addressId)
  }::text[],
      ${addresses.map((row) => row.walletIndex)}::int[])`;
}

/**
 * Takes the next derivation indexes of a network; they are never taken again, used or not.
 *
 * @param waitMs for the network's row while another transaction holds it
 * @returns the first of them; `held` where the row was not let go of in time; null, and none is taken,
 *   while the database continues another history than before (those that come next may have been handed
 *   out in the lost one), or while no signer has attested the wallet
 * @throws when the network has no wallet
 */
export async function takeIndexes(
  sql: Sql,
  network: Network,
  count: number,
  waitMs = 1_000,
): Promise<number | "held" | null> {
  let taken: { readonly first: number }[];
  try {
    taken = await sql.begin(async (tx) => {
      await tx`SELECT set_config('lock_timeout', ${`${waitMs}ms`}, true)`;
      return await tx<{ first: number }[]>`
        UPDATE hub.wallet SET next_index = next_index + ${count}
        WHERE network = ${network} AND attested_at IS NOT NULL AND NOT hub.is_other_history()
        RETURNING next_index - ${count} AS first`;
    });
  } catch (error) {
    if (isLocked(error)) return "held";
    throw error;
  }
  const [row] = taken;
  if (row === undefined) {
    const known = await sql`SELECT FROM hub.wallet WHERE network = ${network}`;
    if (known.length > 0) return null;
    throw new Error(`Cannot take derivation indexes as the network has no wallet: ${network}`);
  }
  return row.first;
}

/**
 * The index of each network that is taken next; those below were taken. None where the database continues another history than
 * was found last: it lacks some then, and a hold jumps over them first.
 */
export async function readNextIndexes(sql: Sql): Promise<ReadonlyMap<Network, number>> {
  const rows = await sql<{ network: Network; next: number }[]>`
    SELECT network, next_index AS next FROM hub.wallet WHERE NOT (SELECT hub.is_other_history())`;
  return new Map(rows.map(({ network, next }) => [network, next]));
}

/** The merchant of an address. */
export interface AddressOwner {
  readonly address: string;
  readonly merchantId: string;
  readonly addressId: string;
}

/**
 * Own addresses among those that events name. One query whatever their number, by the
 * index of their keys, so that the number of issued addresses does not matter: a key is a number,
 * since among a million whole texts a look-up takes twice as long. The keys are an array of a query
 * of its own, which hides how many they are from the planner: by that it would read the whole table
 * for them.
 *
 * @param keys `textKey` of each address in the form in which the network's events carry it
 *   (`Transfer.eventTo`); `hub.text_key` makes the same
 * @returns owners by that form; among them unlinked ones that share a key with what was asked for
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

/** Derivation indexes of addresses that were handed out. */
export async function findAddressIndexes(
  sql: Sql,
  network: Network,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (addresses.length === 0) return new Map();
  const rows = await sql<{ address: string; wallet_index: number }[]>`
    SELECT address, wallet_index FROM hub.address
    WHERE network = ${network} AND address = ANY (${[...addresses]}::text[])`;
  return new Map(rows.map((row) => [row.address, row.wallet_index]));
}
