/**
 * The knowledge of a merchant actor: its account as of one version, and the records that the messages at
 * hand speak of.
 *
 * @module
 */

import type { AccountSnapshot } from "../../ledger/journal/read_accounts.ts";
import type { BatchRecords } from "../../ledger/journal/read_records.ts";
import { add, type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import { type Currency, type Network, pairKey } from "../../ledger/money/pair.ts";
import type { OutgoingStatus } from "../../ledger/money/transitions.ts";
import type {
  DepositRow,
  SettlementAddressRow,
  SettlementRow,
  TransactionRow,
  WithdrawalRow,
} from "../../ledger/payment_rows.ts";
import type {
  ChangingRows,
  DepositAddressRow,
  IngestedRow,
  OutgoingRow,
} from "../../ledger/rows.ts";

/** A merchant's account as of one version. Replaced as a whole, never edited. */
export type MerchantState = AccountSnapshot;

/** Log index of a manual deposit that claims a whole transaction. */
export const CLAIM = -1;

/** Map key of an on-chain transfer. */
export function transferKey(network: Network, txid: string, logIndex: number): string {
  return `${network}/${txid}/${logIndex}`;
}

/** Map key of a transaction as a whole. */
export function paymentKey(network: Network, txid: string): string {
  return `${network}/${txid}`;
}

/** A row that may change later, of any kind. */
type ChangingRow = ChangingRows[keyof ChangingRows][number];

/**
 * The records at hand while a batch is decided: read from the database, then kept current with each
 * decision, so that a message sees what earlier messages of the same batch did.
 */
export class Records {
  /** Every record that may change, as it is now. */
  readonly byId = new Map<string, ChangingRow>();
  readonly withdrawals = new Map<string, WithdrawalRow>();
  /** Living withdrawals by the reference that they hold. */
  readonly holders = new Map<string, string>();
  /**
   * False where references are not read: the write looks them up, and a payout that wants a taken one
   * is decided again.
   */
  hasReferences = true;
  /** On-chain (and claimed) deposits, by transfer. */
  readonly deposits = new Map<string, DepositRow>();
  readonly depositsById = new Map<string, DepositRow>();
  readonly addresses = new Map<string, DepositAddressRow>();
  readonly topUps = new Map<Network, DepositAddressRow>();
  readonly addressesById = new Map<string, DepositAddressRow>();
  readonly identifiers = new Map<string, DepositAddressRow>();
  readonly transactions = new Map<number, TransactionRow>();
  readonly settlements = new Map<string, SettlementRow>();
  /** The addresses of the whitelist that messages name. */
  readonly whitelist = new Map<string, SettlementAddressRow>();
  /** Addresses on the whole whitelist; known where one is to be added. */
  listed = 0;
  readonly ingested = new Map<string, string>();
  /** Transactions of other wallets that paid a withdrawal, of any merchant. */
  readonly payments = new Set<string>();
  /** Transactions, named by deposits by hand, that paid or were booked by hand for another one. */
  readonly ofAnother = new Set<string>();
  readonly outgoing = new Map<string, OutgoingStatus>();

  /** The records of each merchant among everything that was read, grouped once for all of them. */
  static perMerchant(read: BatchRecords): (merchantId: string) => Records {
    const group = <R extends { readonly merchantId: string }>(rows: readonly R[]) => {
      const groups = Map.groupBy(rows, ({ merchantId }) => merchantId);
      return (merchantId: string): readonly R[] => groups.get(merchantId) ?? [];
    };
    const [withdrawals, deposits] = [group(read.withdrawals), group(read.deposits)];
    const [transactions, addresses] = [group(read.transactions), group(read.addresses)];
    const [settlements, whitelist] = [group(read.settlements), group(read.whitelist)];
    const [holders, ofAnother] = [group(read.holders), group(read.ofAnother)];
    const outgoing = group(read.outgoing);
    const listed = group(read.listed);
    return (id) => {
      const records = new Records();
      records.put({
        withdrawals: withdrawals(id),
        deposits: deposits(id),
        transactions: transactions(id),
        addresses: addresses(id),
        settlements: settlements(id),
        whitelist: whitelist(id),
        // of any merchant: an event's id is used once
        ingested: read.ingested,
      });
      const [whole] = listed(id);
      if (whole !== undefined) records.listed = whole.count;
      for (const row of holders(id)) records.holders.set(row.referenceId, row.withdrawalId);
      for (const row of ofAnother(id)) records.ofAnother.add(paymentKey(row.network, row.txid));
      for (const row of outgoing(id)) records.outgoing.set(row.id, row.status);
      return records;
    };
  }

  /** Takes rows in their new image. */
  put(rows: ChangingRows & { readonly ingested: readonly IngestedRow[] }): void {
    for (const row of rows.withdrawals) this.#putWithdrawal(row);
    for (const row of rows.deposits) this.#putDeposit(row);
    for (const row of rows.transactions) {
      this.byId.set(row.id, row);
      this.transactions.set(row.seq, row);
    }
    for (const row of rows.addresses) this.#putAddress(row);
    for (const row of rows.settlements) {
      this.byId.set(row.id, row);
      this.settlements.set(row.id, row);
    }
    for (const row of rows.whitelist) this.#putListed(row);
    for (const { eventId, bodyHash, network, txid } of rows.ingested) {
      this.ingested.set(eventId, bodyHash);
      if (network !== null && txid !== null) this.payments.add(paymentKey(network, txid));
    }
  }

  #putWithdrawal(row: WithdrawalRow): void {
    this.byId.set(row.id, row);
    this.withdrawals.set(row.id, row);
    if (row.referenceId === null) return;
    if (row.status !== "FAILED" && row.status !== "CANCELLED") {
      this.holders.set(row.referenceId, row.id);
    } else if (this.holders.get(row.referenceId) === row.id) this.holders.delete(row.referenceId);
  }

  #putListed(row: SettlementAddressRow): void {
    const before = this.whitelist.get(row.id);
    if (before?.removedAt === null) this.listed--;
    if (row.removedAt === null) this.listed++;
    this.byId.set(row.id, row);
    this.whitelist.set(row.id, row);
  }

  #putDeposit(row: DepositRow): void {
    this.byId.set(row.id, row);
    this.depositsById.set(row.id, row);
    if (row.txid === null || row.logIndex === null) return;
    this.deposits.set(transferKey(row.network, row.txid, row.logIndex), row);
  }

  #putAddress(row: DepositAddressRow): void {
    this.byId.set(row.id, row);
    this.addresses.set(`${row.network}/${row.address}`, row);
    this.addressesById.set(row.id, row);
    if (row.kind === "top_up") this.topUps.set(row.network, row);
    if (row.kind === "issued" && row.identifier !== null) {
      this.identifiers.set(`${row.network}/${row.identifier}`, row);
    }
  }
}

/** Everything that a decision may read. */
export interface MerchantView {
  readonly state: MerchantState;
  readonly records: Records;
  /** Amounts that hot wallets can still pay, less what earlier messages of the batch have reserved. */
  readonly liquidity: Pick<RemainingLiquidity, "left">;
}

/** Amount that a hot wallet can still pay; null where it is not known. */
export type Liquidity = (network: Network, currency: Currency) => Amount | null;

/** An amount of a hot wallet that a payout has reserved. */
export interface Reservation {
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: Amount;
}

/** Reservations by new rows of the treasury for merchants. */
export function reservationsOf(rows: Iterable<OutgoingRow>): readonly Reservation[] {
  const reservations: Reservation[] = [];
  for (const { network, currency, amount, status } of rows) {
    if (status !== "queued" || currency === "native") continue;
    reservations.push({ network, currency, amount });
  }
  return reservations;
}

/** Liquidity of hot wallets while payouts are decided, one after the other. */
export class RemainingLiquidity {
  readonly #before: Liquidity;
  readonly #reserved = new Map<string, Amount>();

  /** @param before what they could pay when this began */
  constructor(before: Liquidity) {
    this.#before = before;
  }

  /** Amount that is left after the reservations made here; null where it is not known. */
  left(network: Network, currency: Currency): Amount | null {
    const before = this.#before(network, currency);
    if (before === null) return null;
    return subtract(before, this.#reserved.get(pairKey(currency, network)) ?? ZERO);
  }

  reserve(reservations: readonly Reservation[]): void {
    for (const { network, currency, amount } of reservations) {
      const key = pairKey(currency, network);
      this.#reserved.set(key, add(this.#reserved.get(key) ?? ZERO, amount));
    }
  }
}
