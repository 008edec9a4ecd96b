import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Block, Chain, Finality, IncludedTransaction, Transfer } from "../../chains/chain.ts";
import { textKey } from "../../chains/text_key.ts";
import { LOST_ACCOUNT } from "../../ledger/addresses/lost_account.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { findAddresses } from "../../ledger/watcher/find_addresses.ts";
import {
  findOwnTransactions,
  type OwnTransaction,
} from "../../ledger/watcher/find_own_transactions.ts";
import {
  type OutcomeFinding,
  recordOutcomes,
  recordTransfers,
  type TransferFinding,
} from "../../ledger/watcher/record_findings.ts";
import { spendsOf, tellUnknown } from "./unknown_spends.ts";

const log = getLogger(["engine", "watcher"]);

/** What has to be known of a chain to read its blocks. */
export type WatchedChain = Pick<
  Chain,
  "network" | "hotWallet" | "deriveAddress" | "addressOf" | "eventAddress"
>;

/**
 * Writes what blocks say about our merchants: transfers to their addresses and, from solid blocks,
 * the outcomes of our own transactions and what left our wallets without one. One query each for all
 * blocks, whatever the number of addresses. Doing it again changes nothing.
 *
 * @returns the merchants that have something to hear
 */
export async function recordBlocks(
  sql: Sql,
  chain: WatchedChain,
  blocks: readonly Block[],
  view: Finality,
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
  // before anything else is told of these blocks: what may be paid already must not be signed anew
  if (spends.length > 0) await tellUnknown(sql, chain, spends, own);
  await recordTransfers(sql, network, view === "head" ? "seen" : "solid", findings);
  const outcomes = outcomesOf(chain, undecided(network, own), blocks);
  const told = await recordOutcomes(sql, network, outcomes);
  const owners = new Set([...findings.map((finding) => finding.merchantId), ...told]);
  // nobody hears of these: they wait for an operator
  if (owners.delete(LOST_ACCOUNT)) {
    log.error("{network}: a lost address was paid, see deno task wallet unclaimed", { network });
  }
  return owners;
}

/** The transfers that go to addresses of our merchants; one query for all of them. */
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

function outcomesOf(
  chain: WatchedChain,
  own: readonly OwnTransaction[],
  blocks: readonly Block[],
): readonly OutcomeFinding[] {
  if (own.length === 0) return [];
  const included = new Map<string, { transaction: IncludedTransaction; block: Block }>();
  for (const block of blocks) {
    for (const transaction of block.transactions) {
      included.set(transaction.txid, { transaction, block });
    }
  }
  return own.map((mine) => {
    const found = included.get(mine.txid);
    if (found === undefined) {
      throw new Error(
        `Cannot find a transaction of ours in the blocks it was met in: ${mine.txid}`,
      );
    }
    return outcomeOf(chain, mine, found.transaction, found.block);
  });
}

function outcomeOf(
  chain: WatchedChain,
  own: OwnTransaction,
  transaction: IncludedTransaction,
  block: Block,
): OutcomeFinding {
  const { height } = block;
  const { fee, failure } = transaction;
  const told = { network: chain.network, outgoingId: own.outgoingId, height, txid: own.txid };
  if (transaction.success && !paid(chain, own, block.transfers)) {
    log.fatal("{network}: {outgoingId} did not pay what was intended, see block {height}: {txid}", {
      ...told,
    });
    const reason = "the transaction succeeded without the transfer that was intended";
    return { own, result: "unexpected", reason, height, fee };
  }
  const result = transaction.success ? "paid" : "failed";
  log.info("{network}: {outgoingId} is final in block {height}: {txid} {result}", {
    ...told,
    result: failure ?? result,
  });
  return { own, result, reason: failure, height, fee };
}

/** Whether the logs show the very transfer that was intended; a success alone proves nothing. */
function paid(chain: WatchedChain, own: OwnTransaction, transfers: readonly Transfer[]): boolean {
  // the coin and lent stake leave no log: a success of what we signed is what was intended
  if (own.currency === "native") return true;
  const sender = own.wallet === "hot" ? chain.hotWallet : chain.deriveAddress(Number(own.wallet));
  return transfers.some((transfer) =>
    transfer.txid === own.txid && chain.addressOf(transfer.eventFrom) === sender &&
    chain.addressOf(transfer.eventTo) === own.destination && transfer.currency === own.currency &&
    transfer.amount === own.amount
  );
}

/** Transactions without an outcome; one that was declared dead and was not is an alarm. */
function undecided(network: Network, met: readonly OwnTransaction[]): readonly OwnTransaction[] {
  for (const { outgoingId, txid } of met.filter(({ wasBuried }) => wasBuried)) {
    log.fatal("{network}: {outgoingId} was declared dead and is in a block: {txid}", {
      network,
      outgoingId,
      txid,
    });
  }
  return met.filter(({ wasBuried }) => !wasBuried);
}
