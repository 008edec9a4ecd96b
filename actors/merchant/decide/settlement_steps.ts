import type { SettlementRow, SettlementStep } from "../../../ledger/rows.ts";
import { checkMove, type SettlementStatus } from "../../../ledger/money/transitions.ts";

/** A path of states that is not empty. */
type Steps = readonly [...(readonly SettlementStatus[]), SettlementStatus];

function stepsOf(statuses: readonly SettlementStatus[], at: number): readonly SettlementStep[] {
  return statuses.map((status) => ({ status, at: new Date(at).toISOString() }));
}

/**
 * A settlement as it is made: `PENDING`, and on from there in the same commit.
 *
 * @param at Unix milliseconds
 * @throws when a step is not allowed
 */
export function openSettlement(
  row: Omit<SettlementRow, "status" | "reason" | "history" | "createdAt" | "updatedAt">,
  steps: Steps,
  at: number,
): SettlementRow {
  const pending: SettlementRow = {
    ...row,
    status: "PENDING",
    reason: null,
    createdAt: at,
    updatedAt: at,
    history: stepsOf(["PENDING"], at),
  };
  return moveSettlement(pending, steps, null, at);
}

/**
 * A settlement after one or more steps, each of which its history keeps; the database checks the
 * same.
 *
 * @param steps the states it passes, its new one last
 * @param reason why it ended without a payout, null where it did not
 * @param at Unix milliseconds
 * @throws when a step is not allowed
 */
export function moveSettlement(
  settlement: SettlementRow,
  steps: Steps,
  reason: string | null,
  at: number,
): SettlementRow {
  let { status } = settlement;
  for (const step of steps) {
    checkMove("settlement", settlement.id, status, step);
    status = step;
  }
  const history = [...settlement.history, ...stepsOf(steps, at)];
  return { ...settlement, status, reason, updatedAt: at, history };
}
