/**
 * The outcome of a merchant's message, in lines that read like a bank statement. Every part of a
 * decision has a printer here, so that none can be left out of what a specification compares.
 *
 * @module
 */

import { decide } from "../../../actors/merchant/decide.ts";
import { apply, type Decision, type MerchantMessage } from "../../../actors/merchant/decision.ts";
import type { Refusal } from "../../../actors/merchant/refusal.ts";
import { type Amount, formatAmount, fromUnits, ZERO } from "../../../ledger/money/amount.ts";
import type { Hands } from "../../../ledger/payment_rows.ts";
import type { MerchantRow } from "../../../ledger/rows.ts";
import { type Account, settingsOf, type Terms, viewOf } from "./account.ts";

/** One specification: in this state, when this message comes, then this is what becomes of it. */
export interface Spec {
  readonly it: string;
  readonly given?: Account;
  readonly terms?: Terms;
  readonly when: MerchantMessage;
  /** The statement's lines; one line where nothing is booked (`refused`, `quarantined`, `bug`). */
  readonly then: string | readonly string[];
}

/** Decides the message of a specification. */
export function outcomeOf({ given = {}, terms = {}, when }: Spec): readonly string[] {
  const view = viewOf(given);
  let result;
  try {
    result = decide(view, settingsOf(terms), when);
  } catch (error) {
    return [`bug: ${error instanceof Error ? error.message : error}`];
  }
  switch (result.kind) {
    case "refused":
      return [`refused ${refusalText(result.refusal)}`];
    case "unread":
      return ["unread"];
    case "quarantined":
      return [`quarantined: ${result.reason}`];
    case "decided": {
      const { decision, answer } = result;
      // what is decided can be booked: no balance below zero, no gap in a list
      apply(view, decision);
      const late = decision.at - when.at;
      return [
        ...(late === 0 ? [] : [`dated ${late} ms later`]),
        ...linesOf(decision, view.state.merchant),
        ...(answer === null ? [] : [`answer ${answerText(answer)}`]),
      ];
    }
  }
}

type Printers = {
  readonly [Part in Exclude<keyof Decision, "at" | "profile" | "opening">]: (
    row: Decision[Part][number],
  ) => string;
};

const PRINTERS: Printers = {
  postings: (row) =>
    `${formatAmount(row.amount)} ${row.from} -> ${row.to}${
      more({ "": pairOf(row) })
    } (${row.paymentId} ${row.leg})`,
  deposits: (row) =>
    `deposit ${row.id} ${row.status} ${formatAmount(row.amount)}${
      more({
        "": pairOf(row),
        number: row.seq === 1 ? null : row.seq,
        source: row.source === "onchain" ? null : row.source,
        commission: row.commission,
        "fixed fee": row.fixedFee,
        at: row.commissionRate === "0" ? null : row.commissionRate,
        margin: marginOf(row),
        transaction: row.logIndex === -1 ? `the whole ${row.txid}` : row.txid,
        reference: row.referenceId,
        final: row.txid !== null && row.logIndex !== -1 && row.expiresAt === null ? "yes" : null,
        cleared: row.clearedAt === null ? null : "yes",
        reason: row.reason,
        endorsed: row.endorsedBy,
        ...handsOf(row),
      })
    }`,
  withdrawals: (row) =>
    `withdrawal ${row.id} ${row.status} ${formatAmount(row.amount)}${
      more({
        "": pairOf(row),
        base: row.baseFee,
        markup: row.markupAmount,
        network: row.networkFee,
        margin: marginOf(row),
        reference: row.referenceId,
        settlement: row.settlementId,
        transaction: row.txid,
        processed: row.processedAt === null ? null : "yes",
        reason: row.reason,
        ...handsOf(row),
      })
    }`,
  settlements: (row) =>
    `settlement ${row.id} ${row.history.map(({ status }) => status).join(" > ")} ${
      formatAmount(row.amount)
    }${
      more({ fees: row.totalFees, key: row.idempotencyKey, reason: row.reason, ...handsOf(row) })
    }`,
  transactions: (row) =>
    `line ${row.seq} ${row.type} ${row.status} ${formatAmount(row.effect)}${
      more({
        "": pairOf(row),
        fee: row.fee,
        transaction: row.txid,
        block: row.height,
        reference: row.referenceId,
        category: row.category,
      })
    }`,
  charges: (row) => `charge ${row.seq} ${row.id} ${row.type} ${formatAmount(row.amount)}`,
  margins: (row) =>
    `margin of ${row.beneficiary} on ${row.leg}: ${
      row.reversed > ZERO
        ? `${formatAmount(row.reversed)} taken back`
        : `${formatAmount(row.earned)} of ${formatAmount(row.fee)}`
    }`,
  outgoing: (row) =>
    `${row.kind} ${row.id} ${row.status}: ${formatAmount(row.amount)} to ${row.destination}${
      more({ reason: row.reason })
    }`,
  voided: (row) => `payout ${row.id} ${row.fromStatus} -> void: ${row.reason}`,
  inbox: (row) =>
    `notice to ${row.merchantId}: ${row.phase} ${
      formatAmount(fromUnits(BigInt(String(row.data.amount))))
    }`,
  addresses: (row) =>
    `address ${row.id} ${row.kind} ${row.address}${
      more({
        of: row.identifier,
        reference: row.referenceId,
        activated: row.activated ? "yes" : null,
      })
    }`,
  whitelist: (row) =>
    `whitelist ${row.id} ${row.address} ${row.active ? "open" : "closed"}${
      more({ removed: row.removedAt === null ? null : "yes", ...handsOf(row) })
    }`,
  ingested: (row) => `taken up ${row.eventId} ${row.bodyHash}${more({ paid: row.txid })}`,
  events: (row) => {
    const { balanceAfter, reason } = JSON.parse(row.payload);
    return `event ${row.id} ${row.type}${row.status === "PENDING" ? "" : ` ${row.status}`}${
      more({ balance: balanceAfter ?? null, reason: reason ?? null })
    }`;
  },
  consumed: (row) => `consumed ${row.phase}`,
  audits: (row) =>
    `audit ${row.action} of ${row.subject} by ${row.actor}: ${JSON.stringify(row.before)} -> ${
      JSON.stringify(row.after)
    }`,
};

function linesOf(decision: Decision, before: MerchantRow): readonly string[] {
  const lines = Object.entries(PRINTERS).flatMap(([part, print]) =>
    (decision[part as keyof Printers] as readonly never[]).map(print)
  );
  return [...lines, ...profileLines(before, decision.profile)];
}

function profileLines(before: MerchantRow, after: MerchantRow | null): readonly string[] {
  if (after === null) return [];
  const changed = Object.entries(after).filter(([field, value]) =>
    before[field as keyof MerchantRow] !== value
  );
  return [`profile ${changed.map(([field, value]) => `${field} ${text(value)}`).join(", ")}`];
}

function pairOf({ currency, network }: { readonly currency: string; readonly network: string }) {
  return currency === "USDT" && network === "TRX" ? null : `${currency}/${network}`;
}

function marginOf(row: { readonly margin: Amount; readonly marginTo: string | null }) {
  return row.marginTo === null ? null : `${formatAmount(row.margin)} for ${row.marginTo}`;
}

function handsOf({ createdBy, approvedBy }: Hands) {
  return { "made by": createdBy, "approved by": approvedBy };
}

/** The rest of a line: nothing of what is zero or absent. */
function more(parts: Readonly<Record<string, unknown>>): string {
  return Object.entries(parts)
    .filter(([, value]) => value !== null && value !== undefined && value !== ZERO)
    .map(([name, value]) => `, ${name} ${text(value)}`.replace(",  ", ", "))
    .join("");
}

function refusalText({ code, ...parts }: Refusal): string {
  const { fees: _, currency: _c, network: _n, ...shown } = parts as Record<string, unknown>;
  return Object.keys(shown).length === 0 ? code : `${code}:${more(shown).slice(1)}`;
}

function answerText(answer: object): string {
  const shown = Object.entries(answer).flatMap(([name, value]) => {
    if (typeof value !== "object" || value === null) return [[name, value]];
    return "status" in value ? [[name, value.status]] : [];
  });
  return more(Object.fromEntries(shown)).slice(2);
}

function text(value: unknown): string {
  if (typeof value === "bigint") return formatAmount(fromUnits(value));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
