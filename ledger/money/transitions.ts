/**
 * Which status may follow which. Every decision is checked with it when it is applied; triggers enforce
 * the same table in the database (book.transition), which a test compares with this one.
 *
 * @module
 */

/** Allowed moves per kind of record: `from -> [to, ...]`. */
export const TRANSITIONS = {
  deposit: {
    PENDING: ["CONFIRMED", "FAILED", "CANCELLED"],
    CONFIRMED: [],
    /** Only on solid evidence: a transfer given up for dead became final after all. */
    FAILED: ["CONFIRMED"],
    CANCELLED: [],
  },
  withdrawal: {
    PENDING_APPROVAL: ["PENDING", "CANCELLED"],
    PENDING: ["CONFIRMED", "FAILED"],
    CONFIRMED: [],
    FAILED: [],
    CANCELLED: [],
  },
  transaction: {
    PENDING: ["CONFIRMED", "FAILED", "CANCELLED"],
    CONFIRMED: [],
    FAILED: ["CONFIRMED"],
    CANCELLED: [],
  },
  settlement: {
    PENDING: ["APPROVAL_REQUIRED", "PROCESSING"],
    APPROVAL_REQUIRED: ["APPROVED", "REJECTED", "CANCELLED"],
    APPROVED: ["PROCESSING"],
    PROCESSING: ["SUBMITTED_TO_LEDGER", "FAILED"],
    SUBMITTED_TO_LEDGER: ["COMPLETED", "FAILED"],
    COMPLETED: [],
    FAILED: [],
    CANCELLED: [],
    REJECTED: [],
  },
  /** Transfers out of the service's wallets: `dead` is proven never to land, `void` is given up with its refund. */
  outgoing: {
    queued: ["signed", "void"],
    signed: ["final", "dead"],
    final: [],
    dead: ["queued", "void"],
    void: [],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

/** A kind of record with states. */
export type RecordKind = keyof typeof TRANSITIONS;
export type DepositStatus = keyof typeof TRANSITIONS.deposit;
export type WithdrawalStatus = keyof typeof TRANSITIONS.withdrawal;
/** States of a statement line. */
export type TransactionStatus = keyof typeof TRANSITIONS.transaction;
export type SettlementStatus = keyof typeof TRANSITIONS.settlement;
/** States of a transfer out of one of the service's wallets. */
export type OutgoingStatus = keyof typeof TRANSITIONS.outgoing;

/**
 * Checks one move of a record.
 *
 * @throws when its new status may not follow the one it has
 */
export function checkMove(record: RecordKind, id: string, from: string, to: string): void {
  const moves: Readonly<Record<string, readonly string[]>> = TRANSITIONS[record];
  if (moves[from]?.includes(to)) return;
  throw new Error(
    `Cannot move a ${record} as its states do not allow it: ${from} -> ${to}, ${id}`,
  );
}
