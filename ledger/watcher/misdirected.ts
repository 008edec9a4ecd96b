/**
 * Transfers that came in on another network than the one that their address was issued on. On networks whose
 * addresses look alike, customers send to such a one by mistake: the key is the service's, but nothing
 * there is watched, swept or credited by itself.
 *
 * @module
 */

import type { Sql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";
import { LOST_ACCOUNT, LOST_REASON } from "../own_accounts.ts";
import { inboxData, type TransferFinding } from "./findings.ts";

/** The owner of an address that was issued on another network. */
export interface OwnerElsewhere {
  readonly address: string;
  readonly merchantId: string;
  readonly addressId: string;
  readonly issuedOn: Network;
}

/** A transfer to such an address. */
export interface MisdirectedTransfer extends TransferFinding {
  readonly issuedOn: Network;
}

/**
 * Addresses of other networks among those that events name; see `findAddresses`.
 *
 * @param networks the others
 * @param keys `textKey` of each address in the form in which events carry it
 * @returns owners by that form; among them unlinked ones that share a key with what was asked for
 */
export async function findIssuedElsewhere(
  sql: Sql,
  networks: readonly Network[],
  keys: readonly number[],
): Promise<ReadonlyMap<string, OwnerElsewhere>> {
  if (networks.length === 0 || keys.length === 0) return new Map();
  const array = `{${keys.join(",")}}`;
  const rows = await sql<(OwnerElsewhere & { readonly eventAddress: string })[]>`
    SELECT address, event_address AS "eventAddress", merchant_id AS "merchantId",
      address_id AS "addressId", network AS "issuedOn"
    FROM hub.address WHERE network = ANY (${[...networks]}::text[])
      AND hub.text_key(event_address) = ANY ((SELECT ${array}::text::integer[])::integer[])`;
  return new Map(rows.map((row) => [row.eventAddress, row]));
}

/**
 * Quarantines such transfers for an operator, once each; the merchant's books never take one in.
 *
 * @param network the one that they came in on
 * @returns those that were new
 */
export async function recordMisdirected(
  sql: Sql,
  network: Network,
  transfers: readonly MisdirectedTransfer[],
): Promise<readonly MisdirectedTransfer[]> {
  if (transfers.length === 0) return [];
  const reasonOf = ({ merchantId, issuedOn }: MisdirectedTransfer) =>
    merchantId === LOST_ACCOUNT
      ? LOST_REASON
      : `misdirected: its address was issued on ${issuedOn}, and it came in on ${network}`;
  const data = transfers.map((one) => inboxData(one, { issuedOn: one.issuedOn }));
  const rows = await sql<{ key: string }[]>`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data, quarantine)
    SELECT merchant_id, ${network}, txid, log_index, 'solid', data::jsonb, reason
    FROM unnest(
      ${transfers.map((one) => one.merchantId)}::text[],
      ${transfers.map((one) => one.txid)}::text[],
      ${transfers.map((one) => one.logIndex)}::int[],
      ${data}::text[],
      ${transfers.map(reasonOf)}::text[]) AS f(merchant_id, txid, log_index, data, reason)
    ON CONFLICT DO NOTHING RETURNING format('%s/%s/%s', merchant_id, txid, log_index) AS key`;
  const added = new Set(rows.map(({ key }) => key));
  return transfers.filter(({ merchantId, txid, logIndex }) =>
    added.has(`${merchantId}/${txid}/${logIndex}`)
  );
}
