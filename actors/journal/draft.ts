/**
 * One merchant's part of a batch while it is decided: the state so far, the records at hand, and
 * every changed row folded to its final image. Thrown away unless the commit succeeds.
 *
 * @module
 */

import type { SliceChanges } from "../../ledger/journal/batch.ts";
import { pairKey } from "../../ledger/money/pair.ts";
import type {
  AuditRow,
  BalanceKey,
  ChargeRow,
  DepositAddressRow,
  DepositRow,
  EntryRow,
  EventRow,
  InboxInsert,
  InboxKey,
  IngestedRow,
  MarginRow,
  MerchantRow,
  OutgoingRow,
  OutgoingVoid,
  SettlementAddressRow,
  SettlementRow,
  TransactionRow,
  WithdrawalRow,
} from "../../ledger/rows.ts";
import { apply, type Decision } from "../merchant/decision.ts";
import { type HotFunds, promisesOf } from "../merchant/liquidity.ts";
import type { MerchantState, MerchantView, Records } from "../merchant/state.ts";

/** Rows by name, in their final image; `created` are not in the database yet. */
class Images<R> {
  readonly created = new Map<string | number, R>();
  readonly changed = new Map<string | number, R>();

  put(name: string | number, row: R, isNew: boolean): void {
    if (isNew || this.created.has(name)) this.created.set(name, row);
    else this.changed.set(name, row);
  }
}

export class Draft implements MerchantView {
  readonly #base: MerchantState;
  readonly #withdrawals = new Images<WithdrawalRow>();
  readonly #deposits = new Images<DepositRow>();
  readonly #transactions = new Images<TransactionRow>();
  readonly #addresses = new Images<DepositAddressRow>();
  readonly #entries: EntryRow[] = [];
  readonly #charges: ChargeRow[] = [];
  readonly #voided: OutgoingVoid[] = [];
  readonly #events: EventRow[] = [];
  readonly #consumed: InboxKey[] = [];
  readonly #settlements = new Images<SettlementRow>();
  readonly #whitelist = new Images<SettlementAddressRow>();
  readonly #margins: MarginRow[] = [];
  readonly #inbox: InboxInsert[] = [];
  readonly #ingested: IngestedRow[] = [];
  readonly #audits: AuditRow[] = [];
  readonly #references: ReadonlyMap<string, string>;
  /** References taken (or, with null, released) by this batch. */
  readonly touchedReferences = new Map<string, string | null>();
  /**
   * Withdrawals, by reference, that turned out to hold a reference which an earlier message of this
   * batch was given: it is to be decided again with them known.
   */
  readonly overlooked = new Map<string, string>();
  #profile: MerchantRow | null = null;
  #state: MerchantState;
  #dirty = false;
  #changes: SliceChanges | null = null;

  /**
   * @param references living withdrawals known to hold a reference, by reference
   * @param hotFunds what hot wallets can promise; what is decided here is taken off
   */
  constructor(
    state: MerchantState,
    readonly records: Records,
    references: ReadonlyMap<string, string>,
    readonly hotFunds: HotFunds,
  ) {
    this.#base = state;
    this.#state = state;
    this.#references = references;
  }

  get state(): MerchantState {
    return this.#state;
  }

  /** Whether anything is to be written. */
  get dirty(): boolean {
    return this.#dirty;
  }

  holderOf(referenceId: string): string | undefined {
    const touched = this.touchedReferences.get(referenceId);
    if (touched !== undefined) return touched ?? undefined;
    return this.#references.get(referenceId);
  }

  /** Takes a decision in; all of it or, when it breaks an assumption, nothing (it throws). */
  take(decision: Decision): void {
    const before = this.#state;
    const after = apply(before, decision);
    this.#state = after;
    const { merchantId } = after.merchant;
    for (const posting of decision.postings) {
      this.#entries.push({
        paymentId: posting.paymentId,
        leg: posting.leg,
        merchantId,
        fromAccount: posting.from,
        toAccount: posting.to,
        currency: posting.currency,
        network: posting.network,
        amount: posting.amount,
        createdAt: decision.at,
      });
    }
    for (const row of decision.withdrawals) {
      this.#withdrawals.put(row.id, row, !this.records.withdrawals.has(row.id));
      this.records.withdrawals.set(row.id, row);
      this.#trackReference(row);
    }
    for (const row of decision.deposits) {
      this.#deposits.put(row.id, row, row.seq > before.depositSeq);
      this.records.putDeposit(row);
    }
    for (const row of decision.transactions) {
      this.#transactions.put(row.seq, row, row.seq > before.transactionSeq);
      this.records.transactions.set(row.seq, row);
    }
    for (const row of decision.addresses) {
      this.#addresses.put(
        row.id,
        row,
        !this.records.addresses.has(`${row.network}/${row.address}`),
      );
      this.records.putAddress(row);
    }
    this.hotFunds.promise(promisesOf(decision.outgoing));
    for (const row of decision.outgoing) {
      this.records.newOutgoing.set(row.id, row);
      this.records.outgoing.set(row.id, row.status);
    }
    for (const row of decision.voided) this.#void(row);
    for (const row of decision.settlements) {
      this.#settlements.put(row.id, row, row.seq > before.settlementSeq);
      this.records.settlements.set(row.id, row);
    }
    for (const row of decision.whitelist) {
      this.#whitelist.put(row.id, row, !this.records.whitelist.has(row.id));
      this.records.whitelist.set(row.id, row);
    }
    for (const row of decision.ingested) {
      this.#ingested.push(row);
      this.records.putIngested(row);
    }
    this.#audits.push(...decision.audits);
    this.#margins.push(...decision.margins);
    this.#inbox.push(...decision.inbox);
    this.#charges.push(...decision.charges);
    this.#events.push(...decision.events);
    this.#consumed.push(...decision.consumed);
    this.#profile = decision.profile ?? this.#profile;
    this.#dirty ||= hasChanges(decision);
  }

  #trackReference(row: WithdrawalRow): void {
    if (row.referenceId === null) return;
    const living = row.status !== "FAILED" && row.status !== "CANCELLED";
    const holder = this.touchedReferences.get(row.referenceId) ?? row.id;
    if (holder !== row.id) this.overlooked.set(row.referenceId, row.id);
    this.touchedReferences.set(row.referenceId, living ? row.id : null);
  }

  #void(row: OutgoingVoid): void {
    const created = this.records.newOutgoing.get(row.id);
    // queued and given up within one batch: it begins its life as void, nobody can have signed it
    if (created === undefined) this.#voided.push(row);
    else this.records.newOutgoing.set(row.id, { ...created, status: "void", reason: row.reason });
    this.records.outgoing.set(row.id, "void");
  }

  /** What the journal writes for this merchant, once everything is decided. */
  changes(): SliceChanges {
    return this.#changes ??= this.#collect();
  }

  #collect(): SliceChanges {
    const { merchant: { merchantId }, version, lastCommit } = this.#base;
    const { depositSeq, withdrawalSeq, transactionSeq, chargeSeq, settlementSeq, lastAt } =
      this.#state;
    const newOutgoing: OutgoingRow[] = [...this.records.newOutgoing.values()];
    return {
      slice: {
        merchantId,
        version,
        lastCommit,
        depositSeq,
        withdrawalSeq,
        transactionSeq,
        chargeSeq,
        settlementSeq,
        lastAt,
      },
      opened: this.#opened(merchantId),
      entries: this.#entries,
      newWithdrawals: [...this.#withdrawals.created.values()],
      withdrawals: [...this.#withdrawals.changed.values()],
      newDeposits: [...this.#deposits.created.values()],
      deposits: [...this.#deposits.changed.values()],
      newTransactions: [...this.#transactions.created.values()],
      transactions: [...this.#transactions.changed.values()],
      charges: this.#charges,
      newOutgoing,
      voided: this.#voided,
      events: this.#events,
      newAddresses: [...this.#addresses.created.values()],
      addresses: [...this.#addresses.changed.values()],
      consumed: this.#consumed,
      merchant: this.#profile,
      newSettlements: [...this.#settlements.created.values()],
      settlements: [...this.#settlements.changed.values()],
      newWhitelist: [...this.#whitelist.created.values()],
      whitelist: [...this.#whitelist.changed.values()],
      margins: this.#margins,
      inbox: this.#inbox,
      ingested: this.#ingested,
      audits: this.#audits,
    };
  }

  #opened(merchantId: string): readonly BalanceKey[] {
    const opened = new Map<string, BalanceKey>();
    for (const { currency, network } of this.#entries) {
      const key = pairKey(currency, network);
      if (!this.#base.balances.has(key)) opened.set(key, { merchantId, currency, network });
    }
    return [...opened.values()];
  }
}

function hasChanges(decision: Decision): boolean {
  return decision.profile !== null || decision.postings.length + decision.withdrawals.length +
          decision.deposits.length + decision.transactions.length + decision.charges.length +
          decision.outgoing.length + decision.voided.length + decision.events.length +
          decision.addresses.length + decision.consumed.length + decision.settlements.length +
          decision.whitelist.length + decision.margins.length + decision.inbox.length +
          decision.ingested.length + decision.audits.length > 0;
}
