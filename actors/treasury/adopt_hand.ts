/**
 * Adoption of a transaction of the hot wallet that the service did not sign, by what solid blocks show of it: its nonce is
 * taken, and what the service had promised with that is promised anew.
 *
 * @module
 */

import type { Block, Chain, Checkpoint } from "../../chains/chain.ts";
import type { HubAudit } from "../../ledger/audit.ts";
import {
  adoptForeignHand,
  type AdoptionRefused,
  findForeignHand,
} from "../../ledger/lanes/foreign_hands.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  type BesideScan,
  type ChainInDoubt,
  orInDoubt,
  readBelieved,
} from "../watcher/chain_in_doubt.ts";

/** The end of a request to adopt a transaction. */
export type AdoptionOutcome =
  | {
    readonly kind: "adopted";
    readonly nonce: number;
    /** Merchants with a new inbox row. */
    readonly notified: readonly string[];
  }
  | { readonly kind: "refused"; readonly why: AdoptionRefused }
  /** Its chain counts no nonces. */
  | { readonly kind: "not_numbered" }
  /** No node shows it in a solid block at the moment. */
  | { readonly kind: "unread" }
  | ChainInDoubt;

/**
 * Adopts a transaction that the scan has listed.
 *
 * @param audit its line, in the commit of its effect
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function adoptHand(
  deps: BesideScan<Pick<Chain, "capabilities" | "hotWallet" | "eventAddress" | "blocks">>,
  network: Network,
  txid: string,
  reason: string,
  audit: HubAudit,
  boundMs: number,
): Promise<AdoptionOutcome> {
  const { sql, chain, stopped } = deps;
  const { life } = chain.capabilities;
  if (life.kind !== "nonce") return { kind: "not_numbered" };
  const height = await findForeignHand(sql, network, txid);
  if (height === null) return { kind: "refused", why: "decided" };
  const believed = await readBelieved(sql, network, stopped);
  if (believed.kind === "in_doubt") return believed;
  const signal = AbortSignal.timeout(boundMs);
  const sent = await orInDoubt(
    life.lane.sent(txid, signal, believed.cursor).then((by) => ({ kind: "sent" as const, by })),
  );
  if (sent.kind === "in_doubt") return sent;
  if (sent.by === null) return { kind: "unread" };
  const block = await solidBlock(chain, height, signal, believed.cursor);
  if (block === null) return { kind: "unread" };
  const isThere = block.transactions.some((one) => one.txid === txid);
  if (!isThere || sent.by.eventFrom !== chain.eventAddress(chain.hotWallet)) {
    const reason = `nodes do not show ${txid} as one of the hot wallet in block ${height}`;
    return { kind: "in_doubt", reason };
  }
  const { nonce } = sent.by;
  const place = { network, txid, height, hash: block.hash };
  const done = await adoptForeignHand(sql, { ...place, nonce, reason }, audit);
  if ("refused" in done) return { kind: "refused", why: done.refused };
  return { kind: "adopted", nonce, notified: done.notified };
}

/** A solid block; null: no node gives all of it now. */
async function solidBlock(
  chain: Pick<Chain, "blocks">,
  height: number,
  signal: AbortSignal,
  checkpoint: Checkpoint,
): Promise<Block | null> {
  for await (const answer of chain.blocks(height, height, "solid", signal, checkpoint)) {
    return answer.kind === "block" ? answer.block : null;
  }
  return null;
}
