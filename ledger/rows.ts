/**
 * The rows of the `book` schema, field by field in the order of their migration. `null` where the
 * column may be null; times are Unix milliseconds.
 *
 * @module
 */

import type { Amount } from "./money/amount.ts";
import type { Rate } from "./money/fees.ts";
import type { Currency, Network, OutgoingAsset } from "./money/pair.ts";
import { table } from "./table.ts";
import type {
  DepositStatus,
  OutgoingStatus,
  SettlementStatus,
  TransactionStatus,
  WithdrawalStatus,
} from "./money/transitions.ts";

/** Whether a merchant may create payments. */
export type MerchantStatus = "ACTIVE" | "SUSPENDED" | "INACTIVE";

/** Accounts a posting can touch; the first three belong to the merchant, the rest to the house. */
export type Account =
  | "available"
  | "pending"
  | "reserved"
  | "world"
  | "commission"
  | "network_fee"
  | "activation_fee"
  | "direct_deposit_fee"
  | "margin_held"
  | "margin_due";

/**
 * The key that made a record and the one that let it go, each with the administrator who stands
 * behind it; null: the chain or the service itself, or not yet.
 */
export interface Hands {
  readonly createdBy: string | null;
  readonly createdAdmin: string | null;
  readonly approvedBy: string | null;
  readonly approvedAdmin: string | null;
}
const HANDS = {
  createdBy: "text",
  createdAdmin: "text",
  approvedBy: "text",
  approvedAdmin: "text",
} as const;

/** The hands of a record that no key has made. */
export const NO_HANDS: Hands = {
  createdBy: null,
  createdAdmin: null,
  approvedBy: null,
  approvedAdmin: null,
};

/** Profile and settings of a merchant. */
export interface MerchantRow {
  readonly merchantId: string;
  readonly slot: number;
  readonly status: MerchantStatus;
  readonly name: string;
  readonly depositCommissionRate: Rate;
  readonly directDepositFee: Amount;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretPrevious: string | null;
  readonly webhookPreviousUntil: number | null;
  readonly webhookEnabled: boolean;
  readonly webhookEvents: readonly string[] | null;
  readonly webhookTimeoutMs: number;
  readonly webhookRetryCount: number;
  readonly successUrl: string | null;
  readonly failureUrl: string | null;
  /** Who may show the hosted page in a frame; null: nobody. */
  readonly pageOrigins: readonly string[] | null;
  /** Colour of the merchant's mark on the hosted page, `#rrggbb`. */
  readonly logoColor: string | null;
  readonly rateLimits: Readonly<Record<string, number | null>>;
  readonly resellerId: string | null;
  /** Share of this merchant's fees that goes to `marginBeneficiary`. */
  readonly marginRate: Rate;
  /** The merchant account that earns it: the merchant's own, or its reseller's. */
  readonly marginBeneficiary: string | null;
  readonly createdAt: number;
}
export const merchantTable = table<MerchantRow>("book.merchant", {
  merchantId: "text",
  slot: "integer",
  status: "text",
  name: "text",
  depositCommissionRate: "rate",
  directDepositFee: "amount",
  webhookUrl: "text",
  webhookSecret: "text",
  webhookSecretPrevious: "text",
  webhookPreviousUntil: "time",
  webhookEnabled: "boolean",
  webhookEvents: "texts",
  webhookTimeoutMs: "integer",
  webhookRetryCount: "integer",
  successUrl: "text",
  failureUrl: "text",
  pageOrigins: "texts",
  logoColor: "text",
  rateLimits: "json",
  resellerId: "text",
  marginRate: "rate",
  marginBeneficiary: "text",
  createdAt: "time",
});

/** One posting as it is kept. */
export interface EntryRow {
  readonly paymentId: string;
  readonly leg: string;
  readonly merchantId: string;
  readonly fromAccount: Account;
  readonly toAccount: Account;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly createdAt: number;
}
export const entryTable = table<EntryRow>("book.entry", {
  paymentId: "text",
  leg: "text",
  merchantId: "text",
  fromAccount: "text",
  toAccount: "text",
  currency: "text",
  network: "text",
  amount: "amount",
  createdAt: "time",
});

/** A deposit address of an end customer, a hosted session or a top-up. */
export interface DepositAddressRow {
  readonly id: string;
  readonly merchantId: string;
  readonly network: Network;
  readonly address: string;
  readonly walletIndex: number;
  readonly kind: "issued" | "session" | "top_up";
  readonly identifier: string | null;
  readonly referenceId: string | null;
  readonly activated: boolean;
  readonly createdAt: number;
}
export const depositAddressTable = table<DepositAddressRow>("book.deposit_address", {
  id: "text",
  merchantId: "text",
  network: "text",
  address: "text",
  walletIndex: "integer",
  kind: "text",
  identifier: "text",
  referenceId: "text",
  activated: "boolean",
  createdAt: "time",
});

/** A deposit. `fixedFee` is the activation fee or a top-up's flat fee. */
export interface DepositRow extends Hands {
  readonly id: string;
  readonly merchantId: string;
  readonly seq: number;
  readonly transactionSeq: number;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly status: DepositStatus;
  readonly reason: string | null;
  readonly source: string;
  readonly referenceId: string | null;
  readonly description: string | null;
  readonly commission: Amount;
  readonly commissionRate: Rate;
  readonly fixedFee: Amount;
  readonly usdRate: string | null;
  /** Share of its fees that went (or is held) for `marginTo`. */
  readonly margin: Amount;
  readonly marginTo: string | null;
  readonly addressId: string | null;
  readonly address: string | null;
  readonly txid: string | null;
  readonly logIndex: number | null;
  readonly sender: string | null;
  readonly height: number | null;
  readonly expiresAt: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly clearedAt: number | null;
  /** The first of two administrators who confirm a large deposit by hand. */
  readonly endorsedBy: string | null;
  readonly endorsedAdmin: string | null;
}
export const depositTable = table<DepositRow>("book.deposit", {
  id: "text",
  merchantId: "text",
  seq: "bigint",
  transactionSeq: "bigint",
  currency: "text",
  network: "text",
  amount: "amount",
  status: "text",
  reason: "text",
  source: "text",
  referenceId: "text",
  description: "text",
  commission: "amount",
  commissionRate: "rate",
  fixedFee: "amount",
  usdRate: "rate",
  margin: "amount",
  marginTo: "text",
  addressId: "text",
  address: "text",
  txid: "text",
  logIndex: "integer",
  sender: "text",
  height: "bigint",
  expiresAt: "time",
  metadata: "json",
  createdAt: "time",
  updatedAt: "time",
  clearedAt: "time",
  ...HANDS,
  endorsedBy: "text",
  endorsedAdmin: "text",
});

/** A withdrawal; `seq` is null for the one behind a settlement, which is not listed. */
export interface WithdrawalRow extends Hands {
  readonly id: string;
  readonly merchantId: string;
  readonly seq: number | null;
  readonly transactionSeq: number;
  /** The settlement it carries out, null for an ordinary one. */
  readonly settlementId: string | null;
  readonly outgoingId: string;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly baseFee: Amount;
  readonly markupRate: Rate;
  readonly markupAmount: Amount;
  readonly networkFee: Amount;
  /** Share of its commission that went (or is held) for `marginTo`. */
  readonly margin: Amount;
  readonly marginTo: string | null;
  readonly destination: string;
  readonly referenceId: string | null;
  readonly description: string | null;
  readonly status: WithdrawalStatus;
  readonly reason: string | null;
  readonly txid: string | null;
  readonly createdAt: number;
  readonly processedAt: number | null;
}
export const withdrawalTable = table<WithdrawalRow>("book.withdrawal", {
  id: "text",
  merchantId: "text",
  seq: "bigint",
  transactionSeq: "bigint",
  settlementId: "text",
  outgoingId: "text",
  currency: "text",
  network: "text",
  amount: "amount",
  baseFee: "amount",
  markupRate: "rate",
  markupAmount: "amount",
  networkFee: "amount",
  margin: "amount",
  marginTo: "text",
  destination: "text",
  referenceId: "text",
  description: "text",
  status: "text",
  reason: "text",
  txid: "text",
  createdAt: "time",
  processedAt: "time",
  ...HANDS,
});

/** One line of the merchant's statement. */
export interface TransactionRow {
  readonly merchantId: string;
  readonly seq: number;
  readonly id: string;
  readonly paymentId: string;
  readonly type: "DEPOSIT" | "WITHDRAWAL" | "SETTLEMENT";
  readonly status: TransactionStatus;
  readonly currency: Currency;
  readonly network: Network;
  /** The row's whole effect on available; negative for money out, zero while it has none. */
  readonly effect: Amount;
  readonly fee: Amount;
  readonly txid: string | null;
  readonly height: number | null;
  readonly fromAddress: string | null;
  readonly toAddress: string | null;
  readonly referenceId: string | null;
  readonly description: string | null;
  readonly category: string | null;
  readonly createdAt: number;
}
export const transactionTable = table<TransactionRow>("book.transaction", {
  merchantId: "text",
  seq: "bigint",
  id: "text",
  paymentId: "text",
  type: "text",
  status: "text",
  currency: "text",
  network: "text",
  effect: "amount",
  fee: "amount",
  txid: "text",
  height: "bigint",
  fromAddress: "text",
  toAddress: "text",
  referenceId: "text",
  description: "text",
  category: "text",
  createdAt: "time",
});

/** One fee taken, or its reversal (negative). */
export interface ChargeRow {
  readonly merchantId: string;
  readonly seq: number;
  readonly id: string;
  readonly paymentId: string;
  readonly type:
    | "ADDRESS_ACTIVATION"
    | "DIRECT_DEPOSIT"
    | "DEPOSIT_COMMISSION"
    | "WITHDRAWAL_COMMISSION"
    | "NETWORK_FEE"
    | "REVERSAL";
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly createdAt: number;
}
export const chargeTable = table<ChargeRow>("book.charge", {
  merchantId: "text",
  seq: "bigint",
  id: "text",
  paymentId: "text",
  type: "text",
  currency: "text",
  network: "text",
  amount: "amount",
  createdAt: "time",
});

/** One intended transfer out of a wallet of ours. */
export interface OutgoingRow {
  readonly id: string;
  readonly merchantId: string;
  readonly kind:
    | "payout"
    | "settlement"
    | "sweep"
    | "gas"
    | "delegation"
    | "reclaim"
    | "cold";
  readonly paymentId: string | null;
  readonly network: Network;
  readonly currency: OutgoingAsset;
  readonly amount: Amount;
  readonly wallet: string;
  readonly destination: string;
  readonly status: OutgoingStatus;
  readonly reason: string | null;
  readonly attempts: number;
  readonly leaseUntil: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}
export const outgoingTable = table<OutgoingRow>("book.outgoing", {
  id: "text",
  merchantId: "text",
  kind: "text",
  paymentId: "text",
  network: "text",
  currency: "text",
  amount: "amount",
  wallet: "text",
  destination: "text",
  status: "text",
  reason: "text",
  attempts: "integer",
  leaseUntil: "time",
  createdAt: "time",
  updatedAt: "time",
});

/** One event for a merchant; `payload` is the exact text that is signed and sent. */
export interface EventRow {
  readonly id: string;
  readonly merchantId: string;
  readonly paymentId: string;
  readonly type: string;
  readonly payload: string;
  readonly status: "PENDING" | "DELIVERED" | "FAILED" | "SKIPPED";
  readonly attempts: number;
  readonly nextAttemptAt: number;
  readonly claimedUntil: number | null;
  /** Session of the node that holds the claim. */
  readonly claimedBy: string | null;
  readonly lastOutcome: string | null;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
}
export const eventTable = table<EventRow>("book.outbox", {
  id: "text",
  merchantId: "text",
  paymentId: "text",
  type: "text",
  payload: "text",
  status: "text",
  attempts: "integer",
  nextAttemptAt: "time",
  claimedUntil: "time",
  claimedBy: "text",
  lastOutcome: "text",
  createdAt: "time",
  deliveredAt: "time",
});

/** Name of one inbox row. */
export interface InboxKey {
  readonly merchantId: string;
  readonly network: Network;
  readonly txid: string;
  readonly logIndex: number;
  readonly phase:
    | "seen"
    | "solid"
    | "vanished"
    | "submitted"
    | "outcome"
    | "margin"
    | "swept";
}
export const inboxKeyTable = table<InboxKey>("book.inbox_key", {
  merchantId: "text",
  network: "text",
  txid: "text",
  logIndex: "integer",
  phase: "text",
});

/** An outgoing row that is given up together with the refund of its payment. */
export interface OutgoingVoid {
  readonly id: string;
  readonly merchantId: string;
  readonly fromStatus: "queued" | "dead";
  readonly reason: string;
}
export const outgoingVoidTable = table<OutgoingVoid>("book.outgoing_void", {
  id: "text",
  merchantId: "text",
  fromStatus: "text",
  reason: "text",
});

/** A pair in which a merchant gets its first balance row. */
export interface BalanceKey {
  readonly merchantId: string;
  readonly currency: Currency;
  readonly network: Network;
}
export const balanceKeyTable = table<BalanceKey>("book.balance_key", {
  merchantId: "text",
  currency: "text",
  network: "text",
});

/** One merchant's part of a batch: the version it was decided on, the counters after it. */
export interface SliceRow {
  readonly merchantId: string;
  readonly version: number;
  /** The commit that the slice was decided on. */
  readonly lastCommit: string;
  readonly depositSeq: number;
  readonly withdrawalSeq: number;
  readonly transactionSeq: number;
  readonly chargeSeq: number;
  readonly settlementSeq: number;
  readonly lastAt: number;
}
export const sliceTable = table<SliceRow>("book.slice", {
  merchantId: "text",
  version: "bigint",
  lastCommit: "text",
  depositSeq: "bigint",
  withdrawalSeq: "bigint",
  transactionSeq: "bigint",
  chargeSeq: "bigint",
  settlementSeq: "bigint",
  lastAt: "time",
});

/** An address that a merchant may settle to, once an administrator has activated it. */
export interface SettlementAddressRow extends Hands {
  readonly id: string;
  readonly merchantId: string;
  readonly network: Network;
  readonly address: string;
  readonly label: string;
  readonly active: boolean;
  readonly removedAt: number | null;
  readonly createdAt: number;
}
export const settlementAddressTable = table<SettlementAddressRow>("book.settlement_address", {
  id: "text",
  merchantId: "text",
  network: "text",
  address: "text",
  label: "text",
  active: "boolean",
  removedAt: "time",
  createdAt: "time",
  ...HANDS,
});

/** A state that a settlement was in. */
export interface SettlementStep {
  readonly status: SettlementStatus;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** A payout to a whitelisted address of the merchant's own. */
export interface SettlementRow extends Hands {
  readonly id: string;
  readonly merchantId: string;
  readonly seq: number;
  readonly withdrawalId: string;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly totalFees: Amount;
  readonly address: string;
  readonly label: string;
  readonly status: SettlementStatus;
  readonly reason: string | null;
  readonly idempotencyKey: string | null;
  readonly bodyHash: string | null;
  /** Whether it waited for an administrator when it was created. */
  readonly neededApproval: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Every state it was in, oldest first: `PENDING` first, `status` last. */
  readonly history: readonly SettlementStep[];
}
export const settlementTable = table<SettlementRow>("book.settlement", {
  id: "text",
  merchantId: "text",
  seq: "bigint",
  withdrawalId: "text",
  currency: "text",
  network: "text",
  amount: "amount",
  totalFees: "amount",
  address: "text",
  label: "text",
  status: "text",
  reason: "text",
  idempotencyKey: "text",
  bodyHash: "text",
  neededApproval: "boolean",
  createdAt: "time",
  updatedAt: "time",
  ...HANDS,
  history: "json",
});

/** One share of a fee, credited or held (`earned`), or taken back (`reversed`). */
export interface MarginRow {
  readonly paymentId: string;
  readonly leg: string;
  readonly merchantId: string;
  readonly beneficiary: string;
  readonly currency: Currency;
  readonly network: Network;
  /** The amount that the fee was charged on. */
  readonly volume: Amount;
  readonly fee: Amount;
  readonly earned: Amount;
  readonly reversed: Amount;
  readonly createdAt: number;
}
export const marginTable = table<MarginRow>("book.margin", {
  paymentId: "text",
  leg: "text",
  merchantId: "text",
  beneficiary: "text",
  currency: "text",
  network: "text",
  volume: "amount",
  fee: "amount",
  earned: "amount",
  reversed: "amount",
  createdAt: "time",
});

/** A row for the inbox of another merchant; `data.payer` names the writer. */
export interface InboxInsert extends InboxKey {
  readonly data: Readonly<Record<string, unknown>> & { readonly payer: string };
  readonly createdAt: number;
  readonly consumedAt: null;
  readonly quarantine: null;
}
export const inboxTable = table<InboxInsert>("book.inbox", {
  merchantId: "text",
  network: "text",
  txid: "text",
  logIndex: "integer",
  phase: "text",
  data: "json",
  createdAt: "time",
  consumedAt: "time",
  quarantine: "text",
});

/** A message of a trusted upstream system that took effect. */
export interface IngestedRow {
  readonly eventId: string;
  readonly merchantId: string;
  readonly bodyHash: string;
  /** The transaction of somebody else's wallet that paid a withdrawal; it pays only one. */
  readonly network: Network | null;
  readonly txid: string | null;
  readonly createdAt: number;
}
export const ingestedTable = table<IngestedRow>("book.ingested", {
  eventId: "text",
  merchantId: "text",
  bodyHash: "text",
  network: "text",
  txid: "text",
  createdAt: "time",
});

/** What an administrator did, kept with its effect. */
export interface AuditRow {
  readonly id: string;
  /** Null where all merchants are concerned. */
  readonly merchantId: string | null;
  /** The key that was used. */
  readonly actor: string;
  /** For example `withdrawal.approve`. */
  readonly action: string;
  /** Id of the record. */
  readonly subject: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | null;
  readonly createdAt: number;
}
export const auditTable = table<AuditRow>("book.audit", {
  id: "text",
  merchantId: "text",
  actor: "text",
  action: "text",
  subject: "text",
  before: "json",
  after: "json",
  requestId: "text",
  createdAt: "time",
});
