/**
 * Blocks in the form in which one thread hands them to another. A busy block is a thousand small
 * objects, and to copy them one by one costs as much as to read them from a node's text; as columns
 * they cost a tenth of that.
 *
 * @module
 */

import type { Block, BlockAnswer, BlockRef, IncludedTransaction, Transfer } from "../chain.ts";

/** Rows by column; numbers are copied as they lie, which costs nothing. */
type Columns<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends number ? Float64Array : readonly Row[Name][];
};

/** A block as columns. */
export interface PackedBlock {
  readonly kind: "packed";
  readonly ref: BlockRef;
  readonly transactions: Columns<Pick<IncludedTransaction, "txid" | "fee">>;
  /** Which transactions failed, and the chain's words for it: few do. */
  readonly failures: readonly (readonly [number, string])[];
  readonly transfers: Columns<Transfer>;
}

/** Answers for another thread. */
export type PackedAnswer = PackedBlock | Exclude<BlockAnswer, { readonly kind: "block" }>;

/** Packs answers. */
export function packAnswers(answers: readonly BlockAnswer[]): readonly PackedAnswer[] {
  return answers.map((answer) => answer.kind === "block" ? packBlock(answer.block) : answer);
}

/** What was packed. */
export function unpackAnswers(packed: readonly PackedAnswer[]): readonly BlockAnswer[] {
  return packed.map((answer) =>
    answer.kind === "packed" ? { kind: "block", block: unpackBlock(answer) } : answer
  );
}

// each column by its name: a loop over names takes several times as long
function packBlock({ transactions, transfers, ...ref }: Block): PackedBlock {
  return {
    kind: "packed",
    ref,
    transactions: {
      txid: transactions.map(({ txid }) => txid),
      fee: transactions.map(({ fee }) => fee),
    },
    failures: transactions.flatMap(({ failure }, i) => failure === null ? [] : [[i, failure]]),
    transfers: {
      txid: transfers.map(({ txid }) => txid),
      logIndex: new Float64Array(transfers.map(({ logIndex }) => logIndex)),
      currency: transfers.map(({ currency }) => currency),
      eventFrom: transfers.map(({ eventFrom }) => eventFrom),
      eventTo: transfers.map(({ eventTo }) => eventTo),
      amount: transfers.map(({ amount }) => amount),
      expiresAt: new Float64Array(transfers.map(({ expiresAt }) => expiresAt)),
    },
  };
}

function unpackBlock({ ref, transactions, failures, transfers }: PackedBlock): Block {
  const words = new Map(failures);
  return {
    ...ref,
    transactions: transactions.txid.map((txid, i) => {
      const failure = words.get(i) ?? null;
      const fee = transactions.fee[i] as IncludedTransaction["fee"];
      return { txid, success: failure === null, failure, fee };
    }),
    transfers: transfers.txid.map((txid, i) => ({
      txid,
      logIndex: transfers.logIndex[i] as number,
      currency: transfers.currency[i] as Transfer["currency"],
      eventFrom: transfers.eventFrom[i] as string,
      eventTo: transfers.eventTo[i] as string,
      amount: transfers.amount[i] as Transfer["amount"],
      expiresAt: transfers.expiresAt[i] as number,
    })),
  };
}
