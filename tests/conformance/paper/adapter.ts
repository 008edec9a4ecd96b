/**
 * An adapter of the Chain port for a chain in memory of another kind than TRON: it passes heights by, counts nonces, and its
 * hot wallet sends sweeps of several addresses at once.
 *
 * @module
 */

import {
  type Block,
  type BlockAnswer,
  type Chain,
  ChainUnavailable,
  type Checkpoint,
  type Finality,
  NotOurChain,
  type TransactionLookup,
} from "../../../chains/chain.ts";
import type { FeeEstimate, Movement } from "../../../chains/fees.ts";
import type { LaneAsk, LanePort } from "../../../chains/lane.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { paperChain } from "../../support/paper_chain.ts";
import type { PaperLedger } from "./ledger.ts";
import { offer, type Troubles } from "./node.ts";
import { CAP, costOf, type PaperTransaction, readTransaction } from "./transaction.ts";

/** Sweeps that one transaction carries at most. */
const SWEEPS = 5;
/** Shape of its addresses. */
const ADDRESS = /^paper-\d{1,10}$/;
/** Troubles that reads meet, by the category of the failure. */
const FAILING = { "rate-limited": "rate-limit", "server-error": "server-error" } as const;

/** Makes the adapter. */
export function paperAdapter(
  network: Network,
  hotWallet: string,
  ledger: PaperLedger,
  troubles: Troubles,
): Chain {
  /** Reads fail while there is trouble with the node. */
  const read = async <T>(what: () => T): Promise<T> => {
    const trouble = troubles.take("rate-limited", "server-error");
    if (trouble === "rate-limited" || trouble === "server-error") {
      throw new ChainUnavailable(FAILING[trouble], "paper");
    }
    return await Promise.resolve(what());
  };
  const newest = (view: Finality): Block => {
    const found = ledger.blocks(view).at(-1);
    if (found !== undefined) return found;
    throw new Error("Cannot tell the newest block as there is none");
  };
  const answer = (block: Block | undefined, height: number): BlockAnswer => {
    if (block === undefined) return { kind: "missing", height };
    if (troubles.take("receipts-late") === null) return { kind: "block", block };
    return { kind: "incomplete", height, reason: "its receipts are late" };
  };
  const requireBlock = (checkpoint: Checkpoint | undefined): void => {
    if (checkpoint === undefined) return;
    const { height, hash } = checkpoint;
    const found = ledger.blocks("solid").find((block) => block.height === height);
    if (found?.hash !== hash) throw new NotOurChain(`Cannot read as there is no block ${hash}`);
  };
  const lookUp = (txid: string, view: Finality): TransactionLookup => {
    const block = ledger.blocks(view).find(({ transactions }) =>
      transactions.some((one) => one.txid === txid)
    );
    const found = block?.transactions.find((one) => one.txid === txid);
    if (block === undefined || found === undefined) return { kind: "missing", txid };
    if (troubles.take("receipts-late") !== null) {
      return { kind: "incomplete", txid, reason: "its receipt is late" };
    }
    const transfers = block.transfers.filter((transfer) => transfer.txid === txid);
    const { height, time } = block;
    return { kind: "found", transaction: { ...found, height, time, transfers } };
  };
  return paperChain(network, {
    capabilities: {
      currencies: ["USDT"],
      life: { kind: "nonce", lane: paperLane(ledger, requireBlock) },
      sweepsAtOnce: SWEEPS,
      blockMs: 400,
    },
    hotWallet,
    address: (text) => ADDRESS.test(text) ? text : null,
    addressOf: (event) => event,
    eventAddress: (address) => address,
    deriveAddress: (index) => {
      if (Number.isInteger(index) && index >= 0 && index < 2 ** 31) return `paper-${index}`;
      throw new RangeError(`Cannot derive an address as its index is out of range: ${index}`);
    },
    head: () => read(() => newest("head")),
    solid: () => read(() => newest("solid")),
    block: (height, view) =>
      read(() => answer(ledger.blocks(view).find((one) => one.height === height), height)),
    async *blocks(from, to, view, _signal, checkpoint) {
      await read(() => requireBlock(checkpoint));
      const end = newest(view).height;
      for (const block of ledger.blocks(view)) {
        if (block.height >= from && block.height <= to) yield answer(block, block.height);
      }
      if (from <= to && to > end) yield { kind: "missing", height: end + 1 };
    },
    transaction: (txid, view, _signal, checkpoint) =>
      read(() => {
        requireBlock(checkpoint);
        return lookUp(txid, view);
      }),
    estimateFee: (movements) => read(() => estimate(ledger, hotWallet, movements)),
    envelope: (_, { terms = {} }, nonce) => {
      if (nonce === null) throw new RangeError("Cannot make an envelope as it has no nonce");
      return { network, fields: terms, diesAfter: null, nonce, expiresAt: null };
    },
    termsOf: (bytes) => {
      const transaction = readTransaction(bytes);
      const feeLimit = costOf(transaction, transaction.price);
      return { beginning: null, diesAfter: null, nonce: transaction.nonce, feeLimit };
    },
    broadcast: async (signed) => await Promise.resolve(offer(ledger, troubles, signed)),
    balanceOf: (address, asset, _signal, checkpoint) =>
      read(() => {
        requireBlock(checkpoint);
        return ledger.balance(address, asset, "solid");
      }),
  });
}

/** The estimate of one transaction: what it costs now, and as much again before a block passes it over. */
function estimate(
  ledger: PaperLedger,
  hotWallet: string,
  movements: readonly Movement[],
): FeeEstimate {
  const areSweeps = movements.every(({ from, to }) => from !== hotWallet && to === hotWallet);
  if (movements.length === 0 || movements.length > (areSweeps ? SWEEPS : 1)) {
    throw new RangeError(`Cannot put ${movements.length} such movements into one transaction`);
  }
  if (!ledger.isCovered(movements)) throw new ChainUnavailable("reverted", "it would fail");
  return feeAt({ movements }, ledger.base, 2 * ledger.base);
}

function feeAt(
  transaction: Pick<PaperTransaction, "movements">,
  now: number,
  price: number,
): FeeEstimate {
  const limit = costOf(transaction, price);
  return { fee: costOf(transaction, now), limit, atMost: limit, terms: { price } };
}

function paperLane(
  ledger: PaperLedger,
  requireBlock: (checkpoint: Checkpoint | undefined) => void,
): LanePort {
  const ask = (): LaneAsk => {
    const above = (earlier: readonly PaperTransaction[], movements: readonly Movement[]) => {
      const bumped = earlier.map(({ price }) => Math.ceil(price * 1.125));
      const price = Math.max(2 * ledger.base, ...bumped);
      return price > CAP ? null : feeAt({ movements }, ledger.base, price);
    };
    return {
      isPassedOver: (bytes) => readTransaction(bytes).price < ledger.base,
      replacing: (bytes) => {
        const earlier = bytes.map(readTransaction);
        return above(earlier, earlier[0]?.movements ?? []);
      },
      cancelling: (bytes) => above(bytes.map(readTransaction), []),
      // only the hot wallet sends on paper, and it is never poor
      within: ask,
    };
  };
  return {
    next: async (address, view, _signal, checkpoint) => {
      requireBlock(checkpoint);
      return await Promise.resolve(ledger.next(address, view));
    },
    sent: async (wanted) => {
      const found = ledger.transactions("head").find(({ txid }) => txid === wanted);
      const by = found === undefined
        ? null
        : { eventFrom: found.from, nonce: found.nonce, bytes: found.bytes };
      return await Promise.resolve(by);
    },
    asks: async () => await Promise.resolve(ask()),
    mostUnseen: 6,
    bumpAfterMs: 0,
  };
}
