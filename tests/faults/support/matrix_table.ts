/**
 * Faults of a node by step of a payment, and how each ends: data that the tests carry out cell by cell, and
 * that the pages of the matrix are made of. Each kind of chains has a table of its own.
 *
 * @module
 */

import type { FaultKind } from "../../../devchain/faults.ts";

/** One way for a node, or for the world around it, to fail. */
export interface Misbehaviour {
  readonly text: string;
  readonly does:
    /** As the development chain knows it. */
    | {
      readonly kind: FaultKind;
      readonly late?: true;
      readonly forget?: true;
      readonly perSecond?: number;
      readonly suspendSeconds?: number;
      readonly behind?: number;
    }
    /** Blocks are taken back, with or without their transactions. */
    | { readonly reorganise: "return" | "drop" }
    /** Something happens that no answer of a node shows. */
    | { readonly happens: Happening };
}

/** Things that happen beside a node's answers, on chains that count nonces. */
export type Happening =
  /** A transaction that was accepted is dropped from the pool. */
  | "evicted"
  /** Blocks ask eight times as much. */
  | "fees jump"
  /** Blocks ask more than the cap, and later as much as before. */
  | "fees above cap"
  /** The replacement is lost, and the transaction that it replaces is in a block. */
  | "original lands"
  /** Another program that has the key takes the nonce. */
  | "foreign hand"
  /** The hot wallet has tokens and no coin. */
  | "no coin";

/** Ways in which a node misbehaves. */
export type Does = Misbehaviour["does"];

/** Outcomes of a payment. */
export type End =
  | "credited once"
  /** While the fault lasts: the step does not need the node. */
  | "credited meanwhile"
  /** FAILED, after the proof that the transaction can no longer land. */
  | "failed on proof"
  /** No deposit, ever: nothing moved on the chain. */
  | "nothing booked"
  | "paid once"
  /** Nothing is signed, and readiness says so, until an administrator has adopted what took the nonce. */
  | "paid once, adopted"
  /** FAILED, everything given back, the reference free. */
  | "refunded"
  /** The same, as an administrator has taken its nonce out of use. */
  | "refunded, cancelled"
  /** The address's money is in the hot wallet, moved once. */
  | "swept once";

/** A cell: how it ends, or `-` and why there is nothing to try. */
export type Cell = End | `- ${string}`;

/** One of the steps of a payment, of all kinds of chains. */
export const STEPS = [
  "deposit seen",
  "deposit solid",
  "deposit credited",
  "payout estimate",
  "payout sign",
  "payout broadcast",
  "payout replaced",
  "payout seen",
  "payout solid",
  "sweep plan",
  "sweep gas",
  "sweep broadcast",
  "sweep solid",
] as const;
/** One of {@linkcode STEPS}. */
export type Step = (typeof STEPS)[number];

/** The parts common to a row of the matrix. */
export interface StepRow<Kind extends string = string> {
  /** Events of this step. */
  readonly text: string;
  /** Work that waits while the fault lasts, and the place where that can be seen. */
  readonly visible: string;
  readonly cells: Readonly<Record<Kind, Cell>>;
}

/** The matrix of a kind of chains. */
export interface MatrixTable {
  /** Every kind of fault, in the order of the page. */
  readonly kinds: ReadonlyMap<string, Misbehaviour>;
  /** The steps that its payments have, in their order. */
  readonly steps: ReadonlyMap<Step, StepRow>;
}

/** Makes the matrix of a kind of chains: every fault has a cell at every step. */
export function matrixTable<Kind extends string>(
  kinds: Readonly<Record<Kind, Misbehaviour>>,
  rows: Readonly<Partial<Record<Step, StepRow<Kind>>>>,
): MatrixTable {
  return {
    kinds: new Map(Object.entries<Misbehaviour>(kinds)),
    steps: new Map(STEPS.flatMap((step): [Step, StepRow][] => {
      const row = rows[step];
      return row === undefined ? [] : [[step, row]];
    })),
  };
}

/** A cell that can be tried. */
export interface LiveCell {
  readonly step: Step;
  readonly kind: string;
  readonly does: Does;
  readonly end: End;
}

/** The cells of a matrix that can be tried, step by step. */
export function liveCells({ kinds, steps }: MatrixTable): readonly LiveCell[] {
  return [...steps].flatMap(([step, { cells }]) =>
    [...kinds].flatMap(([kind, { does }]) => {
      const cell = cells[kind] ?? "- no cell";
      return isEnd(cell) ? [{ step, kind, does, end: cell }] : [];
    })
  );
}

/** True where a cell can be tried. */
export function isEnd(cell: Cell): cell is End {
  return !cell.startsWith("- ");
}
