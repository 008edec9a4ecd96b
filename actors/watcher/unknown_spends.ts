/**
 * Transfers out of the service's wallets that no attempt stands for: signed in a history
 * that the database has lost, moved by hand, or moved by somebody who has our keys.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Block, Transfer } from "../../chains/chain.ts";
import { textKey } from "../../chains/text_key.ts";
import { formatAmount, ZERO } from "../../ledger/money/amount.ts";
import {
  recordUnknownSpends,
  type SpendStatus,
  type UnknownSpend,
} from "../../ledger/failover/unknown_spends.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { findAddresses } from "../../ledger/watcher/find_addresses.ts";
import { findAddressIndexes } from "../../ledger/watcher/find_address_indexes.ts";
import type { OwnTransaction } from "../../ledger/watcher/find_own_transactions.ts";
import type { WatchedChain } from "./record_blocks.ts";

const log = getLogger(["engine", "watcher"]);

/** A transfer out of a wallet of ours, whoever signed it. */
export interface Spend {
  readonly transfer: Transfer;
  readonly block: Pick<Block, "height" | "time" | "transactions">;
  /** Null: the hot wallet. */
  readonly address: string | null;
}

/** The transfers that left the hot wallet or addresses of ours; one query for all of them. */
export async function spendsOf(
  sql: Sql,
  { network, hotWallet, eventAddress }: WatchedChain,
  blocks: readonly Block[],
): Promise<readonly Spend[]> {
  const senders = new Set<string>();
  for (const { transfers } of blocks) for (const one of transfers) senders.add(one.eventFrom);
  if (senders.size === 0) return [];
  const owners = await findAddresses(sql, network, Array.from(senders, textKey));
  const hot = eventAddress(hotWallet);
  if (owners.size === 0 && !senders.has(hot)) return [];
  return blocks.flatMap((block) =>
    block.transfers.flatMap((transfer): Spend[] => {
      if (transfer.eventFrom === hot) return [{ transfer, block, address: null }];
      const owner = owners.get(transfer.eventFrom);
      return owner === undefined ? [] : [{ transfer, block, address: owner.address }];
    })
  );
}

/** Keeps those that no transaction of ours explains that may still be in a block, and says so. */
export async function tellUnknown(
  sql: Sql,
  chain: WatchedChain,
  spends: readonly Spend[],
  own: readonly OwnTransaction[],
): Promise<void> {
  const { network } = chain;
  const known = new Set(own.filter(({ wasBuried }) => !wasBuried).map(({ txid }) => txid));
  const unknown = spends.filter(({ transfer }) => !known.has(transfer.txid));
  if (unknown.length === 0) return;
  const indexes = await findAddressIndexes(
    sql,
    network,
    unknown.flatMap(({ address }) => address === null ? [] : [address]),
  );
  const rows = unknown.map((spend) => rowOf(chain, spend, indexes));
  for (const row of await recordUnknownSpends(sql, network, rows)) tell(network, row);
}

function rowOf(
  { hotWallet, addressOf }: WatchedChain,
  { transfer, block, address }: Spend,
  indexes: ReadonlyMap<string, number>,
): UnknownSpend {
  const { txid, logIndex, currency, amount, eventTo } = transfer;
  const to = addressOf(eventTo);
  return {
    txid,
    logIndex,
    height: block.height,
    time: block.time,
    wallet: address === null ? "hot" : String(indexes.get(address) ?? "unknown"),
    from: address ?? hotWallet,
    to,
    currency,
    amount,
    fee: block.transactions.find((one) => one.txid === txid)?.fee ?? ZERO,
    isHarmless: address !== null && to === hotWallet,
  };
}

function tell(
  network: Network,
  { isHarmless: _, status, ...spend }: UnknownSpend & { readonly status: SpendStatus },
): void {
  const { amount, fee } = spend;
  const told = { network, ...spend, amount: formatAmount(amount), fee: formatAmount(fee) };
  if (status === "listed") {
    log.warn(
      "{network}: {amount} {currency} were swept from {from} by an unknown transaction: {txid}",
      told,
    );
    return;
  }
  if (status === "cold") {
    log.error(
      "{network}: {amount} {currency} went to the cold wallet by a transaction that the books do not know, " +
        "which stops nothing: {txid}",
      told,
    );
    return;
  }
  log.fatal(
    "{network}: nothing is signed any more: {amount} {currency} left {from} for {to} by a transaction " +
      "that the books do not know, see deno task admin failover: {txid}",
    told,
  );
}
