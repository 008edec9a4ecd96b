/**
 * Decisions on what blocks say about a transfer to a merchant's address: seen, final, gone, swept.
 *
 * @module
 */

import { pairKey } from "../../../ledger/money/pair.ts";
import { type DepositRow, NO_HANDS } from "../../../ledger/payment_rows.ts";
import type { InboxKey } from "../../../ledger/rows.ts";
import type { TransferEvent } from "../chain_events.ts";
import {
  decided,
  type Decision,
  type DecisionResult,
  post,
  timeOf,
  type Verb,
} from "../decision.ts";
import { CLAIM, type MerchantView, type Records, transferKey } from "../state.ts";
import {
  confirmDeposit,
  giveUpDeposit,
  openDeposit,
  type OpenedDeposit,
  pendingPosting,
} from "./deposit.ts";
import { lineOf } from "./statement.ts";

/**
 * The records of a transfer that is seen for the first time. What comes in on the merchant's own top-up
 * address pays no percentage.
 */
function openTransfer(
  { state, records }: MerchantView,
  event: TransferEvent,
  at: number,
): OpenedDeposit {
  const { network, txid, logIndex } = event.key;
  const { currency, amount, usdRate, addressId, to: address, from: sender } = event;
  const known = records.addresses.get(`${network}/${address}`);
  const isTopUp = known?.kind === "top_up";
  return openDeposit(
    state,
    {
      id: event.depositId,
      currency,
      network,
      amount,
      source: isTopUp ? "top_up" : "onchain",
      referenceId: known?.referenceId ?? null,
      description: null,
      commissionRate: isTopUp ? "0" : state.merchant.depositCommissionRate,
      usdRate,
      addressId,
      address,
      txid,
      logIndex,
      sender,
      height: event.height,
      expiresAt: event.expiresAt,
      diesAfter: event.diesAfter,
      metadata: { txHash: txid },
      ...NO_HANDS,
    },
    { id: event.transactionId, category: isTopUp ? "Top-up" : null },
    at,
  );
}

/** Decides on a transfer that was seen, or is final. */
export const decideTransfer: Verb<"transfer"> = (view, event, settings) => {
  const pair = settings.pairs.get(pairKey(event.currency, event.key.network));
  if (pair?.depositsEnabled !== true) {
    return {
      kind: "quarantined",
      reason: `unclaimed: deposits of ${event.currency} are disabled`,
    };
  }
  return event.phase === "seen" ? seeTransfer(view, event) : creditTransfer(view, event);
};

/** Books a transfer that is in a block, but not yet in a solid one. Seeing it again changes nothing. */
function seeTransfer(view: MerchantView, event: TransferEvent): DecisionResult<null> {
  const at = timeOf(view.state, event.at);
  const { network, txid, logIndex } = event.key;
  const claim = claimOf(view.records, event.key);
  if (claim?.status === "PENDING") return quarantinedByClaim(claim);
  if (view.records.deposits.has(transferKey(network, txid, logIndex)) || claim !== undefined) {
    return decided(at, null, { consumed: [event.key] });
  }
  const { deposit, line } = openTransfer(view, event, at);
  return decided(at, null, {
    postings: pendingPosting(deposit),
    deposits: [deposit],
    transactions: [line],
    consumed: [event.key],
  });
}

/**
 * Credits a transfer that is final. Works from any earlier state, also from FAILED: what is final
 * counts, whatever was believed of it before, also where it says another amount than was seen. A
 * transaction that a deposit booked by hand has claimed is not credited again.
 */
function creditTransfer(view: MerchantView, event: TransferEvent): DecisionResult<null> {
  const { records } = view;
  const at = timeOf(view.state, event.at);
  const { network, txid, logIndex } = event.key;
  const existing = records.deposits.get(transferKey(network, txid, logIndex));
  const claim = claimOf(records, event.key);
  if (claim?.status === "PENDING") return quarantinedByClaim(claim);
  if (existing?.status === "CONFIRMED" || claim !== undefined) {
    return decided(at, null, { consumed: [event.key] });
  }
  const seen = existing === undefined
    ? openTransfer(view, event, at)
    : { deposit: existing, line: lineOf(records, existing, "credit a deposit") };
  const { deposit, line } = correctTransfer(seen, event);
  const shown = existing === undefined ? pendingPosting(deposit) : corrections(existing, deposit);
  const address = records.addresses.get(`${network}/${event.to}`);
  const { chargeIds, eventIds } = event;
  const changes: Partial<Decision> = address?.kind === "top_up"
    ? awaitSweep({ deposit, line }, event, existing === undefined, at)
    : confirmDeposit(view, {
      at,
      deposit: { ...deposit, height: event.height },
      line,
      usdRate: deposit.usdRate ?? event.usdRate,
      address,
      // a failed deposit has already left pending: the money comes from the chain once more
      from: existing?.status === "FAILED" ? "world" : "pending",
      chargeIds,
      eventIds,
    });
  const postings = [...shown, ...changes.postings ?? []];
  return decided(at, null, { ...changes, postings, consumed: [event.key] });
}

/**
 * Puts a deposit right whose transfer is final with other details than it was seen with. A contract
 * (an exchange that pays out to the address) runs again in the block that replaces the first one,
 * and may then pay another amount under the same transaction and log index.
 */
function correctTransfer(
  { deposit, line }: OpenedDeposit,
  { currency, amount, from: sender }: TransferEvent,
): OpenedDeposit {
  if (deposit.amount === amount && deposit.currency === currency) return { deposit, line };
  return {
    deposit: { ...deposit, currency, amount, sender },
    line: { ...line, currency, fromAddress: sender },
  };
}

/** Postings that make pending agree; none where nothing was pending, or nothing has changed. */
function corrections(before: DepositRow, after: DepositRow): Decision["postings"] {
  const isSame = before.amount === after.amount && before.currency === after.currency;
  if (isSame || before.status !== "PENDING") return [];
  return [
    ...post(before, { leg: "seen_wrong", from: "pending", to: "world", amount: before.amount }),
    ...post(after, { leg: "corrected", from: "world", to: "pending", amount: after.amount }),
  ];
}

/**
 * A top-up whose transfer is final. It stays pending, because only the sweep that carries it to the
 * master wallet makes it available; having no expiry any more says that it cannot be given up. One
 * that was given up for dead stays so until its sweep confirms it, with money from the chain.
 *
 * @param isNew whether nothing was booked for it yet
 */
function awaitSweep(
  { deposit, line }: OpenedDeposit,
  { height }: TransferEvent,
  isNew: boolean,
  at: number,
): Partial<Decision> {
  if (!isNew && deposit.expiresAt === null) return {};
  return {
    deposits: [{ ...deposit, expiresAt: null, height, updatedAt: at }],
    transactions: [{ ...line, height }],
  };
}

/**
 * Confirms a top-up whose sweep is final: the money is in the hot wallet, so it becomes available less
 * the flat fee. One that was given up for dead before it became final has left pending, and its
 * money comes from the chain. Reading it again changes nothing.
 *
 * @throws when no such top-up waits for its sweep: the planner reports those only
 */
export const confirmTopUp: Verb<"swept"> = (view, event) => {
  const at = timeOf(view.state, event.at);
  const { network, txid, logIndex } = event.key;
  const deposit = view.records.deposits.get(transferKey(network, txid, logIndex));
  if (deposit?.status === "CONFIRMED") return decided(at, null, { consumed: [event.key] });
  const line = deposit && view.records.transactions.get(deposit.transactionSeq);
  const address = view.records.addresses.get(`${network}/${event.to}`);
  if (deposit === undefined || line === undefined || deposit.expiresAt !== null) {
    throw new Error(`Cannot confirm a top-up as none waits for its sweep: ${txid}/${logIndex}`);
  }
  if (address?.kind !== "top_up" || deposit.status === "CANCELLED") {
    throw new Error(`Cannot confirm a deposit by a sweep as it is no top-up: ${deposit.id}`);
  }
  const { chargeIds, eventIds } = event;
  const changes = confirmDeposit(view, {
    at,
    deposit,
    line,
    usdRate: deposit.usdRate ?? "1",
    address,
    from: deposit.status === "FAILED" ? "world" : "pending",
    chargeIds,
    eventIds,
  });
  return decided(at, null, { ...changes, consumed: [event.key] });
};

/**
 * Gives up a deposit whose transfer is proven never to become final. A deposit that was credited,
 * given up already, or is final and waits for its sweep, is left alone.
 */
export const failDeposit: Verb<"vanished"> = (view, event) => {
  const at = timeOf(view.state, event.at);
  const { network, txid, logIndex } = event.key;
  const deposit = view.records.deposits.get(transferKey(network, txid, logIndex));
  const changes = deposit?.status === "PENDING" && deposit.expiresAt !== null
    ? giveUpDeposit(view, deposit, { ...event, to: "FAILED" }, at)
    : {};
  return decided(at, null, { ...changes, consumed: [event.key] });
};

/**
 * The deposit booked by hand that has claimed a whole transaction. One that came to nothing claims
 * nothing any more: its transfers are credited as any other.
 */
function claimOf(records: Records, { network, txid }: InboxKey): DepositRow | undefined {
  const claim = records.deposits.get(transferKey(network, txid, CLAIM));
  return claim?.status === "FAILED" || claim?.status === "CANCELLED" ? undefined : claim;
}

/** A transfer waits until it is decided on the deposit that claims it. */
function quarantinedByClaim(claim: DepositRow): DecisionResult<never> {
  return { kind: "quarantined", reason: `claimed: by ${claim.id}, which is not decided` };
}
