/**
 * The matrix of TRON: transactions expire by block time, and addresses pay for their own sweeps.
 *
 * @module
 */

import { type End, matrixTable, type Misbehaviour } from "./matrix_table.ts";

const KINDS = {
  "error-500": { text: "answers HTTP 500", does: { kind: "error-500" } },
  "error-500 late": {
    text: "carries the request out and answers HTTP 500",
    does: { kind: "error-500", late: true },
  },
  "busy-429": { text: "answers HTTP 429", does: { kind: "busy-429" } },
  "limit-per-second": {
    text: "suspends us, which only its body tells",
    does: { kind: "limit-per-second", perSecond: 0, suspendSeconds: 1 },
  },
  "lite-node": { text: "is a lite node, without that call", does: { kind: "lite-node" } },
  "closed-api": { text: "has that call closed", does: { kind: "closed-api" } },
  "call-exception": {
    text: "runs out of time in simulated calls",
    does: { kind: "call-exception" },
  },
  "timeout": { text: "does not answer", does: { kind: "timeout" } },
  "timeout late": {
    text: "carries the request out and does not answer",
    does: { kind: "timeout", late: true },
  },
  "lagging-receipts": {
    text: "gives blocks without their receipts",
    does: { kind: "lagging-receipts" },
  },
  "lagging-receipts late": {
    text: "gives blocks without their last receipt",
    does: { kind: "lagging-receipts", late: true },
  },
  "lost-broadcast": {
    text: "accepts a transaction and forgets it",
    does: { kind: "lost-broadcast" },
  },
  "silent-accept": {
    text: "refuses a transaction and keeps it",
    does: { kind: "silent-accept" },
  },
  "duplicate": {
    text: "calls a new transaction a duplicate and keeps it",
    does: { kind: "duplicate" },
  },
  "duplicate forget": {
    text: "calls a new transaction a duplicate and forgets it",
    does: { kind: "duplicate", forget: true },
  },
  "revert": { text: "includes a call that reverts", does: { kind: "revert" } },
  "out-of-energy": {
    text: "includes a call that runs out of energy",
    does: { kind: "out-of-energy" },
  },
  "reorganisation": {
    text: "takes blocks back, their transactions return",
    does: { reorganise: "return" },
  },
  "reorganisation drop": {
    text: "takes blocks back, their transactions vanish",
    does: { reorganise: "drop" },
  },
} as const satisfies Readonly<Record<string, Misbehaviour>>;

/** Reads: the node fails, nothing is known, it is asked again. */
const unread = <const E extends End>(end: E) => ({
  "error-500": end,
  "busy-429": end,
  "limit-per-second": end,
  "lite-node": end,
  "closed-api": end,
  "timeout": end,
});
/** Single answers of contracts; the node is well otherwise. */
const NO_CALLS = { "call-exception": "- simulates nothing" } as const;
const READ_ONLY = {
  "error-500 late": "- a read leaves nothing behind",
  "timeout late": "- a read leaves nothing behind",
} as const;
const unreceipted = <const E extends End>(end: E) => ({
  "lagging-receipts": end,
  "lagging-receipts late": end,
});
const NO_RECEIPTS = {
  "lagging-receipts": "- reads no receipts",
  "lagging-receipts late": "- reads no receipts",
} as const;
const NOTHING_SENT = {
  "lost-broadcast": "- sends nothing",
  "silent-accept": "- sends nothing",
  "duplicate": "- sends nothing",
  "duplicate forget": "- sends nothing",
  "revert": "- sends nothing",
  "out-of-energy": "- sends nothing",
} as const;
const SOLID = {
  "reorganisation": "- solid blocks stay",
  "reorganisation drop": "- solid blocks stay",
} as const;
const reorganised = <const E extends End>(end: E) => ({
  "reorganisation": end,
  "reorganisation drop": end,
});
/** Our own broadcast: whatever the node says or keeps, the same bytes are sent until a solid block tells. */
const broadcast = <const E extends End, const F extends End>(end: E, failed: F) => ({
  "error-500": end,
  "error-500 late": end,
  "busy-429": end,
  "limit-per-second": end,
  "lite-node": end,
  "closed-api": end,
  "timeout": end,
  "timeout late": end,
  "lost-broadcast": end,
  "silent-accept": end,
  "duplicate": end,
  "duplicate forget": end,
  "revert": failed,
  "out-of-energy": failed,
});

/** See the module. */
export const TRON_MATRIX = matrixTable(KINDS, {
  "deposit seen": {
    text: "the head's blocks are read: PENDING",
    visible: "metric `engine_chain_head_height` stands; solid blocks tell it all the same",
    cells: {
      ...NO_CALLS,
      ...unread("credited once"),
      ...READ_ONLY,
      ...unreceipted("credited once"),
      ...NOTHING_SENT,
      "revert": "nothing booked",
      "out-of-energy": "- as REVERT: moves nothing",
      "reorganisation": "credited once",
      "reorganisation drop": "failed on proof",
    },
  },
  "deposit solid": {
    text: "solid blocks are read into the inbox",
    visible: "metric `engine_chain_lag_blocks`; readiness after a minute",
    cells: {
      ...NO_CALLS,
      ...unread("credited once"),
      ...READ_ONLY,
      ...unreceipted("credited once"),
      ...NOTHING_SENT,
      ...SOLID,
    },
  },
  "deposit credited": {
    text: "the merchant books what its inbox says",
    visible: "nothing waits: no node is asked",
    cells: {
      ...NO_CALLS,
      ...unread("credited meanwhile"),
      ...READ_ONLY,
      ...unreceipted("credited meanwhile"),
      ...NOTHING_SENT,
      ...SOLID,
    },
  },
  "payout estimate": {
    text: "the transfer is simulated with its sender and receiver",
    visible: 'treasury: `queued`, "waiting for another try"',
    cells: {
      "call-exception": "paid once",
      ...unread("paid once"),
      ...READ_ONLY,
      ...NO_RECEIPTS,
      ...NOTHING_SENT,
      ...reorganised("paid once"),
    },
  },
  "payout sign": {
    text: "balances and the solid block of the envelope are read",
    visible: 'treasury: `queued`, "waiting for another try"',
    cells: {
      "call-exception": "paid once",
      ...unread("paid once"),
      ...READ_ONLY,
      ...NO_RECEIPTS,
      ...NOTHING_SENT,
      ...reorganised("paid once"),
    },
  },
  "payout broadcast": {
    text: "the signed bytes, committed before, are offered to the nodes",
    visible: "treasury: `inFlight` with transaction id and expiry",
    cells: {
      ...NO_CALLS,
      ...broadcast("paid once", "refunded"),
      ...NO_RECEIPTS,
      ...reorganised("paid once"),
    },
  },
  "payout seen": {
    text: "the transaction is in a block that is not solid",
    visible: "treasury: `inFlight` with transaction id and expiry",
    cells: {
      ...NO_CALLS,
      ...unread("paid once"),
      ...READ_ONLY,
      ...unreceipted("paid once"),
      ...NOTHING_SENT,
      ...reorganised("paid once"),
    },
  },
  "payout solid": {
    text: "the transaction is met in a solid block, and settled",
    visible: "metric `engine_chain_lag_blocks`; treasury: `inFlight`",
    cells: {
      ...NO_CALLS,
      ...unread("paid once"),
      ...READ_ONLY,
      ...unreceipted("paid once"),
      ...NOTHING_SENT,
      ...SOLID,
    },
  },
  "sweep plan": {
    text: "balance, coin and energy of an address are read",
    visible: "treasury: `sweeps`, `chain_unavailable`",
    cells: {
      "call-exception": "swept once",
      ...unread("swept once"),
      ...READ_ONLY,
      ...NO_RECEIPTS,
      ...NOTHING_SENT,
      ...reorganised("swept once"),
    },
  },
  "sweep gas": {
    text: "coin for the address is offered to the nodes",
    visible: "treasury: `inFlight`; `sweeps`, `waiting_gas` or `address_not_activated`",
    cells: {
      ...NO_CALLS,
      ...broadcast("swept once", "swept once"),
      "revert": "- calls no contract",
      "out-of-energy": "- calls no contract",
      ...NO_RECEIPTS,
      ...reorganised("swept once"),
    },
  },
  "sweep broadcast": {
    text: "the sweep's signed bytes are offered to the nodes",
    visible: "treasury: `inFlight`; `sweeps`, `in_flight`",
    cells: {
      ...NO_CALLS,
      ...broadcast("swept once", "swept once"),
      ...NO_RECEIPTS,
      ...reorganised("swept once"),
    },
  },
  "sweep solid": {
    text: "the sweep is met in a solid block",
    visible: "metric `engine_chain_lag_blocks`; treasury: `sweeps`, `in_flight`",
    cells: {
      ...NO_CALLS,
      ...unread("swept once"),
      ...READ_ONLY,
      ...unreceipted("swept once"),
      ...NOTHING_SENT,
      ...SOLID,
    },
  },
});
