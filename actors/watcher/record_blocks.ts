/**
 * From blocks to inbox rows: transfers to known addresses, ends of the service's own transactions, and
 * transfers out of its wallets that no attempt stands for (signed in a history that the database has
 * lost, or made by someone who has the keys), which stop signing.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { isTracing, traceSpan } from "../../log/traces.ts";
import type { Sql } from "postgres";
import type { Block, Chain, Finality, Transfer } from "../../chains/chain.ts";
import { textKey } from "../../chains/text_key.ts";
import { findAddresses, findAddressIndexes } from "../../ledger/addresses/watched_addresses.ts";
import { hasMovedNothing } from "../../ledger/failover/belied_ends.ts";
import {
  type FoundSpend,
  recordUnknownSpends,
  type UnknownSpend,
} from "../../ledger/failover/unknown_spends.ts";
import { recordForeignHands } from "../../ledger/lanes/foreign_hands.ts";
import { formatAmount, ZERO } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import type { TransferFinding } from "../../ledger/watcher/findings.ts";
import {
  findOwnTransactions,
  type OutcomeFinding,
  type OwnTransaction,
  recordOutcomes,
} from "../../ledger/watcher/record_outcomes.ts";
import { findAlike } from "../../ledger/watcher/alike_transfers.ts";
import { type EndDoubt, type EndProofs, unprovenEnds } from "../../ledger/watcher/end_proofs.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { markSeen } from "../../ledger/watcher/seen_transactions.ts";
import { quarantineMisdirected } from "./misdirected_transfers.ts";
import { tellEndDoubts } from "./end_doubts.ts";
import { unnamedEnds } from "./named_ends.ts";
import { endsToldTwice, outcomesOf, type Shown } from "./outcomes_of.ts";

/** The part of a chain that reading its blocks takes. */
export type WatchedChain = Pick<
  Chain,
  | "network"
  | "hotWallet"
  | "deriveAddress"
  | "addressOf"
  | "eventAddress"
  | "feeOf"
  | "provenIds"
>;

/**
 * Writes what blocks say about merchants: transfers to their addresses, from newest blocks which own
 * transactions are seen, and from solid blocks their outcomes and what left own wallets without one. One query each for all
 * blocks, whatever the number of addresses. Doing it again changes nothing.
 *
 * @param proofs what ends of large transfers need; null: a node's word is enough
 * @returns the merchants that have something to hear
 */
export async function recordBlocks(
  sql: Sql,
  chain: WatchedChain,
  blocks: readonly Block[],
  view: Finality,
  proofs: EndProofs | null = null,
): Promise<ReadonlySet<string>> {
  const { network } = chain;
  const [findings, own, spends] = await Promise.all([
    findingsOf(sql, chain, blocks),
    view === "head" ? [] : findOwnTransactions(
      sql,
      network,
      blocks.flatMap((block) => block.transactions.map((transaction) => transaction.txid)),
    ),
    view === "head" ? [] : spendsOf(sql, chain, blocks),
  ]);
  // before anything else is written of these blocks: what may be paid already must not be signed anew
  if (spends.length > 0) await recordUnknown(sql, chain, spends, own);
  if (view === "solid") await recordStrangers(sql, chain, blocks, own);
  if (view === "solid") await quarantineMisdirected(sql, chain, blocks);
  await recordTransfers(sql, network, view === "head" ? "seen" : "solid", findings);
  if (view === "head") await markSeen(sql, network, blocks);
  const outcomes = undecidedOutcomes(chain, own, blocks, proofs);
  const alike = chain.provenIds === undefined
    ? new Set<OutcomeFinding>()
    : await findAlike(sql, network, outcomes.filter(({ result }) => result === "paid"));
  // an end has one reason, the same each time: where its id is unproven, that
  const doubts = new Map<OutcomeFinding, EndDoubt | null>([
    ...unprovenEnds(outcomes, own, proofs),
    ...await unnamedEnds(chain, blocks, outcomes, alike),
  ]);
  const believed = outcomes.filter((outcome) => !doubts.has(outcome));
  for (const [outcome, doubt] of endsToldTwice(believed)) doubts.set(outcome, doubt);
  const unproven = new Set(doubts.keys());
  const written = outcomes.filter((outcome) => !unproven.has(outcome));
  for (const outcome of written) logOutcome(network, outcome);
  const told = await recordOutcomes(sql, network, outcomes, unproven);
  await tellEndDoubts(
    sql,
    network,
    [...doubts].flatMap(([{ own: { outgoingId }, height }, doubt]) =>
      doubt === null ? [] : [{ outgoingId, height, ...doubt }]
    ),
  );
  if (isTracing()) traceOutcomes(network, written);
  const owners = new Set([...findings.map((finding) => finding.merchantId), ...told]);
  // no merchant hears of these: they wait for an operator
  if (owners.delete(LOST_ACCOUNT)) {
    logEvent("wallet.lost_address_paid", { network });
  }
  return owners;
}

/** Traces the ends of own transactions. */
function traceOutcomes(network: Network, outcomes: readonly OutcomeFinding[]): void {
  for (const { own, result, height } of outcomes) {
    const { outgoingId: transfer, paymentId: payment, txid } = own;
    traceSpan("transfer.final", {
      of: payment ?? transfer,
      from: Date.now(),
      attributes: { transfer, payment, network, txid, height, outcome: result },
    });
  }
}

/** The transfers that go to addresses of merchants; one query for all of them. */
export async function findingsOf(
  sql: Sql,
  { network, addressOf }: Pick<Chain, "network" | "addressOf">,
  blocks: readonly (Pick<Block, "height" | "transfers"> & Partial<Pick<Block, "hash">>)[],
): Promise<readonly TransferFinding[]> {
  // some stand there twice, which the database looks up once
  const receivers = blocks.flatMap(({ transfers }) => transfers.map((one) => textKey(one.eventTo)));
  const owners = await findAddresses(sql, network, receivers);
  if (owners.size === 0) return [];
  const keys = new Set(Array.from(owners.keys(), textKey));
  const findings: TransferFinding[] = [];
  for (const { height, hash = null, transfers } of blocks) {
    for (const found of transfers) {
      if (!keys.has(textKey(found.eventTo))) continue;
      const owner = owners.get(found.eventTo);
      if (owner === undefined) continue;
      const { eventFrom, eventTo: _, ...transfer } = found;
      const { address: to, merchantId, addressId } = owner;
      findings.push({
        ...transfer,
        from: addressOf(eventFrom),
        to,
        height,
        hash,
        merchantId,
        addressId,
      });
    }
  }
  return findings;
}

/** The ends of own transactions that have none yet, by the blocks that they were met in. */
function undecidedOutcomes(
  chain: WatchedChain,
  own: readonly OwnTransaction[],
  blocks: readonly Block[],
  proofs: EndProofs | null,
): readonly OutcomeFinding[] {
  if (own.length === 0) return [];
  const shown = new Map<string, Shown[]>();
  const txids = new Set(own.map(({ txid }) => txid));
  for (const { transactions, transfers, height, hash } of blocks) {
    for (const transaction of transactions) {
      const { txid } = transaction;
      if (!txids.has(txid)) continue;
      const places = shown.get(txid) ?? [];
      shown.set(txid, places);
      places.push({
        transaction,
        transfers: transfers.filter((one) => one.txid === txid),
        height,
        hash,
      });
    }
  }
  return [...Map.groupBy(own, ({ txid }) => txid)].flatMap(([txid, intents]) => {
    const found = shown.get(txid);
    if (found === undefined) {
      throw new Error(`Cannot find an own transaction in the blocks it was met in: ${txid}`);
    }
    const second = proofs?.testimonies.get(txid);
    return found.flatMap((one) => outcomesOf(chain, intents, one))
      .filter((outcome) => isUndecided(chain, outcome))
      .map((outcome) => second === undefined ? outcome : { ...outcome, second });
  });
}

/** True where an outcome is new; one that has paid and had ended without that is an alarm. */
function isUndecided({ network }: WatchedChain, finding: OutcomeFinding): boolean {
  const { own: { outgoingId, txid, outcome }, result } = finding;
  if (outcome === null) return true;
  const moved = result === "paid" || result === "unexpected";
  // by its proof no block has it at all
  const isBelied = outcome === "expired" || outcome === "superseded" || moved;
  if (hasMovedNothing(outcome) && isBelied) {
    logEvent("transfer.revived", { network, outgoingId, txid });
  }
  return false;
}

function logOutcome(network: Network, finding: OutcomeFinding): void {
  const { own: { outgoingId, txid }, result, reason, height } = finding;
  const told = { network, outgoingId, height, txid };
  switch (result) {
    case "paid":
      logEvent("transfer.final", told);
      break;
    case "failed":
      logEvent("transfer.failed", { ...told, reason: reason ?? "the node gives no reason" });
      break;
    case "unexpected":
      logEvent("transfer.unexpected", told);
      break;
    case "cancelled":
      logEvent("transfer.cancelled", told);
      break;
    default:
      result satisfies never;
  }
}

/** A transfer out of a wallet of the service, by any signer. */
export interface Spend {
  readonly transfer: Transfer;
  readonly block: Pick<Block, "height" | "time" | "transactions">;
  /** Null: the hot wallet. */
  readonly address: string | null;
}

/** The transfers that left the hot wallet or own addresses; one query for all of them. */
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

/**
 * Keeps what one transaction of a solid block has moved out of own wallets, where no own transaction explains it: also what
 * the scan's node may have left out.
 */
export async function recordSpendsOf(
  sql: Sql,
  chain: WatchedChain,
  block: Block,
  txid: string,
): Promise<void> {
  const transfers = block.transfers.filter((one) => one.txid === txid);
  const spends = await spendsOf(sql, chain, [{ ...block, transfers }]);
  if (spends.length === 0) return;
  await recordUnknown(sql, chain, spends, await findOwnTransactions(sql, chain.network, [txid]));
}

/** Keeps those that no own transaction explains that may still be in a block or was paid, and says so. */
async function recordUnknown(
  sql: Sql,
  chain: WatchedChain,
  spends: readonly Spend[],
  own: readonly OwnTransaction[],
): Promise<void> {
  const { network } = chain;
  // of several transfers of one transaction each tells: what has ended without one in part has done so wrongly
  const ended = own.filter(({ outcome }) => hasMovedNothing(outcome));
  const belied = new Set(ended.map(({ txid }) => txid));
  const known = new Set(own.flatMap(({ txid }) => belied.has(txid) ? [] : txid));
  const unknown = spends.filter(({ transfer }) => !known.has(transfer.txid));
  if (unknown.length === 0) return;
  const indexes = await findAddressIndexes(
    sql,
    network,
    unknown.flatMap(({ address }) => address === null ? [] : [address]),
  );
  const rows = unknown.map((spend) => rowOf(chain, spend, indexes));
  for (const row of await recordUnknownSpends(sql, network, rows)) logSpend(row);
}

/**
 * Keeps transactions that nodes call the hot wallet's and that the books do not know, whatever they move: each takes a
 * nonce, once its signature proves it.
 */
async function recordStrangers(
  sql: Sql,
  { network, hotWallet }: WatchedChain,
  blocks: readonly Block[],
  own: readonly OwnTransaction[],
): Promise<void> {
  const known = new Set(own.map(({ txid }) => txid));
  const hands = blocks.flatMap(({ height, time, transactions }) =>
    transactions.filter(({ txid, byHotWallet }) => byHotWallet === true && !known.has(txid))
      .map(({ txid, fee }) => ({ txid, height, blockTime: time, fee }))
  );
  for (const txid of await recordForeignHands(sql, network, hotWallet, hands)) {
    logEvent("wallet.hand_unproven", { network, txid });
  }
}

function rowOf(
  { hotWallet, addressOf, eventAddress }: WatchedChain,
  { transfer, block, address }: Spend,
  indexes: ReadonlyMap<string, number>,
): FoundSpend {
  const { txid, logIndex, currency, amount, eventTo } = transfer;
  return {
    txid,
    logIndex,
    height: block.height,
    time: block.time,
    wallet: address === null ? "hot" : String(indexes.get(address) ?? "unknown"),
    from: address ?? hotWallet,
    to: addressOf(eventTo),
    currency,
    amount,
    fee: block.transactions.find((one) => one.txid === txid)?.fee ?? ZERO,
    isHarmless: address !== null && eventTo === eventAddress(hotWallet),
  };
}

function logSpend({ status, ...spend }: UnknownSpend): void {
  const { amount, fee } = spend;
  const told = { ...spend, amount: formatAmount(amount), fee: formatAmount(fee) };
  if (status === "listed") {
    logEvent("wallet.unknown_sweep", told);
  } else if (status === "cold") {
    logEvent("wallet.unknown_cold", told);
  } else {
    logEvent("wallet.unknown_spend", told);
  }
}
