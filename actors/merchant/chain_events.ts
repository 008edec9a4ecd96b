/**
 * Chain events of a merchant: rows of its inbox, read and checked. An event is not refused; it is
 * consumed with its effect, without effect (when it was known already), or quarantined.
 *
 * @module
 */

import { z } from "zod";
import {
  type Amount,
  amountOf,
  formatAmount,
  fromUnits,
  LARGEST_PAYMENT,
} from "../../ledger/money/amount.ts";
import type { InboxRow } from "../../ledger/journal/read_inbox.ts";
import { CURRENCIES, type Currency } from "../../ledger/money/pair.ts";
import type { InboxKey } from "../../ledger/rows.ts";
import { newId } from "../runtime/ids.ts";
import type { EventIds } from "./messages.ts";

const TransferData = z.object({
  currency: z.enum(CURRENCIES),
  amount: z.string(),
  from: z.string(),
  to: z.string(),
  addressId: z.string(),
  height: z.number().int(),
  expiresAt: z.number().int(),
});
const OutcomeData = z.object({
  outgoingId: z.string(),
  withdrawalId: z.string(),
  settlementId: z.string().nullable().default(null),
  result: z.enum(["paid", "failed", "abandoned"]),
  reason: z.string().nullable(),
  height: z.number().int().nullable(),
});
const SubmittedData = z.object({ withdrawalId: z.string(), settlementId: z.string() });
const SweptData = z.object({ to: z.string(), outgoingId: z.string(), sweepTxid: z.string() });
const MarginData = z.object({ currency: z.enum(CURRENCIES), amount: z.string().regex(/^\d+$/) });

interface Stamp {
  readonly key: InboxKey;
  readonly at: number;
}

/** A transfer to one of the merchant's addresses, in a block that may still change or in a solid one. */
export interface TransferEvent extends Stamp {
  readonly type: "transfer";
  readonly phase: "seen" | "solid";
  readonly currency: Currency;
  readonly amount: Amount;
  readonly from: string;
  readonly to: string;
  readonly addressId: string;
  readonly height: number;
  readonly expiresAt: number;
  readonly usdRate: string;
  readonly depositId: string;
  readonly transactionId: string;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/** A transfer that was seen can no longer become final. */
export interface VanishedEvent extends Stamp {
  readonly type: "vanished";
  readonly to: string;
  readonly reason: string;
  readonly eventIds: EventIds;
}

/** The end of a payout, from solid blocks only. */
export interface OutcomeEvent extends Stamp {
  readonly type: "outcome";
  readonly outgoingId: string;
  readonly withdrawalId: string;
  readonly settlementId: string | null;
  /** `failed` and `abandoned` are proven never to pay. */
  readonly result: "paid" | "failed" | "abandoned";
  readonly reason: string | null;
  readonly height: number | null;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/** A settlement's transaction is signed and on its way. */
export interface SubmittedEvent extends Stamp {
  readonly type: "submitted";
  readonly withdrawalId: string;
  readonly settlementId: string;
}

/** A top-up was carried to the hot wallet, by a sweep that is final. */
export interface SweptEvent extends Stamp {
  readonly type: "swept";
  readonly to: string;
  /** The sweep, and its transaction. */
  readonly outgoingId: string;
  readonly sweepTxid: string;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/** A share of another merchant's fees is due to this one. */
export interface MarginEvent extends Stamp {
  readonly type: "margin";
  readonly currency: Currency;
  readonly amount: Amount;
  readonly transactionId: string;
  readonly eventId: string;
}

/** Any row of a merchant's inbox. */
export type ChainEvent =
  | TransferEvent
  | VanishedEvent
  | OutcomeEvent
  | SubmittedEvent
  | MarginEvent
  | SweptEvent;

/** Throws for what no holder of the currency can have sent: the sums that it goes into have no room. */
function payable(amount: Amount): Amount {
  if (amount <= LARGEST_PAYMENT) return amount;
  throw new RangeError(`Cannot book a payment as it is too large: ${formatAmount(amount)}`);
}

/**
 * Makes a message of an inbox row, minting time, rate and ids once.
 *
 * @param usdRate US dollars per unit of the currency, kept with the deposit
 * @throws when the row is not of a known shape, which is a bug in its writer, or its amount is absurd
 */
export function chainEventOf(
  row: InboxRow,
  at: number,
  usdRate: (currency: Currency) => string,
): ChainEvent {
  const key: InboxKey = {
    merchantId: row.merchantId,
    network: row.network,
    txid: row.txid,
    logIndex: row.logIndex,
    phase: row.phase,
  };
  switch (row.phase) {
    case "seen":
    case "solid": {
      const data = TransferData.parse(row.data);
      return {
        type: "transfer",
        phase: row.phase,
        key,
        at,
        ...data,
        amount: payable(amountOf(data.amount)),
        usdRate: usdRate(data.currency),
        depositId: newId("dep"),
        transactionId: newId("txn"),
        chargeIds: [newId("chg"), newId("chg")],
        eventIds: [newId("evt"), newId("evt")],
      };
    }
    case "vanished": {
      const data = z.object({ reason: z.string(), to: z.string() }).parse(row.data);
      return { type: "vanished", key, at, ...data, eventIds: [newId("evt"), newId("evt")] };
    }
    case "outcome":
      return {
        type: "outcome",
        key,
        at,
        ...OutcomeData.parse(row.data),
        chargeIds: [newId("chg"), newId("chg")],
        eventIds: [newId("evt"), newId("evt")],
      };
    case "submitted":
      return { type: "submitted", key, at, ...SubmittedData.parse(row.data) };
    case "swept":
      return {
        type: "swept",
        key,
        at,
        ...SweptData.parse(row.data),
        chargeIds: [newId("chg"), newId("chg")],
        eventIds: [newId("evt"), newId("evt")],
      };
    case "margin": {
      const { currency, amount } = MarginData.parse(row.data);
      return {
        type: "margin",
        key,
        at,
        currency,
        amount: payable(fromUnits(BigInt(amount))),
        transactionId: newId("txn"),
        eventId: newId("evt"),
      };
    }
    default: {
      const never: never = row.phase;
      return never;
    }
  }
}
