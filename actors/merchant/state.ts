/**
 * What a merchant actor knows: its account as of one version, and the records that the messages at
 * hand speak of.
 *
 * @module
 */

import type { AccountSnapshot } from "../../ledger/journal/read_accounts.ts";
import type { Facts } from "../../ledger/journal/read_facts.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type {
  DepositAddressRow,
  DepositRow,
  IngestedRow,
  OutgoingRow,
  SettlementAddressRow,
  SettlementRow,
  TransactionRow,
  WithdrawalRow,
} from "../../ledger/rows.ts";
import type { OutgoingStatus } from "../../ledger/money/transitions.ts";
import type { HotFunds } from "./liquidity.ts";

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

/**
 * The records at hand while a batch is decided: read from the database, then kept current by
 * `apply`, so that a message sees what earlier messages of the same batch did.
 */
export class Records {
  readonly withdrawals = new Map<string, WithdrawalRow>();
  /** On-chain (and claimed) deposits, by transfer. */
  readonly deposits = new Map<string, DepositRow>();
  readonly depositsById = new Map<string, DepositRow>();
  readonly addresses = new Map<string, DepositAddressRow>();
  readonly topUps = new Map<Network, DepositAddressRow>();
  readonly addressesById = new Map<string, DepositAddressRow>();
  readonly identifiers = new Map<string, DepositAddressRow>();
  readonly transactions = new Map<number, TransactionRow>();
  readonly settlements = new Map<string, SettlementRow>();
  readonly whitelist = new Map<string, SettlementAddressRow>();
  readonly ingested = new Map<string, string>();
  /** Transactions of other wallets that paid a withdrawal, of whatever merchant. */
  readonly payments = new Set<string>();
  /** Transactions, named by deposits by hand, that paid or were booked by hand for another one. */
  readonly ofAnother = new Set<string>();
  readonly outgoing = new Map<string, OutgoingStatus>();
  /** Rows of this batch that the database does not have yet. */
  readonly newOutgoing = new Map<string, OutgoingRow>();

  /** The records of one merchant among everything that was read. */
  static of(merchantId: string, facts: Facts): Records {
    const records = new Records();
    for (const row of facts.withdrawals) {
      if (row.merchantId === merchantId) records.withdrawals.set(row.id, row);
    }
    for (const row of facts.deposits) if (row.merchantId === merchantId) records.putDeposit(row);
    for (const row of facts.addresses) if (row.merchantId === merchantId) records.putAddress(row);
    for (const row of facts.transactions) {
      if (row.merchantId === merchantId) records.transactions.set(row.seq, row);
    }
    for (const row of facts.settlements) {
      if (row.merchantId === merchantId) records.settlements.set(row.id, row);
    }
    for (const row of facts.whitelist) {
      if (row.merchantId === merchantId) records.whitelist.set(row.id, row);
    }
    // of whatever merchant: an event's id is used once
    for (const row of facts.ingested) records.putIngested(row);
    for (const row of facts.ofAnother) {
      if (row.merchantId === merchantId) records.ofAnother.add(paymentKey(row.network, row.txid));
    }
    for (const row of facts.outgoing) {
      if (row.merchantId === merchantId) records.outgoing.set(row.id, row.status);
    }
    return records;
  }

  /** Takes an upstream message that took effect. */
  putIngested({ eventId, bodyHash, network, txid }: IngestedRow): void {
    this.ingested.set(eventId, bodyHash);
    if (network !== null && txid !== null) this.payments.add(paymentKey(network, txid));
  }

  /** Takes a deposit's new image. */
  putDeposit(row: DepositRow): void {
    this.depositsById.set(row.id, row);
    if (row.txid === null || row.logIndex === null) return;
    this.deposits.set(transferKey(row.network, row.txid, row.logIndex), row);
  }

  /** Takes an address's new image. */
  putAddress(row: DepositAddressRow): void {
    this.addresses.set(`${row.network}/${row.address}`, row);
    this.addressesById.set(row.id, row);
    if (row.kind === "top_up") this.topUps.set(row.network, row);
    if (row.kind === "issued" && row.identifier !== null) {
      this.identifiers.set(`${row.network}/${row.identifier}`, row);
    }
  }
}

/** What a decision may look at. */
export interface MerchantView {
  readonly state: MerchantState;
  readonly records: Records;
  /** What hot wallets can still promise, after what earlier messages of the batch were promised. */
  readonly hotFunds: Pick<HotFunds, "left">;
  /** The living withdrawal that is known to hold a reference. */
  holderOf(referenceId: string): string | undefined;
}
