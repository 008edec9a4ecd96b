/**
 * The rules of the port on a chain on paper of another kind than TRON: it passes heights by. What fails here is
 * a habit of one chain in the suite, which would be asked of every adapter after it.
 *
 * @module
 */

import {
  type Block,
  type BlockAnswer,
  ChainUnavailable,
  type Finality,
} from "../../chains/chain.ts";
import type { Transfer } from "../../chains/chain.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { paperChain } from "../support/paper_chain.ts";
import { ENDLESS, sparseBlock, timeAt } from "../support/paper_family.ts";
import {
  chainConformance,
  type ChainHarness,
  type Kind,
  type Payment,
  type Trouble,
} from "./chain.ts";

const PAPER: Kind = { life: "expires", skips: true, coin: ["1"] };
const SOLID_LAG = 3;
const NETWORK = "SOL";
const ADDRESS = /^paper-\d{1,10}$/;
/** Troubles that reads meet, by the category of the failure. */
const FAILING = { "rate-limited": "rate-limit", "server-error": "server-error" } as const;

function paperHarness(): Promise<ChainHarness> {
  const blocks: Block[] = [];
  const pending: { readonly txid: string; readonly transfers: readonly Transfer[] }[] = [];
  const troubles: Trouble[] = [];
  let payments = 0;
  let addresses = 1_000_000;
  let forks = 0;
  const of = (view: Finality) => view === "head" ? blocks : blocks.slice(0, -SOLID_LAG);
  const newest = (view: Finality): Promise<Block> => {
    const [trouble] = troubles;
    const found = of(view).at(-1);
    if (trouble === "rate-limited" || trouble === "server-error") {
      troubles.shift();
      return Promise.reject(new ChainUnavailable(FAILING[trouble], "paper"));
    }
    if (found === undefined) {
      return Promise.reject(new Error("Cannot tell the newest block of none"));
    }
    return Promise.resolve(found);
  };
  const blockAt = (height: number, view: Finality): BlockAnswer => {
    const block = of(view).find((one) => one.height === height);
    if (block === undefined) return { kind: "missing", height };
    if (troubles[0] !== "receipts-late") return { kind: "block", block };
    troubles.shift();
    return { kind: "incomplete", height, reason: "its receipts are late" };
  };
  const add = (): void => {
    const parent = blocks.at(-1);
    const parentHeight = parent?.height ?? 0;
    // every third one is far above its parent
    const height = parentHeight + (blocks.length % 3 === 2 ? 4 : 1);
    const transactions = pending.splice(0);
    blocks.push(sparseBlock(height, parentHeight, {
      hash: `b${height}-${forks}`,
      parentHash: parent?.hash ?? "none",
      transfers: transactions.flatMap(({ transfers }) => transfers),
      transactions: transactions.map(({ txid }) => ({
        txid,
        success: true,
        failure: null,
        fee: ZERO,
      })),
    }));
  };
  // others have used it before
  for (let made = 0; made < 10; made++) add();
  const payTogether = (together: readonly Payment[]): Promise<string> => {
    const txid = `tx-${++payments}`;
    const transfers = together.flatMap(({ to, asset, amount }, logIndex): Transfer[] =>
      asset === "native" ? [] : [{
        txid,
        logIndex,
        currency: asset,
        eventFrom: "paper-9999999",
        eventTo: to,
        amount,
        diesAfter: ENDLESS,
        expiresAt: timeAt(1_000_000),
      }]
    );
    pending.push({ txid, transfers });
    return Promise.resolve(txid);
  };
  const unasked = (what: string) => () =>
    Promise.reject(new Error(`Cannot ${what} as a chain on paper is only read`));
  return Promise.resolve({
    chain: paperChain(NETWORK, {
      hotWallet: "paper-4000000000",
      address: (text) => ADDRESS.test(text) ? text : null,
      deriveAddress: (index) => {
        if (Number.isInteger(index) && index >= 0 && index < 2 ** 31) return `paper-${index}`;
        throw new RangeError(`Cannot derive an address as its index is out of range: ${index}`);
      },
      head: () => newest("head"),
      solid: () => newest("solid"),
      block: (height, view) => Promise.resolve(blockAt(height, view)),
      async *blocks(from, to, view) {
        const end = of(view).at(-1)?.height ?? 0;
        for (const block of of(view)) {
          if (block.height >= from && block.height <= to) yield await { kind: "block", block };
        }
        if (from <= to && to > end) yield { kind: "missing", height: end + 1 };
      },
    }),
    currency: "USDT",
    spacingMs: 400,
    freshAddress: () => `paper-${++addresses}`,
    notAddresses: ["paper-", "paper-1 ", "Paper-1", "paper-x"],
    pay: (payment) => payTogether([payment]),
    payTogether,
    poison: () => payTogether([]),
    mine: (count) => {
      for (let made = 0; made < count; made++) add();
      return Promise.resolve();
    },
    reorganise: (depth) => {
      forks++;
      blocks.splice(-depth);
      for (let made = 0; made < depth; made++) add();
      return Promise.resolve();
    },
    sign: unasked("sign"),
    trouble: (trouble, times) => {
      for (let made = 0; made < times; made++) troubles.push(trouble);
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

chainConformance("chain on paper", paperHarness, PAPER, {}, ["addresses", "blocks"]);
