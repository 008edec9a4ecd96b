import type { Sql } from "postgres";
import type { Network } from "../pair.ts";

/** An address about to be handed out. */
export interface WatchedAddress {
  readonly address: string;
  readonly network: Network;
  readonly merchantId: string;
  readonly addressId: string;
  readonly walletIndex: number;
}

/** Makes addresses known to the watcher; must be durable before anybody is told of them. */
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
 * Takes the next derivation indexes of a network; nobody gets them again, used or not.
 *
 * @returns the first of them
 * @throws when the network has no wallet
 */
export async function takeIndexes(sql: Sql, network: Network, count: number): Promise<number> {
  const [row] = await sql<{ first: number }[]>`
    UPDATE hub.wallet SET next_index = next_index + ${count} WHERE network = ${network}
    RETURNING next_index - ${count} AS first`;
  if (row === undefined) {
    throw new Error(`Cannot take derivation indexes as the network has no wallet: ${network}`);
  }
  return row.first;
}

/**
 * Registers the wallet that a network's addresses are derived from.
 *
 * @throws when the database belongs to another wallet: its addresses would not be ours
 */
export async function registerWallet(
  sql: Sql,
  network: Network,
  walletId: string,
  hotWallet: string,
): Promise<void> {
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet) VALUES (${network}, ${walletId}, ${hotWallet})
    ON CONFLICT DO NOTHING`;
  const [row] = await sql<{ wallet_id: string; hot_wallet: string }[]>`
    SELECT wallet_id, hot_wallet FROM hub.wallet WHERE network = ${network}`;
  if (row?.wallet_id !== walletId || row.hot_wallet !== hotWallet) {
    throw new Error(
      `Cannot use the wallet as the database belongs to another one: ${network} has ${row?.wallet_id}`,
    );
  }
}
