/**
 * Writes off transfers that are on their address no more although no known sweep has taken them:
 * a sweep that an older copy of the database does not know, another user of the keys, the issuer. An
 * operator says so and names the amount; the chain and the books have to say the same.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Chain } from "../../chains/chain.ts";
import type { HubAudit } from "../../ledger/audit.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { add, type Amount, formatAmount, subtract } from "../../ledger/money/amount.ts";
import { readSpareSweeps } from "../../ledger/sweeps/items.ts";
import {
  type OpenItem,
  readAccountedFor,
  readSweepFacts,
} from "../../ledger/sweeps/sweep_facts.ts";
import type { SweepAddress } from "../../ledger/sweeps/sweep_addresses.ts";
import { writeOffItems } from "../../ledger/sweeps/verdicts.ts";
import {
  type AskedBesideScan,
  type AskerEnded,
  type ChainInDoubt,
  orInDoubt,
  readBelieved,
} from "../watcher/chain_in_doubt.ts";
import { carriedBy, splitAt, sumOf } from "./what_is_there.ts";

export type WriteOffOutcome =
  | { readonly kind: "written_off"; readonly transfers: number }
  /** Something happened to the address meanwhile. */
  | { readonly kind: "changed" }
  /** The chain or the books say otherwise, or another decision comes first. */
  | { readonly kind: "not_so"; readonly why: string }
  /** The nodes cannot be believed now. */
  | ChainInDoubt
  | AskerEnded;

/**
 * Writes off what is gone from an address. Gone is what the planner takes for gone: the oldest
 * transfers, where the balance does not hold them beside the newer ones. It has to end between two
 * of them, so that nothing that is still there is written off.
 *
 * @param amount what the operator says is gone
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function writeOff(
  { sql, chain, stopped, mayStillAsk }: AskedBesideScan<
    Pick<Chain, "balanceOf" | "capabilities">
  >,
  target: SweepAddress,
  amount: Amount,
  reason: string,
  audit: Omit<HubAudit, "before" | "after">,
  boundMs: number,
): Promise<WriteOffOutcome> {
  const { network, address, currency } = target;
  if (!chain.capabilities.currencies.includes(currency)) {
    return notSo(`${currency} has no contract on ${network}.`);
  }
  // all of them: of an address with more than a sweep lists, the rest would never be explained
  const { open, living, unexpected } = await readSweepFacts(sql, target, null);
  if (living !== null) return notSo(`${living.kind} ${living.id} is ${living.status}.`);
  if (unexpected !== null) return notSo(`${unexpected} ended unexpected; settle that first.`);
  const accounted = await readAccountedFor(sql, target);
  const believed = await readBelieved(sql, network, stopped);
  if (believed.kind === "in_doubt") return believed;
  const { cursor } = believed;
  // what a block did is recorded before the cursor passes it: a node with the cursor's block has it too
  const newest = open.reduce((height, item) => Math.max(height, item.height), accounted.height);
  if (newest > cursor.height) {
    return {
      kind: "in_doubt",
      reason: `${network} is read to block ${cursor.height}, block ${newest} is being read`,
    };
  }
  const signal = AbortSignal.timeout(boundMs);
  const balance = await orInDoubt(chain.balanceOf(address, currency, signal, cursor));
  if (typeof balance !== "bigint") return balance;

  const { gone } = splitAt(open, balance);
  const [missing, noted] = [subtract(sumOf(open), balance), sumOf(gone)];
  if (gone.length === 0 || missing !== noted || noted !== amount) {
    return notSo(
      `${formatAmount(balance)} is there of ${formatAmount(sumOf(open))} that waits to be swept; ` +
        `transfers of ${formatAmount(noted)} are not there in whole.`,
    );
  }
  const carrier = await mayBeListedBy(sql, target, open, balance);
  if (carrier !== null) {
    return notSo(`${carrier} moved more than it lists; it may have moved this.`);
  }
  const unexplained = subtract(amount, accounted.amount);
  if (unexplained < 0n || unexplained > amount) {
    return notSo(
      `${formatAmount(balance)} is there, and by the transactions of this address ` +
        `${formatAmount(add(balance, unexplained))} should be.`,
    );
  }
  if (!await mayStillAsk()) return { kind: "asker_ended" };
  const { height } = cursor;
  const found = { items: gone, amount, unexplained, balance, height, reason };
  if (!await writeOffItems(sql, target, found, audit)) return { kind: "changed" };
  logEvent("sweep.written_off", {
    network,
    amount: formatAmount(amount),
    currency,
    address,
    actor: audit.actor,
    reason,
  });
  return { kind: "written_off", transfers: gone.length };
}

function notSo(why: string): WriteOffOutcome {
  return { kind: "not_so", why };
}

/**
 * A final sweep that the planner may yet list some of these under, as it moved more than it lists;
 * or null. What the planner would never list waits for nothing.
 */
async function mayBeListedBy(
  sql: Sql,
  target: SweepAddress,
  open: readonly OpenItem[],
  balance: Amount,
): Promise<string | null> {
  const sweeps = await readSpareSweeps(sql, target);
  // as if all were booked and had been there long enough
  const listable = open.map((item) => ({ ...item, listable: true }));
  const carrier = sweeps.find((sweep) =>
    carriedBy(sweep, listable, balance, Infinity, 0).length > 0
  );
  return carrier?.outgoingId ?? null;
}
