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
import type { EndIds, EventIds } from "./messages.ts";

const TransferData = z.object({
  currency: z.enum(CURRENCIES),
  amount: z.string(),
  from: z.string(),
  to: z.string(),
  addressId: z.string(),
  height: z.number().int(),
  diesAfter: z.number().int(),
  expiresAt: z.number().int(),
}).readonly();
const VanishedData = z.object({ reason: z.string(), to: z.string() }).readonly();
const OutcomeData = z.object({
  outgoingId: z.string(),
  withdrawalId: z.string(),
  settlementId: z.string().nullable().default(null),
  /** `failed` and `abandoned` are proven never to pay. */
  result: z.enum(["paid", "failed", "abandoned"]),
  reason: z.string().nullable(),
  height: z.number().int().nullable(),
}).readonly();
const SubmittedData = z.object({ withdrawalId: z.string(), settlementId: z.string() }).readonly();
/** The sweep that carried a top-up, and its transaction. */
const SweptData = z.object({ to: z.string(), outgoingId: z.string(), sweepTxid: z.string() })
  .readonly();
const MarginData = z.object({ currency: z.enum(CURRENCIES), amount: z.string().regex(/^\d+$/) });

interface Event<T extends string> {
  readonly type: T;
  readonly key: InboxKey;
  readonly at: number;
}

/** A transfer to one of the merchant's addresses, in a block that may still change or in a solid one. */
export interface TransferEvent
  extends Event<"transfer">, Omit<z.infer<typeof TransferData>, "amount">, EndIds {
  readonly phase: "seen" | "solid";
  readonly amount: Amount;
  readonly usdRate: string;
  readonly depositId: string;
  readonly transactionId: string;
}

/** A transfer that was seen can no longer become final. */
export interface VanishedEvent extends Event<"vanished">, z.infer<typeof VanishedData> {
  readonly eventIds: EventIds;
}

/** The end of a payout, from solid blocks only. */
export interface OutcomeEvent extends Event<"outcome">, z.infer<typeof OutcomeData>, EndIds {}

/** A settlement's transaction is signed and on its way. */
export interface SubmittedEvent extends Event<"submitted">, z.infer<typeof SubmittedData> {}

/** A top-up was carried to the hot wallet, by a sweep that is final. */
export interface SweptEvent extends Event<"swept">, z.infer<typeof SweptData>, EndIds {}

/** A share of another merchant's fees is due to this one. */
export interface MarginEvent extends Event<"margin"> {
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

function endIds(): EndIds {
  return {
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
  };
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
  const { data, ...key } = row;
  const { phase } = row;
  switch (phase) {
    case "seen":
    case "solid": {
      const { amount, ...transfer } = TransferData.parse(data);
      return {
        type: "transfer",
        phase,
        key,
        at,
        ...transfer,
        amount: payable(amountOf(amount)),
        usdRate: usdRate(transfer.currency),
        depositId: newId("dep"),
        transactionId: newId("txn"),
        ...endIds(),
      };
    }
    case "vanished": {
      const { eventIds } = endIds();
      return { type: phase, key, at, ...VanishedData.parse(data), eventIds };
    }
    case "outcome":
      return { type: phase, key, at, ...OutcomeData.parse(data), ...endIds() };
    case "submitted":
      return { type: phase, key, at, ...SubmittedData.parse(data) };
    case "swept":
      return { type: phase, key, at, ...SweptData.parse(data), ...endIds() };
    case "margin": {
      const { currency, amount } = MarginData.parse(data);
      return {
        type: phase,
        key,
        at,
        currency,
        amount: payable(fromUnits(BigInt(amount))),
        transactionId: newId("txn"),
        eventId: newId("evt"),
      };
    }
    default: {
      const never: never = phase;
      return never;
    }
  }
}
