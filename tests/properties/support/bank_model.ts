/**
 * A merchant's money as it should be, in the plainest way: no batches, no versions, one thing
 * after the other. Amounts are whole millionths of a token. The property test compares the database
 * with it after every step.
 *
 * @module
 */

import type {
  DepositStatus,
  OutgoingStatus,
  SettlementStatus,
  WithdrawalStatus,
} from "../../../ledger/money/transitions.ts";

/** One token. */
export const TOKEN = 1_000_000n;
/** Settings that the test's database has. */
export const BASE_FEE = 700_000n;
export const MARKUP_PER_MILLION = 13_000n;
export const NETWORK_FEE = TOKEN;
export const SETTLEMENT_THRESHOLD = 50n * TOKEN;
const MINIMUM = TOKEN;
const ACTIVATION_FEE = TOKEN / 2n;

export interface Merchant {
  readonly id: string;
  /** Its deposit address. */
  readonly address: string;
  readonly addressId: string;
  /** Commission on deposits, and share of its fees, in millionths. */
  readonly rate: bigint;
  readonly marginRate: bigint;
  /** The account that earns that share. */
  readonly marginTo: Merchant | "itself" | null;
  available: bigint;
  pending: bigint;
  reserved: bigint;
  /** True once it has had money of the pair. */
  isOpen: boolean;
  isActivated: boolean;
  /** Events it should have been told. */
  events: number;
}

export interface Deposit {
  readonly txid: string;
  readonly merchant: Merchant;
  amount: bigint;
  status: DepositStatus;
}

export interface Withdrawal {
  readonly id: string;
  readonly outgoingId: string;
  readonly merchant: Merchant;
  readonly amount: bigint;
  readonly commission: bigint;
  readonly margin: bigint;
  readonly referenceId: string | null;
  readonly settlement: { readonly id: string; status: SettlementStatus } | null;
  status: WithdrawalStatus;
  outgoing: OutgoingStatus | "none";
  attempts: number;
  /** The transaction in flight, and when it dies. */
  txid: string;
  expiresAt: number;
}

/** Something a merchant will hear. */
export type Heard =
  | { readonly kind: "seen" | "solid"; readonly txid: string; readonly amount: bigint }
  | { readonly kind: "vanished"; readonly txid: string }
  | { readonly kind: "submitted"; readonly of: Withdrawal }
  | {
    readonly kind: "outcome";
    readonly of: Withdrawal;
    readonly result: "paid" | "failed" | "abandoned";
  };

function halfUp(amount: bigint, perMillion: bigint): bigint {
  return (amount * perMillion * 2n + TOKEN) / (2n * TOKEN);
}

/** Events of a deposit's end: its own and its line's; a small one's own alone, kept and never sent. */
function depositEvents(amount: bigint): number {
  return amount < TOKEN ? 1 : 2;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export class Bank {
  readonly deposits = new Map<string, Deposit>();
  readonly withdrawals: Withdrawal[] = [];
  /** Shares that wait on the payers' side for their payment to be final. */
  held = 0n;

  constructor(readonly merchants: readonly Merchant[]) {}

  /** Reserves a payout, or says why not. */
  open(
    merchant: Merchant,
    names: Pick<Withdrawal, "id" | "outgoingId" | "referenceId"> & {
      readonly settlementId: string | null;
    },
    amount: bigint,
    needsApproval: boolean,
  ): string {
    const { id, outgoingId, referenceId, settlementId } = names;
    if (amount < MINIMUM) return "below_minimum";
    const holder = this.withdrawals.some((other) =>
      other.merchant === merchant && referenceId !== null && other.referenceId === referenceId &&
      other.status !== "FAILED" && other.status !== "CANCELLED"
    );
    if (holder) return "reference_taken";
    if (!merchant.isOpen) return "no_balance_row";
    const commission = BASE_FEE + halfUp(amount, MARKUP_PER_MILLION);
    if (merchant.available < amount + commission + NETWORK_FEE) return "insufficient_balance";
    const margin = merchant.marginTo === null ? 0n : commission * merchant.marginRate / TOKEN;
    merchant.available -= amount + commission + NETWORK_FEE;
    merchant.reserved += amount;
    if (merchant.marginTo === "itself") merchant.available += margin;
    else this.held += margin;
    this.withdrawals.push({
      id,
      outgoingId,
      referenceId,
      merchant,
      amount,
      commission,
      margin,
      settlement: settlementId === null
        ? null
        : { id: settlementId, status: needsApproval ? "APPROVAL_REQUIRED" : "PROCESSING" },
      status: needsApproval ? "PENDING_APPROVAL" : "PENDING",
      outgoing: needsApproval ? "none" : "queued",
      attempts: 0,
      txid: "",
      expiresAt: 0,
    });
    return "done";
  }

  /** Gives a payout's money back. */
  refund(withdrawal: Withdrawal, status: "FAILED" | "CANCELLED"): void {
    const { merchant, amount, commission, margin } = withdrawal;
    merchant.available += amount + commission + NETWORK_FEE;
    merchant.reserved -= amount;
    if (merchant.marginTo === "itself") merchant.available -= margin;
    else this.held -= margin;
    withdrawal.status = status;
    if (withdrawal.outgoing !== "none") withdrawal.outgoing = "void";
    if (withdrawal.settlement === null) merchant.events += 2;
  }

  fail(withdrawal: Withdrawal): string {
    const { settlement, status, outgoing } = withdrawal;
    if (status === "FAILED") return "done";
    if (status !== "PENDING") return "wrong_state";
    if (outgoing !== "queued" && outgoing !== "dead") return "already_sent";
    this.refund(withdrawal, "FAILED");
    if (settlement !== null) settlement.status = "FAILED";
    return "done";
  }

  approve(withdrawal: Withdrawal): string {
    const { settlement, status } = withdrawal;
    if (status === "CANCELLED") return "wrong_state";
    if (status === "PENDING_APPROVAL") {
      withdrawal.status = "PENDING";
      withdrawal.outgoing = "queued";
      if (settlement !== null) settlement.status = "PROCESSING";
    }
    return "done";
  }

  decline(withdrawal: Withdrawal, to: "REJECTED" | "CANCELLED"): string {
    if (withdrawal.status !== "PENDING_APPROVAL") return "wrong_state";
    this.refund(withdrawal, "CANCELLED");
    if (withdrawal.settlement !== null) withdrawal.settlement.status = to;
    return "done";
  }

  /** A merchant hears something. */
  hear(merchant: Merchant, heard: Heard): void {
    switch (heard.kind) {
      case "seen":
        return this.#see(merchant, heard.txid, heard.amount);
      case "solid":
        return this.#credit(merchant, heard.txid, heard.amount);
      case "vanished": {
        const deposit = this.deposits.get(heard.txid);
        if (deposit?.status !== "PENDING") return;
        deposit.status = "FAILED";
        merchant.pending -= deposit.amount;
        merchant.events += depositEvents(deposit.amount);
        return;
      }
      case "submitted":
        if (heard.of.settlement?.status === "PROCESSING") {
          heard.of.settlement.status = "SUBMITTED_TO_LEDGER";
        }
        return;
      case "outcome":
        return this.#settle(heard.of, heard.result);
      default: {
        const never: never = heard;
        return never;
      }
    }
  }

  #see(merchant: Merchant, txid: string, amount: bigint): void {
    if (this.deposits.has(txid)) return;
    this.deposits.set(txid, { txid, merchant, amount, status: "PENDING" });
    merchant.isOpen = true;
    merchant.pending += amount;
  }

  #credit(merchant: Merchant, txid: string, amount: bigint): void {
    this.#see(merchant, txid, amount);
    const deposit = this.deposits.get(txid) as Deposit;
    if (deposit.status === "CONFIRMED") return;
    if (deposit.status === "PENDING") merchant.pending -= deposit.amount;
    deposit.amount = amount;
    deposit.status = "CONFIRMED";
    if (amount < TOKEN) {
      merchant.available += amount;
      merchant.events += depositEvents(amount);
      return;
    }
    const commission = halfUp(amount, merchant.rate);
    const activation = merchant.isActivated ? 0n : least(ACTIVATION_FEE, amount - commission);
    merchant.isActivated = true;
    merchant.available += amount - commission - activation;
    merchant.events += depositEvents(amount);
    const share = (fee: bigint) => fee * merchant.marginRate / TOKEN;
    this.#earn(merchant, share(commission) + share(activation));
  }

  #earn(merchant: Merchant, margin: bigint): void {
    if (merchant.marginTo === null || margin === 0n) return;
    const earner = merchant.marginTo === "itself" ? merchant : merchant.marginTo;
    earner.available += margin;
    // the line that it gets; a share of its own fees has none
    if (merchant.marginTo !== "itself") earner.events++;
    earner.isOpen = true;
  }

  #settle(withdrawal: Withdrawal, result: "paid" | "failed" | "abandoned"): void {
    const { merchant, settlement } = withdrawal;
    if (withdrawal.status !== "PENDING") return;
    if (result !== "paid") {
      if (withdrawal.outgoing !== "dead") return;
      this.refund(withdrawal, "FAILED");
      if (settlement !== null) settlement.status = "FAILED";
      return;
    }
    withdrawal.status = "CONFIRMED";
    merchant.reserved -= withdrawal.amount;
    if (settlement === null) merchant.events += 2;
    else settlement.status = "COMPLETED";
    if (merchant.marginTo === "itself") return;
    this.held -= withdrawal.margin;
    this.#earn(merchant, withdrawal.margin);
  }
}
