/**
 * One merchant's part of a batch while it is decided: the state so far, the records at hand, and
 * every changed row folded to its final image. Thrown away unless the commit succeeds.
 *
 * @module
 */

import type { MerchantChanges } from "../../ledger/journal/write_batch.ts";
import { pairKey } from "../../ledger/money/pair.ts";
import type { EntryRow, PayoutOpening } from "../../ledger/payment_rows.ts";
import {
  type BalanceKey,
  CHANGING_ROWS,
  type ChangingRows,
  kindsOf,
  type MerchantRow,
  type OutgoingRow,
  type OutgoingVoid,
  WRITTEN_ONCE,
  type WrittenOnce,
} from "../../ledger/rows.ts";
import { apply, type Decision } from "../merchant/decision.ts";
import {
  type MerchantState,
  type MerchantView,
  type Records,
  type RemainingLiquidity,
  type Reservation,
  reservationsOf,
} from "../merchant/state.ts";

const CHANGING = kindsOf(CHANGING_ROWS);
const ONCE = kindsOf(WRITTEN_ONCE);

/** Postings of a payout that the database derives from its opening. */
const DERIVED_LEGS: ReadonlySet<string> = new Set(["reserve", "commission", "network_fee"]);

/** Rows of one kind by id, in their final image. */
type Images = Map<string, { readonly id: string }>;

// shared by all units that have none: most of a batch are payouts that begin, of which one row is kept
const NO_ROWS = noneOf(CHANGING) as ChangingRows;
const NOTHING_ONCE = noneOf(ONCE) as WrittenOnce;

/** No rows of any of some kinds; the keys are those of their table. */
function noneOf(kinds: readonly string[]): Readonly<Record<string, readonly unknown[]>> {
  const none: readonly unknown[] = Object.freeze([]);
  return Object.freeze(Object.fromEntries(kinds.map((kind) => [kind, none])));
}

/** A decision by which a payout begins in the ordinary way. */
type OpeningDecision = Decision & { readonly opening: PayoutOpening };

function opensPayout(decision: Decision): decision is OpeningDecision {
  return decision.opening !== null;
}

export class UnitOfWork implements MerchantView {
  readonly #base: MerchantState;
  readonly #entries: EntryRow[] = [];
  /** Payouts that begin here and were not touched again, by the ids of their rows that may change. */
  readonly #openings = new Map<string, OpeningDecision>();
  // of the kinds that have rows alone
  readonly #created = new Map<string, Images>();
  readonly #changed = new Map<string, Images>();
  readonly #once = new Map<string, unknown[]>();
  /** Statuses of payments before this batch, of those that it changes and that were there. */
  readonly #before = new Map<string, string>();
  #profile: MerchantRow | null = null;
  #state: MerchantState;
  #isDirty = false;
  #changes: MerchantChanges | null = null;

  /** @param liquidity what hot wallets can pay; what is decided here is taken off */
  constructor(
    state: MerchantState,
    readonly records: Records,
    readonly liquidity: RemainingLiquidity,
  ) {
    this.#base = state;
    this.#state = state;
  }

  get state(): MerchantState {
    return this.#state;
  }

  /** True where anything is to be written. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** Takes a decision in; all of it or, when it breaks an assumption, nothing (it throws). */
  take(decision: Decision): void {
    const { opening } = decision;
    if (opening !== null && this.records.byId.has(opening.id)) {
      throw new Error(`Cannot open a payout as it is there already: ${opening.id}`);
    }
    this.#state = apply(this, decision);
    if (opensPayout(decision)) this.#takeOpening(decision);
    else this.#takeRows(decision);
    this.#keepStatuses(decision);
    this.records.put(decision);
    this.liquidity.reserve(reservationsOf(decision.outgoing));
    for (const { id, status } of decision.outgoing) this.records.outgoing.set(id, status);
    for (const { id } of decision.voided) this.records.outgoing.set(id, "void");
    this.#profile = decision.profile ?? this.#profile;
    this.#isDirty ||= decision.profile !== null || decision.postings.length > 0 ||
      CHANGING.some((kind) => decision[kind].length > 0) ||
      ONCE.some((kind) => decision[kind].length > 0);
  }

  /** The status that a payment had before this batch; undefined: it begins here. */
  statusBefore(id: string): string | undefined {
    return this.#before.get(id);
  }

  /** Keeps the statuses that the records are about to lose; what a batch made has none before it. */
  #keepStatuses({ withdrawals, deposits }: Decision): void {
    const { records } = this;
    for (const { id } of withdrawals) this.#keepStatus(id, records.withdrawals.get(id)?.status);
    for (const { id } of deposits) this.#keepStatus(id, records.depositsById.get(id)?.status);
  }

  #keepStatus(id: string, status: string | undefined): void {
    const isNew = this.#openings.has(id) ||
      CHANGING.some((kind) => this.#created.get(kind)?.has(id) === true);
    if (status !== undefined && !isNew && !this.#before.has(id)) this.#before.set(id, status);
  }

  /** Keeps the one row of a payout that begins in place of those that follow from it. */
  #takeOpening(decision: OpeningDecision): void {
    for (const id of idsOf(decision.opening)) this.#openings.set(id, decision);
  }

  #takeRows(decision: Decision): void {
    for (const { id } of [...decision.withdrawals, ...decision.transactions, ...decision.voided]) {
      this.#unfold(id);
    }
    this.#entries.push(...this.#entriesOf(decision));
    for (const kind of CHANGING) for (const row of decision[kind]) this.#put(kind, row);
    this.#putOnce(decision);
  }

  /** Takes the rows of a payout that began in this batch, because one of them changes already. */
  #unfold(id: string): void {
    const opened = this.#openings.get(id);
    if (opened === undefined) return;
    for (const id of idsOf(opened.opening)) this.#openings.delete(id);
    this.#entries.push(...this.#entriesOf(opened));
    for (const kind of CHANGING) {
      for (const row of opened[kind]) imagesOf(this.#created, kind).set(row.id, row);
    }
    this.#putOnce(opened);
  }

  #entriesOf({ at, postings }: Pick<Decision, "at" | "postings">): readonly EntryRow[] {
    const { merchantId } = this.#base.merchant;
    return postings.map(({ from, to, ...posting }) => ({
      ...posting,
      merchantId,
      fromAccount: from,
      toAccount: to,
      createdAt: at,
    }));
  }

  /** Amounts of hot wallets that the payouts which are queued here will take. */
  get reservations(): readonly Reservation[] {
    const { openings, once } = this.changes();
    return [...openings, ...reservationsOf(once.outgoing)];
  }

  /** A record that was not read is new; one that was made in this batch stays so. */
  #put(kind: keyof ChangingRows, row: { readonly id: string }): void {
    const isNew = this.#created.get(kind)?.has(row.id) === true || !this.records.byId.has(row.id);
    imagesOf(isNew ? this.#created : this.#changed, kind).set(row.id, row);
  }

  #putOnce(decision: Decision): void {
    for (const kind of ONCE) {
      const rows = decision[kind];
      if (rows.length === 0) continue;
      const before = this.#once.get(kind);
      if (before === undefined) this.#once.set(kind, [...rows]);
      else before.push(...rows);
    }
  }

  /** The rows that the journal writes for this merchant, once everything is decided. */
  changes(): MerchantChanges {
    return this.#changes ??= this.#collect();
  }

  #collect(): MerchantChanges {
    const { merchant: { merchantId }, version, lastCommit } = this.#base;
    // what a margin gives another account does not follow from an opening
    const opened = [...new Set(this.#openings.values())];
    const margins = opened.flatMap(({ margins }) => margins);
    const shares = opened.flatMap(({ at, postings }) =>
      this.#entriesOf({ at, postings: postings.filter(({ leg }) => !DERIVED_LEGS.has(leg)) })
    );
    const once = this.#collectOnce();
    return {
      // the counters after it
      account: { ...this.#state, merchantId, version, lastCommit },
      opened: this.#opened(merchantId),
      openings: opened.map(({ opening }) => opening),
      entries: [...this.#entries, ...shares],
      merchants: this.#profile === null ? [] : [this.#profile],
      created: rowsOf(this.#created),
      changed: rowsOf(this.#changed),
      once: margins.length === 0 ? once : { ...once, margins: [...once.margins, ...margins] },
    };
  }

  /**
   * Rows that are written once. A payout that was queued and given up within one batch is inserted
   * as void: no node can have signed it.
   */
  #collectOnce(): WrittenOnce {
    if (this.#once.size === 0) return NOTHING_ONCE;
    // the keys are those of the table of row kinds
    const once: WrittenOnce = { ...NOTHING_ONCE, ...Object.fromEntries(this.#once) };
    const isQueuedHere = new Set(once.outgoing.map(({ id }) => id));
    const givenUp = new Map(once.voided.map((row: OutgoingVoid) => [row.id, row]));
    return {
      ...once,
      outgoing: once.outgoing.map((row): OutgoingRow => {
        const { reason } = givenUp.get(row.id) ?? {};
        return reason === undefined ? row : { ...row, status: "void", reason };
      }),
      voided: once.voided.filter(({ id }) => !isQueuedHere.has(id)),
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

/** Ids under which a later message may name a row of a payout. */
function idsOf({ id, transactionId, outgoingId }: PayoutOpening): readonly string[] {
  return [id, transactionId, outgoingId];
}

/** The rows of a kind, to put one in. */
function imagesOf(images: Map<string, Images>, kind: keyof ChangingRows): Images {
  let ofKind = images.get(kind);
  if (ofKind === undefined) images.set(kind, ofKind = new Map());
  return ofKind;
}

function rowsOf(images: ReadonlyMap<string, Images>): ChangingRows {
  if (images.size === 0) return NO_ROWS;
  // the keys are those of the table of row kinds
  const rows = [...images].map(([kind, ofKind]) => [kind, [...ofKind.values()]]);
  return { ...NO_ROWS, ...Object.fromEntries(rows) };
}
