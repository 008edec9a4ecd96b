/**
 * Lanes of a chain on paper whose nonces a test writes itself: what is promised and signed is rows, what nodes say is functions.
 *
 * @module
 */

import { Lanes, type LanesDeps } from "../../../actors/treasury/lanes.ts";
import type { Chain } from "../../../chains/chain.ts";
import type { FeeEstimate } from "../../../chains/fees.ts";
import type { LaneAsk, LanePort } from "../../../chains/lane.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { moveCursor, readCursor } from "../../../ledger/watcher/cursor.ts";
import { amount } from "../../support/books.ts";
import { PAPER_BLOCK, paperChain, paperSigner } from "../../support/paper_chain.ts";

const FEE: FeeEstimate = { fee: amount("1"), limit: amount("1"), terms: { price: 1 } };

const CALM: LaneAsk = {
  isPassedOver: () => false,
  replacing: () => null,
  cancelling: () => FEE,
  within: () => CALM,
};

/** A port that knows of no stranger, and whose fees never rise. */
export function calmLane(replaced: Partial<LanePort> = {}): LanePort {
  return {
    next: () => Promise.resolve(0),
    sent: () => Promise.resolve(null),
    asks: () => Promise.resolve(CALM),
    mostUnseen: 12,
    bumpAfterMs: 48_000,
    ...replaced,
  };
}

/** A chain on paper that counts nonces; its bytes are JSON with the nonce in it. */
export function numberedChain(lane: LanePort, replaced: Partial<Chain> = {}): Chain {
  return paperChain("ETH", {
    capabilities: {
      currencies: ["USDT", "USDC"],
      blockMs: 12_000,
      sweepsAtOnce: 1,
      life: { kind: "nonce", lane },
    },
    envelope: (_, fee, nonce) => ({
      network: "ETH",
      fields: fee.terms ?? {},
      diesAfter: null,
      nonce,
      expiresAt: null,
    }),
    termsOf: (bytes) => ({
      beginning: null,
      diesAfter: null,
      nonce: JSON.parse(bytes).nonce,
      feeLimit: amount("1"),
    }),
    ...replaced,
  });
}

/** A signer that signs everything with the nonce that it is asked for. */
export function numberedSigner(): LanesDeps["signer"] {
  let signed = 0;
  return {
    sign: (requests) =>
      Promise.resolve(requests.map(({ outgoingIds, purpose, envelope: { nonce } }) => {
        const txid = `${purpose}-${outgoingIds.join("+")}-${++signed}`;
        return { outgoingIds, signed: { txid, bytes: JSON.stringify({ nonce }), expiresAt: null } };
      })),
  };
}

/** The lanes of a node; what they send is kept, one list for each call. */
export function lanesOn(sql: Sql, chain: Chain, replaced: Partial<LanesDeps> = {}) {
  const { life } = chain.capabilities;
  if (life.kind !== "nonce") throw new Error("Cannot open lanes of a chain that counts no nonces");
  const sent: (readonly string[])[] = [];
  const lanes = new Lanes(chain, life.lane, {
    sql,
    signer: paperSigner(),
    node: "node",
    leaseMs: 60_000,
    resendMs: 0,
    monotonic: () => performance.now(),
    now: Date.now,
    send: (transactions) => {
      sent.push(transactions.map(({ txid }) => txid));
      return Promise.resolve();
    },
    ...replaced,
  });
  const poll = async () => {
    const solid = await readCursor(sql, "ETH", "solid");
    try {
      await lanes.poll(solid);
    } finally {
      await lanes.pollAddresses(solid);
    }
  };
  return { lanes, sent, poll };
}

/** The hot wallet, whose lane begins at nonce 0, and a scan that has read a block. */
export async function addWallet(sql: Sql, height = PAPER_BLOCK.height): Promise<void> {
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint, first_nonce)
    VALUES ('ETH', 'wal_test', 'hot-wallet', ${"0".repeat(64)}, 0)`;
  await scanTo(sql, height);
}

/** Moves the scan's cursor. */
export async function scanTo(sql: Sql, height: number): Promise<void> {
  const cursor = await readCursor(sql, "ETH", "solid");
  const { time, tick } = PAPER_BLOCK;
  const place = {
    ...PAPER_BLOCK,
    height,
    hash: String(height),
    previousTime: time - 1,
    previousTick: tick - 1,
  };
  await moveCursor(sql, "ETH", "solid", cursor, place, 1);
}

/** A transfer and the nonce that is promised to it. */
export interface AddedNonce {
  /** `hot`, or the derivation index of a deposit address that pays for its own sweep. */
  readonly payer: string;
  readonly nonce: number;
  /** Its merchant; default: it is internal. */
  readonly merchantId?: string;
  /** False: nothing is signed with it; default true. */
  readonly isSigned?: boolean;
  /** A block above the cursor shows it; default: none does. */
  readonly seenHeight?: number;
  /** Age of the promise and its signature, seconds; default ten minutes. */
  readonly ageS?: number;
}

/** Adds a transfer with a promised nonce. @returns the transfer's id, and its transaction's is the same with an `a` in front */
export async function addNonce(sql: Sql, one: AddedNonce): Promise<string> {
  const { payer, nonce, merchantId = "mer_platform", isSigned = true, ageS = 600 } = one;
  const id = `out_${payer}_${String(nonce).padStart(4, "0")}`;
  const kind = merchantId !== "mer_platform" ? "payout" : payer === "hot" ? "gas" : "sweep";
  const paymentId = kind === "payout" ? `wd_${id}` : null;
  const currency = kind === "gas" ? "native" : "USDT";
  await sql.begin(async (tx) => {
    await tx`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, wallet, status, created_at, updated_at)
      VALUES (${id}, ${merchantId}, ${kind}, ${paymentId}, 'ETH', ${currency}, 1, ${`to-${id}`}, ${payer}, 'queued', now(), now())`;
    await tx`
      INSERT INTO book.lane_nonce (network, payer, nonce, intents, promised_at)
      VALUES ('ETH', ${payer}, ${nonce}, ${[id]}, now() - make_interval(secs => ${ageS}))`;
    await tx`UPDATE book.outgoing SET nonce = ${nonce} WHERE id = ${id}`;
    if (!isSigned) return;
    await tx`UPDATE book.outgoing SET status = 'signed', attempts = 1 WHERE id = ${id}`;
    await tx`
      INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, nonce, created_at, fee_limit, seen_height)
      VALUES (${id}, 1, ${merchantId}, 'ETH', ${`a${id}`}, ${JSON.stringify({ nonce })}, ${nonce},
        now() - make_interval(secs => ${ageS}), 1, ${one.seenHeight ?? null})`;
  });
  return id;
}
