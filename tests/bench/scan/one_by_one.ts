/**
 * Reading blocks as people write it: for every transfer, is its receiver ours, and if so a row of
 * its own; then the cursor. The same adapter and the same rows.
 *
 * @module
 */

import type { Chain } from "../../../chains/chain.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import type { AddressOwner } from "../../../ledger/addresses/watched_addresses.ts";
import { findOwnTransactions } from "../../../ledger/watcher/record_outcomes.ts";
import { recordTransfers } from "../../../ledger/watcher/record_transfers.ts";

/** Reads blocks one transfer at a time. */
export async function scanOneByOne(
  sql: Sql,
  chain: Pick<Chain, "blocks" | "addressOf">,
  from: number,
  to: number,
): Promise<void> {
  for await (const answer of chain.blocks(from, to, "solid")) {
    if (answer.kind !== "block") throw new Error(`Cannot measure as a block is ${answer.kind}`);
    const { height, hash, transfers, transactions } = answer.block;
    for (const { eventFrom, eventTo, ...transfer } of transfers) {
      const to = chain.addressOf(eventTo);
      const [owner] = await sql<Omit<AddressOwner, "address">[]>`
        SELECT merchant_id AS "merchantId", address_id AS "addressId"
        FROM hub.address WHERE network = 'TRX' AND address = ${to}`;
      if (owner === undefined) continue;
      const from = chain.addressOf(eventFrom);
      await recordTransfers(sql, "TRX", "solid", [{ ...transfer, from, to, ...owner, height }]);
    }
    for (const { txid } of transactions) await findOwnTransactions(sql, "TRX", [txid]);
    await sql`
      UPDATE hub.cursor SET height = ${height}, hash = ${hash}
      WHERE network = 'TRX' AND view = 'solid' AND height = ${height - 1}`;
  }
}
