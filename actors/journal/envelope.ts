/**
 * A message on its way through the journal, with what is owed to its sender.
 *
 * @module
 */

import type { AskOutcome } from "../runtime/ask.ts";
import type { Answer } from "../merchant/decide.ts";
import type { Fact } from "../merchant/facts.ts";
import type { MerchantCommand } from "../merchant/messages.ts";
import type { Refusal } from "../merchant/refusal.ts";

let turns = 0;

/** A command somebody waits for. */
export class CommandEnvelope {
  readonly kind = "command";
  /** Orders commands as they came. */
  readonly turn = ++turns;
  /** Whether it was decided and its durability is being found out. */
  decided = false;
  #settle: ((outcome: AskOutcome<Answer, Refusal>) => void) | null;

  /**
   * @param deadline when the sender stops waiting, in milliseconds of the journal's monotonic clock
   * @param settle called exactly once
   */
  constructor(
    readonly message: MerchantCommand,
    readonly deadline: number,
    settle: (outcome: AskOutcome<Answer, Refusal>) => void,
  ) {
    this.#settle = settle;
  }

  /** Whether the sender has its answer. Such a message is not decided (again). */
  get settled(): boolean {
    return this.#settle === null;
  }

  /** Answers the sender; later calls change nothing. */
  settle(outcome: AskOutcome<Answer, Refusal>): void {
    const settle = this.#settle;
    this.#settle = null;
    settle?.(outcome);
  }

  /** Tells a sender whose time is over what is known. */
  expire(): void {
    this.settle({ kind: this.decided ? "unknown" : "withdrawn" });
  }
}

/** Something the chain said; its row stays until it is consumed. */
export interface FactEnvelope {
  readonly kind: "fact";
  readonly message: Fact;
}

/** Says that the merchant's inbox has rows. */
export interface WakeEnvelope {
  readonly kind: "wake";
}

/** What a merchant's mailbox holds. */
export type Envelope = CommandEnvelope | WakeEnvelope;

/** What is decided: a wake-up has been replaced by the facts it announced. */
export type Decidable = CommandEnvelope | FactEnvelope;
