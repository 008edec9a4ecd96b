/**
 * Reads one transaction again that a merchant says has paid it, and credits what is missing: paid
 * before its address was watched, or while the service did not watch. What is credited is what
 * scanning would have credited; both write the same rows, and nothing is credited twice. Only what
 * lies below the scan's own newest solid block counts, said by a node that has that very block: what
 * is above is the scan's to credit, or to refuse.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { askForRequest } from "../../chains/call_lane.ts";
import type { Chain, Checkpoint, Finality, TransactionLookup } from "../../chains/chain.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import { readTransferStates } from "../../ledger/watcher/pending_deposits.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { awaitBooking, findUnbooked } from "./await_booking.ts";
import { type BesideScan, type ChainInDoubt, orInDoubt, readBelieved } from "./chain_in_doubt.ts";
import { findingsOf } from "./record_blocks.ts";

/** Dependencies of a claim. */
interface ClaimDeps extends BesideScan<Pick<Chain, "transaction" | "addressOf">> {
  readonly network: Network;
  /** Called with a merchant whose inbox has rows. */
  readonly wake: (merchantId: string) => void;
}

export type ClaimOutcome =
  | { readonly status: "credited" | "already_credited" | "not_final" | "not_found" | "not_ours" }
  /** Recorded and quarantined: the pair takes no deposits now. */
  | { readonly status: "pair_closed"; readonly currency: Currency }
  /** Recorded, and not booked within the bound, or before a second node has proven it; it will be. */
  | { readonly status: "recorded" }
  /** Nothing was looked up or recorded, or the transfer is booked by another id than this. */
  | { readonly status: "in_doubt"; readonly doubt: ChainInDoubt };

/**
 * Claims a transaction for a merchant. Doing it again changes nothing.
 *
 * @param txid in the chain's own spelling
 * @param boundMs how long the chain is read, and then how long the merchant is waited for
 * @throws {ChainUnavailable} when the chain cannot be read
 * @throws {Error} when the merchant cannot book the transfer for a reason that is a bug
 */
export async function claimTransaction(
  deps: ClaimDeps,
  merchantId: string,
  txid: string,
  boundMs: number,
): Promise<ClaimOutcome> {
  const { sql, chain, network, stopped } = deps;
  const believed = await readBelieved(sql, network, stopped);
  if (believed.kind === "in_doubt") return { status: "in_doubt", doubt: believed };
  const { cursor } = believed;
  const bound = AbortSignal.timeout(boundMs);
  const found = await orInDoubt(askForRequest(() => lookUp(chain, txid, bound, cursor)));
  if (found.kind === "in_doubt") return { status: "in_doubt", doubt: found };
  if (found.kind !== "found") {
    return { status: found.kind === "missing" ? "not_found" : "not_final" };
  }
  const { addressOf } = chain;
  const all = await findingsOf(sql, { network, addressOf }, [found.transaction]);
  const findings = all.filter((finding) => finding.merchantId === merchantId);
  if (findings.length === 0) return { status: "not_ours" };
  const isPassed = found.view === "solid" && found.transaction.height <= cursor.height;
  if (!isPassed) return { status: "not_final" };
  const states = (logIndexes: readonly number[]) =>
    readTransferStates(sql, merchantId, { network, txid }, logIndexes);
  const open = await findUnbooked(states, findings.map(({ logIndex }) => logIndex));
  if (open.length === 0) return { status: "already_credited" };
  await recordTransfers(sql, network, "solid", findings);
  logEvent("deposit.claimed", {
    network,
    txid,
    merchantId,
    count: findings.length,
  });
  deps.wake(merchantId);
  const end = await awaitBooking(states, open, boundMs);
  if (end === "booked") return { status: "credited" };
  if (end === "open") return { status: "recorded" };
  const reason = end.quarantine ?? "";
  if (reason.startsWith("unproven:")) return { status: "recorded" };
  if (reason.startsWith("renamed:")) {
    return { status: "in_doubt", doubt: { kind: "in_doubt", reason } };
  }
  const finding = findings.find(({ logIndex }) => logIndex === end.logIndex);
  if (finding !== undefined && reason.startsWith("unclaimed:")) {
    return { status: "pair_closed", currency: finding.currency };
  }
  throw new Error(`Cannot credit a claimed transfer as it is quarantined: ${reason}`);
}

type View = TransactionLookup & { readonly view: Finality };

/** The transaction as solid blocks have it; otherwise as the head does. */
async function lookUp(
  chain: ClaimDeps["chain"],
  txid: string,
  signal: AbortSignal,
  checkpoint: Checkpoint,
): Promise<View> {
  const solid = await chain.transaction(txid, "solid", signal, checkpoint);
  if (solid.kind !== "missing") return { ...solid, view: "solid" };
  return { ...await chain.transaction(txid, "head", signal, checkpoint), view: "head" };
}
