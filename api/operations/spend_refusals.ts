/**
 * Texts of refused verdicts on unknown transfers: they name the withdrawal that stands against them.
 *
 * @module
 */

import type { Candidate } from "../../ledger/failover/unknown_spends.ts";
import type { Answer } from "../http/answer.ts";
import { conflict } from "../http/errors.ts";

/** Says which withdrawal the books have a transfer for; that verdict was broken off before the list was told. */
export function paidAlready(withdrawal: string): Answer {
  return conflict(`It has paid ${withdrawal} already: match it with that`);
}

/** A withdrawal that waits, and for what. */
export function shown({ withdrawalId, merchantId, state, expiresAt }: Candidate): string {
  const named = `${withdrawalId} of ${merchantId} has the same terms and`;
  switch (state) {
    case "queued":
      return `${named} is queued`;
    case "approval":
      return `${named} waits for approval`;
    case "signed":
      return `${named} is signed: bytes of it may come to a block until ${
        expiresAt === null ? "they expire" : new Date(expiresAt).toISOString()
      }, after which it is queued`;
    default: {
      const never: never = state;
      return never;
    }
  }
}
