/**
 * The matrix of EVM chains: a transaction ends by its nonce, a block proves its receipts, and a block that was seen
 * is not read again when it is solid.
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
  "timeout": { text: "does not answer", does: { kind: "timeout" } },
  "timeout late": {
    text: "carries the request out and does not answer",
    does: { kind: "timeout", late: true },
  },
  "lagging-receipts": {
    text: "gives blocks without their receipts",
    does: { kind: "lagging-receipts" },
  },
  "receipts-null": { text: "answers null for receipts", does: { kind: "receipts-null" } },
  "receipts-short": {
    text: "gives blocks without their last receipt",
    does: { kind: "receipts-short" },
  },
  "log-missing": { text: "leaves a receipt's last log out", does: { kind: "log-missing" } },
  "receipts-of-another": {
    text: "gives the receipts of another block",
    does: { kind: "receipts-of-another" },
  },
  "finality-back": {
    text: "is behind: what was final is not any more",
    does: { kind: "finality-back", behind: 20 },
  },
  "finality-stands": { text: "makes no block final", does: { kind: "finality-stands" } },
  "lost-broadcast": {
    text: "accepts a transaction and forgets it",
    does: { kind: "lost-broadcast" },
  },
  "silent-accept": {
    text: "refuses a transaction and keeps it",
    does: { kind: "silent-accept" },
  },
  "duplicate": {
    text: "calls a new transaction known and keeps it",
    does: { kind: "duplicate" },
  },
  "duplicate forget": {
    text: "calls a new transaction known and forgets it",
    does: { kind: "duplicate", forget: true },
  },
  "nonce-too-low": {
    text: "calls a living nonce too low and keeps the transaction",
    does: { kind: "nonce-too-low" },
  },
  "nonce-too-low forget": {
    text: "calls a living nonce too low and forgets the transaction",
    does: { kind: "nonce-too-low", forget: true },
  },
  "underpriced": {
    text: "calls a replacement underpriced and keeps it",
    does: { kind: "underpriced" },
  },
  "underpriced forget": {
    text: "calls a replacement underpriced and forgets it",
    does: { kind: "underpriced", forget: true },
  },
  "evicted": { text: "drops an accepted transaction", does: { happens: "evicted" } },
  "original lands": {
    text: "loses a replacement and includes what it replaces",
    does: { happens: "original lands" },
  },
  "revert": { text: "includes a call that reverts", does: { kind: "revert" } },
  "out-of-gas": {
    text: "includes a call that runs out of gas",
    does: { kind: "out-of-gas" },
  },
  "fees jump": { text: "asks eight times the base fee", does: { happens: "fees jump" } },
  "fees above cap": {
    text: "asks more than the cap, and later not any more",
    does: { happens: "fees above cap" },
  },
  "no coin": { text: "(the hot wallet has no coin)", does: { happens: "no coin" } },
  "foreign hand": {
    text: "(another program with the key takes the nonce)",
    does: { happens: "foreign hand" },
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
  "error-500 late": "- a read leaves nothing behind",
  "busy-429": end,
  "timeout": end,
  "timeout late": "- a read leaves nothing behind",
} as const);
/** A block whose receipts do not have its root is not believed. */
const unreceipted = <const E extends End>(end: E) => ({
  "lagging-receipts": end,
  "receipts-null": end,
  "receipts-short": end,
  "log-missing": end,
  "receipts-of-another": end,
});
const NO_RECEIPTS = {
  "lagging-receipts": "- reads no receipts",
  "receipts-null": "- reads no receipts",
  "receipts-short": "- reads no receipts",
  "log-missing": "- reads no receipts",
  "receipts-of-another": "- reads no receipts",
} as const;
const finality = <const E extends End>(end: E) => ({
  "finality-back": end,
  "finality-stands": end,
});
const NOT_FINAL = {
  "finality-back": "- asks for nothing final",
  "finality-stands": "- asks for nothing final",
} as const;
const NOTHING_SENT = {
  "lost-broadcast": "- sends nothing",
  "silent-accept": "- sends nothing",
  "duplicate": "- sends nothing",
  "duplicate forget": "- sends nothing",
  "nonce-too-low": "- sends nothing",
  "nonce-too-low forget": "- sends nothing",
  "underpriced": "- sends nothing",
  "underpriced forget": "- sends nothing",
  "evicted": "- sends nothing",
  "original lands": "- sends nothing",
  "revert": "- sends nothing",
  "out-of-gas": "- sends nothing",
} as const;
const NO_FEES = {
  "fees jump": "- pays no fee",
  "fees above cap": "- pays no fee",
  "no coin": "- pays no fee",
  "foreign hand": "- has no nonce",
} as const;
/** Its terms stand in its bytes; what becomes of those is tried where they are sent. */
const SETTLED = {
  "fees jump": "- its fee is settled",
  "fees above cap": "- its fee is settled",
  "no coin": "- its fee is settled",
  "foreign hand": "- its nonce is taken",
} as const;
const SOLID = {
  "reorganisation": "- solid blocks stay",
  "reorganisation drop": "- solid blocks stay",
} as const;
const reorganised = <const E extends End>(end: E) => ({
  "reorganisation": end,
  "reorganisation drop": end,
});

/** Faults of fees and nonces: a lane does the same with them whatever its transactions carry. */
const AS_PAYOUTS = {
  "evicted": "- tried with payouts",
  "original lands": "- tried with payouts",
  "fees jump": "- tried with payouts",
  "fees above cap": "- tried with payouts",
  "no coin": "- tried with payouts",
  "foreign hand": "- tried with payouts",
} as const;
/** A broadcast of an address' own, or of the hot wallet's for it. */
const sweepSent = <const E extends End>(end: E) => ({
  "error-500": end,
  "error-500 late": end,
  "busy-429": end,
  "timeout": end,
  "timeout late": end,
  ...NO_RECEIPTS,
  ...NOT_FINAL,
  "lost-broadcast": end,
  "silent-accept": end,
  "duplicate": end,
  "duplicate forget": end,
  "nonce-too-low": end,
  "nonce-too-low forget": end,
  "underpriced": "- tried with payouts",
  "underpriced forget": "- tried with payouts",
  ...AS_PAYOUTS,
  ...reorganised(end),
} as const);

/** See the module. */
export const EVM_MATRIX = matrixTable(KINDS, {
  "deposit seen": {
    text: "the head's blocks are read: PENDING",
    visible: "metric `engine_chain_head_height` stands; while no block is final: PENDING",
    cells: {
      ...unread("credited once"),
      ...unreceipted("credited once"),
      ...finality("credited once"),
      ...NOTHING_SENT,
      "revert": "nothing booked",
      "out-of-gas": "- as one that reverts: moves nothing",
      ...NO_FEES,
      "reorganisation": "credited once",
      "reorganisation drop": "failed on proof",
    },
  },
  "deposit solid": {
    text: "solid blocks are read into the inbox",
    visible: "metric `engine_chain_lag_blocks`; readiness after a minute",
    cells: {
      ...unread("credited once"),
      ...unreceipted("credited once"),
      "finality-back": "- tried where it is seen",
      "finality-stands": "- tried where it is seen",
      ...NOTHING_SENT,
      ...NO_FEES,
      ...SOLID,
    },
  },
  "payout estimate": {
    text: "the transfer is tried by the node, and the price of gas asked for",
    visible: "treasury: `queued`, with its reason",
    cells: {
      ...unread("paid once"),
      ...NO_RECEIPTS,
      ...NOT_FINAL,
      ...NOTHING_SENT,
      "fees jump": "- costs more",
      "fees above cap": "paid once",
      "no coin": "paid once",
      "foreign hand": "- has no nonce yet",
      ...reorganised("paid once"),
    },
  },
  "payout sign": {
    text: "balances and the solid block of the envelope are read",
    visible: "treasury: `queued`, with its reason",
    cells: {
      ...unread("paid once"),
      ...NO_RECEIPTS,
      "finality-back": "paid once",
      "finality-stands": "- its block is solid already",
      ...NOTHING_SENT,
      "fees jump": "- tried with the estimate",
      "fees above cap": "- tried with the estimate",
      "no coin": "- tried with the estimate",
      "foreign hand": "- has no nonce yet",
      ...reorganised("paid once"),
    },
  },
  "payout broadcast": {
    text: "the signed bytes, committed before, are offered to the nodes",
    visible: "treasury: `inFlight` with transaction id and nonce; another program's: readiness",
    cells: {
      "error-500": "paid once",
      "error-500 late": "paid once",
      "busy-429": "paid once",
      "timeout": "paid once",
      "timeout late": "paid once",
      ...NO_RECEIPTS,
      ...NOT_FINAL,
      "lost-broadcast": "paid once",
      "silent-accept": "paid once",
      "duplicate": "paid once",
      "duplicate forget": "paid once",
      "nonce-too-low": "paid once",
      "nonce-too-low forget": "paid once",
      "underpriced": "- replaces nothing",
      "underpriced forget": "- replaces nothing",
      "evicted": "paid once",
      "original lands": "- replaces nothing",
      "revert": "refunded",
      "out-of-gas": "refunded",
      "fees jump": "paid once",
      "fees above cap": "paid once",
      "no coin": "- tried with the estimate",
      "foreign hand": "paid once, adopted",
      ...reorganised("paid once"),
    },
  },
  "payout replaced": {
    text: "blocks pass it over: it is signed again with higher fees, and both are offered",
    visible: "treasury: `inFlight`; metric `engine_treasury_replacements_total`",
    cells: {
      "error-500": "paid once",
      "error-500 late": "paid once",
      "busy-429": "- as HTTP 500",
      "timeout": "- as HTTP 500",
      "timeout late": "paid once",
      ...NO_RECEIPTS,
      ...NOT_FINAL,
      "lost-broadcast": "paid once",
      "silent-accept": "paid once",
      "duplicate": "paid once",
      "duplicate forget": "paid once",
      "nonce-too-low": "paid once",
      "nonce-too-low forget": "paid once",
      "underpriced": "paid once",
      "underpriced forget": "paid once",
      "evicted": "paid once",
      "original lands": "paid once",
      "revert": "refunded",
      "out-of-gas": "refunded",
      "fees jump": "- is why it is replaced",
      "fees above cap": "- tried where it is sent first",
      "no coin": "- tried with the estimate",
      "foreign hand": "- tried where it is sent first",
      ...reorganised("paid once"),
    },
  },
  "payout seen": {
    text: "the transaction is in a block that is not solid",
    visible: "treasury: `inFlight` with transaction id and nonce",
    cells: {
      ...unread("paid once"),
      ...unreceipted("paid once"),
      ...finality("paid once"),
      ...NOTHING_SENT,
      ...SETTLED,
      ...reorganised("paid once"),
    },
  },
  "payout solid": {
    text: "the transaction is met in a solid block, and settled",
    visible: "metric `engine_chain_lag_blocks`; treasury: `inFlight`",
    cells: {
      ...unread("paid once"),
      ...unreceipted("paid once"),
      "finality-back": "- tried where it is seen",
      "finality-stands": "- tried where it is seen",
      ...NOTHING_SENT,
      ...SETTLED,
      ...SOLID,
    },
  },
  "sweep plan": {
    text: "balance and coin of an address are read, and the price of its transfer",
    visible: "treasury: `sweeps`, `chain_unavailable`; of a node that is behind `balance_differs`",
    cells: {
      ...unread("swept once"),
      ...NO_RECEIPTS,
      "finality-back": "swept once",
      "finality-stands": "- its deposit is solid already",
      ...NOTHING_SENT,
      ...AS_PAYOUTS,
      ...reorganised("swept once"),
    },
  },
  "sweep gas": {
    text: "coin for the address is offered to the nodes",
    visible: "treasury: `inFlight`; `sweeps`, `waiting_gas` or `address_not_activated`",
    cells: {
      ...sweepSent("swept once"),
      "revert": "- calls no contract",
      "out-of-gas": "- calls no contract",
    },
  },
  "sweep broadcast": {
    text: "the sweep's signed bytes are offered to the nodes",
    visible: "treasury: `inFlight`; `sweeps`, `in_flight`",
    cells: {
      ...sweepSent("swept once"),
      "revert": "swept once",
      "out-of-gas": "swept once",
    },
  },
  "sweep solid": {
    text: "the sweep is met in a solid block",
    visible: "metric `engine_chain_lag_blocks`; treasury: `sweeps`, `in_flight`",
    cells: {
      ...unread("swept once"),
      ...unreceipted("swept once"),
      "finality-back": "- tried where it is seen",
      "finality-stands": "- tried where it is seen",
      ...NOTHING_SENT,
      ...AS_PAYOUTS,
      ...SOLID,
    },
  },
});
