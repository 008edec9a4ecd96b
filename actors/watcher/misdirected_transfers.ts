/**
 * Finds the transfers of blocks that went to an address of another network, see `ledger/watcher/misdirected.ts`.
 *
 * @module
 */

import type { Block, Chain } from "../../chains/chain.ts";
import { networksAlike } from "../../chains/profiles.ts";
import { textKey } from "../../chains/text_key.ts";
import { findAddresses } from "../../ledger/addresses/watched_addresses.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { amountOf, formatAmount } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  findIssuedElsewhere,
  type MisdirectedTransfer,
  recordMisdirected,
} from "../../ledger/watcher/misdirected.ts";
import { logEvent } from "../../log/log_event.ts";

/** The least that an operator is asked about, in dollars: anybody can send less to every address there is. */
const LEAST = amountOf("1");

/** Transfers of less than that which were passed over since the start, by the network that they came in on. */
const passedOver = new Map<Network, number>();

/** Transfers to addresses of other networks that were too small to be quarantined, since the start, by network. */
export function misdirectedDust(): ReadonlyMap<Network, number> {
  return passedOver;
}

/**
 * Quarantines the transfers of solid blocks that went to addresses of other networks. One query for
 * all of them, and none where no other network's addresses look alike. Those of less than a dollar are counted and
 * leave no row, or they would hide what is worth a person's time.
 */
export async function quarantineMisdirected(
  sql: Sql,
  { network, addressOf }: Pick<Chain, "network" | "addressOf">,
  blocks: readonly Pick<Block, "height" | "hash" | "transfers">[],
): Promise<void> {
  const others = networksAlike(network);
  if (others.length === 0) return;
  const receivers = new Set(blocks.flatMap(({ transfers }) => transfers.map((one) => one.eventTo)));
  const owners = await findIssuedElsewhere(sql, others, Array.from(receivers, textKey));
  if (owners.size === 0) return;
  // what is watched here is this network's own, whatever else has its text
  const own = await findAddresses(sql, network, Array.from(owners.keys(), textKey));
  const found = blocks.flatMap(({ height, hash, transfers }) =>
    transfers.flatMap(({ eventFrom, eventTo, ...transfer }): MisdirectedTransfer[] => {
      const owner = owners.get(eventTo);
      if (owner === undefined || own.has(eventTo)) return [];
      if (transfer.amount < LEAST) {
        passedOver.set(network, (passedOver.get(network) ?? 0) + 1);
        return [];
      }
      const { address: to, merchantId, addressId, issuedOn } = owner;
      const ends = { from: addressOf(eventFrom), to };
      return [{ ...transfer, ...ends, height, hash, merchantId, addressId, issuedOn }];
    })
  );
  for (const one of await recordMisdirected(sql, network, found)) {
    const { txid, to, merchantId, issuedOn, currency, amount } = one;
    const told = { network, txid, to, merchantId, issuedOn, currency };
    logEvent("deposit.misdirected", { ...told, amount: formatAmount(amount) });
  }
}
