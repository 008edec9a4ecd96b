/**
 * Transactions of the service's wallets that the service did not sign, such as those that are listed as the hot wallet's: what
 * their own bytes prove, and the two verdicts on that. An adopted one has taken its nonce, so that what the service had promised with it is promised anew;
 * one that is another's stops nothing.
 *
 * @module
 */

import type { Block, Chain, Checkpoint } from "../../chains/chain.ts";
import type { SentBy } from "../../chains/lane.ts";
import { textKey } from "../../chains/text_key.ts";
import { findAddresses, findAddressIndexes } from "../../ledger/addresses/watched_addresses.ts";
import type { HubAudit } from "../../ledger/audit.ts";
import {
  adoptForeignHand,
  type AdoptionRefused,
  disownHand,
  findForeignHand,
  hasLane,
  readPromisedTo,
} from "../../ledger/lanes/foreign_hands.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { findAttempt } from "../../ledger/payouts.ts";
import {
  type AskedBesideScan,
  type AskerEnded,
  type BesideScan,
  type ChainInDoubt,
  orInDoubt,
  readBelieved,
} from "../watcher/chain_in_doubt.ts";
import { recordSpendsOf } from "../watcher/record_blocks.ts";

/** The parts of a chain that are asked about a transaction. */
type HandChain = Pick<
  Chain,
  | "capabilities"
  | "hotWallet"
  | "deriveAddress"
  | "eventAddress"
  | "addressOf"
  | "blocks"
  | "transaction"
  | "feeOf"
>;
type Deps = BesideScan<HandChain>;

/** Reasons why nothing is known of a transaction. */
type Unknown =
  /** It was decided on, or is no other hand's on a lane of the service. */
  | { readonly kind: "refused"; readonly why: AdoptionRefused }
  /** Its chain counts no nonces. */
  | { readonly kind: "not_numbered" }
  /** No node shows it in a solid block at the moment. */
  | { readonly kind: "unread" }
  | ChainInDoubt;

/** Facts that the bytes of a listed transaction prove, and the transfers that its adoption would queue again. */
export interface HandShown {
  readonly kind: "shown";
  readonly sender: string;
  readonly nonce: number;
  readonly isHotWallet: boolean;
  /** Transfers that the service had promised its nonce to; none where it is another's. */
  readonly promisedTo: readonly string[];
}

/** The end of a request to adopt a transaction. */
export type AdoptionOutcome =
  | {
    readonly kind: "adopted";
    readonly nonce: number;
    /** Merchants with a new inbox row. */
    readonly notified: readonly string[];
  }
  /** It has another nonce than the administrator has read. */
  | { readonly kind: "other_nonce"; readonly nonce: number }
  | AskerEnded
  | Unknown;

/** The end of a request to take a transaction off the list. */
export type DisownOutcome =
  | {
    readonly kind: "disowned";
    /** Null: the solid block that it was listed for is without it. */
    readonly sender: string | null;
  }
  /** Its signature is the hot wallet's, and the block has it. */
  | { readonly kind: "ours" }
  | AskerEnded
  | Unknown;

/** A transaction as nodes show it that have our own newest solid block. */
type Found =
  | {
    readonly kind: "found";
    /** Null: no node has it in a block. */
    readonly by: SentBy | null;
    /** The service's wallet that has sent it: `hot`, or a derivation index; null: none of them. */
    readonly payer: string | null;
    /** Its solid block; null: no node gives all of it now. */
    readonly block: Block | null;
    /** True where that block has it. */
    readonly isThere: boolean;
  }
  | Unknown;

async function find(deps: Deps, network: Network, txid: string, boundMs: number): Promise<Found> {
  const { sql, chain, stopped } = deps;
  const { life } = chain.capabilities;
  if (life.kind !== "nonce") return { kind: "not_numbered" };
  const believed = await readBelieved(sql, network, stopped);
  if (believed.kind === "in_doubt") return believed;
  const signal = AbortSignal.timeout(boundMs);
  const sent = await orInDoubt(
    life.lane.sent(txid, signal, believed.cursor).then((by) => ({ kind: "sent" as const, by })),
  );
  if (sent.kind === "in_doubt") return sent;
  const { by } = sent;
  const payer = by === null ? null : await payerBehind(deps, network, by.eventFrom);
  const listed = await findForeignHand(sql, network, txid);
  // on no list are those of deposit addresses, and one that the scan's node has not called the hot wallet's: they are found
  // by their ids
  const isOnLane = payer !== null && await hasLane(sql, network, payer) &&
    await findAttempt(sql, network, txid) === null;
  if (listed?.isDecided ?? !isOnLane) return { kind: "refused", why: "decided" };
  const block = await solidBlock(chain, txid, listed?.height ?? null, signal, believed.cursor);
  const isThere = block?.transactions.some((one) => one.txid === txid) ?? false;
  return { kind: "found", by, payer, block, isThere };
}

/** The service's wallet behind a sender: `hot`, or a derivation index; null: none. */
async function payerBehind(
  { sql, chain }: Deps,
  network: Network,
  eventFrom: string,
): Promise<string | null> {
  if (eventFrom === chain.eventAddress(chain.hotWallet)) return "hot";
  const owner = (await findAddresses(sql, network, [textKey(eventFrom)])).get(eventFrom);
  if (owner === undefined) return null;
  const index = (await findAddressIndexes(sql, network, [owner.address])).get(owner.address);
  return index === undefined ? null : String(index);
}

/**
 * Shows who has signed a transaction and with which nonce, by its own bytes; nothing is changed.
 *
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function showHand(
  deps: Deps,
  network: Network,
  txid: string,
  boundMs: number,
): Promise<HandShown | Unknown> {
  const found = await find(deps, network, txid, boundMs);
  if (found.kind !== "found") return found;
  const { by, payer } = found;
  if (by === null) return { kind: "unread" };
  const { sql, chain } = deps;
  return {
    kind: "shown",
    sender: chain.addressOf(by.eventFrom),
    nonce: by.nonce,
    isHotWallet: payer === "hot",
    promisedTo: payer === null ? [] : await readPromisedTo(sql, network, payer, by.nonce),
  };
}

/**
 * Adopts a transaction of the hot wallet, or of a deposit address that the service has a lane of.
 *
 * @param nonce as the administrator has read it
 * @param audit its line, in the commit of its effect
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function adoptHand(
  deps: AskedBesideScan<HandChain>,
  network: Network,
  { txid, nonce, reason }: {
    readonly txid: string;
    readonly nonce: number;
    readonly reason: string;
  },
  audit: HubAudit,
  boundMs: number,
): Promise<AdoptionOutcome> {
  const found = await find(deps, network, txid, boundMs);
  if (found.kind !== "found") return found;
  const { by, payer, block } = found;
  if (by === null || block === null) return { kind: "unread" };
  const shown = block.transactions.find((one) => one.txid === txid);
  if (shown === undefined || payer === null) {
    const reason = `${txid} is not one of the service's wallets in block ${block.height}`;
    return { kind: "in_doubt", reason };
  }
  if (by.nonce !== nonce) return { kind: "other_nonce", nonce: by.nonce };
  const { height, hash, time: blockTime } = block;
  const fee = deps.chain.feeOf?.(shown, by.bytes) ?? shown.fee;
  const place = { height, hash, blockTime, fee };
  const adoption = { network, payer, txid, ...place, nonce, bytes: by.bytes, reason };
  if (!await deps.mayStillAsk()) return { kind: "asker_ended" };
  // a payout that it has paid is not given back, and stops signing until it is matched with it
  await recordSpendsOf(deps.sql, { ...deps.chain, network }, block, txid);
  const done = await adoptForeignHand(deps.sql, adoption, audit);
  if ("refused" in done) return { kind: "refused", why: done.refused };
  return { kind: "adopted", nonce, notified: done.notified };
}

/**
 * Takes a transaction off the list that the hot wallet has not sent: its signature is another's, or the solid block that it
 * was listed for is without it. It may be adopted all the same, should its bytes prove it some day.
 *
 * @param audit its line, in the commit of its effect
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function disown(
  deps: AskedBesideScan<HandChain>,
  network: Network,
  txid: string,
  reason: string,
  audit: HubAudit,
  boundMs: number,
): Promise<DisownOutcome> {
  const found = await find(deps, network, txid, boundMs);
  if (found.kind !== "found") return found;
  const { by, block, isThere } = found;
  const { sql, chain } = deps;
  const isOurs = by?.eventFrom === chain.eventAddress(chain.hotWallet);
  const isNowhere = block !== null && !isThere;
  if (isOurs && !isNowhere) return block === null ? { kind: "unread" } : { kind: "ours" };
  if (by === null && !isNowhere) return { kind: "unread" };
  if (!await deps.mayStillAsk()) return { kind: "asker_ended" };
  if (!await disownHand(sql, network, txid, reason, audit)) {
    return { kind: "refused", why: "decided" };
  }
  const sender = by === null || isNowhere ? null : chain.addressOf(by.eventFrom);
  return { kind: "disowned", sender };
}

/**
 * A transaction's solid block, of those that the own scan has read.
 *
 * @param listedAt height at which it was met; null: nodes are asked for it
 * @returns null where no node tells it, or gives all of it, now
 */
async function solidBlock(
  chain: Pick<Chain, "blocks" | "transaction">,
  txid: string,
  listedAt: number | null,
  signal: AbortSignal,
  checkpoint: Checkpoint,
): Promise<Block | null> {
  let height = listedAt;
  if (height === null) {
    const found = await chain.transaction(txid, "solid", signal, checkpoint);
    if (found.kind !== "found" || found.transaction.height > checkpoint.height) return null;
    height = found.transaction.height;
  }
  for await (const answer of chain.blocks(height, height, "solid", signal, checkpoint)) {
    return answer.kind === "block" ? answer.block : null;
  }
  return null;
}
