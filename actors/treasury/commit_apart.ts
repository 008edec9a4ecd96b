import { isToBlame } from "../../ledger/database/database_errors.ts";
import type { SigningTurn } from "../../ledger/treasury/pull_queued.ts";
import { logEvent } from "../../log/log_event.ts";

/** The parts that were committed, and the turn that is left. */
export interface CommittedApart<Done> {
  readonly done: readonly Done[];
  /** As the commits have left it; null: it is lost, and what is not done is not committed. */
  readonly turn: SigningTurn | null;
}

/**
 * Commits parts in one statement; where the database refuses it for what is in it, each part by itself, so that one
 * that breaks a rule of the schema takes no other along. Each commit follows the one before it in the same
 * turn: what another node signs in between ends it.
 *
 * @param commit of some of them; it moves the turn on by one, null: it is lost
 * @param onRefused called with each part that the database refuses alone, and a reason for the operator
 * @throws when the database is away or has reasons of its own, and nothing is committed
 */
export async function commitApart<Part, Done>(
  parts: readonly Part[],
  turn: SigningTurn,
  commit: (parts: readonly Part[], turn: SigningTurn) => Promise<Done | null>,
  onRefused: (part: Part, reason: string) => void,
): Promise<CommittedApart<Done>> {
  if (parts.length === 0) return { done: [], turn };
  const { network } = turn;
  try {
    const one = await commit(parts, turn);
    return one === null ? { done: [], turn: null } : { done: [one], turn: moved(turn) };
  } catch (error) {
    if (!isToBlame(error)) throw error;
    logEvent("treasury.commit_split", { network, count: parts.length, error });
  }
  const done: Done[] = [];
  let left = turn;
  for (const part of parts) {
    try {
      const one = await commit([part], left);
      if (one === null) return { done, turn: null };
      // the turn counts every commit, also one that found its transfer given up
      left = moved(left);
      done.push(one);
    } catch (error) {
      if (!isToBlame(error)) {
        if (done.length === 0) throw error;
        logEvent("treasury.commit_waits", { network, error });
        return { done, turn: null };
      }
      onRefused(part, `it cannot be committed: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { done, turn: left };
}

function moved(turn: SigningTurn): SigningTurn {
  return { ...turn, batches: turn.batches + 1n };
}
