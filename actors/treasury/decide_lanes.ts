import type { LaneAsk } from "../../chains/lane.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import type { LaneMemory } from "./lane_memory.ts";
import type { PayerStep } from "./lane_requests.ts";
import { type LaneTurn, laneTurn, type LaneView } from "./lane_turn.ts";

/** The facts that the turns of all lanes are decided by. */
export interface LanesView
  extends Pick<LaneView, "bumpAfterMs" | "suspendedMs" | "isHeadRead" | "cancelsOnly"> {
  readonly memory: Pick<LaneMemory, "viewOf">;
  /** Open nonces by their payers, the lowest first. */
  readonly lanes: ReadonlyMap<string, readonly PromisedNonce[]>;
  /** Reasons for which lanes have no turn, by payer. */
  readonly closed: ReadonlyMap<string, string>;
  /** The chain's terms for each payer that may sign something. */
  readonly terms: ReadonlyMap<string, LaneAsk>;
  /** So many nonces of a payer may be unseen at once. */
  readonly mostUnseen: (payer: string) => number;
  /** See {@linkcode LaneView.usedBelow}, of the hot wallet. */
  readonly usedBelow?: number | undefined;
  /** See {@linkcode LaneView.areBooksBehind}, of the hot wallet. */
  readonly areBooksBehind?: boolean;
  /** See {@linkcode LaneView.believedBelow}, of the hot wallet. */
  readonly believedBelow: number;
}

/** The turns of all lanes. */
export interface LanesDecided {
  readonly steps: readonly PayerStep[];
  /** Nonces that each payer may be promised besides. */
  readonly rooms: ReadonlyMap<string, number>;
  /** Reasons that transfers wait for, by id. */
  readonly waits: ReadonlyMap<string, string>;
  /** Thrown by lanes that cannot be decided, each of which stops no other. */
  readonly failures: readonly unknown[];
}

/** Decides a turn of each lane; a closed one has none, nor has one that cannot be decided. */
export function decideLanes(view: LanesView): LanesDecided {
  const { lanes, closed } = view;
  const rooms = new Map<string, number>();
  const waits = new Map<string, string>();
  const steps: PayerStep[] = [];
  const failures: unknown[] = [];
  for (const [payer, nonces] of lanes) {
    const fault = closed.get(payer);
    let turn: LaneTurn | null = null;
    try {
      if (fault === undefined) turn = turnOf(payer, nonces, view);
    } catch (error) {
      failures.push(error);
    }
    rooms.set(payer, turn?.room ?? 0);
    for (const step of turn?.steps ?? []) steps.push({ payer, step });
    for (const nonce of nonces) {
      const reason = fault ?? turn?.waits.get(nonce.nonce);
      if (reason === undefined) continue;
      for (const { outgoingId } of nonce.intents) waits.set(outgoingId, reason);
    }
  }
  return { steps, rooms, waits, failures };
}

function turnOf(
  payer: string,
  nonces: readonly PromisedNonce[],
  { memory, terms, mostUnseen, usedBelow, areBooksBehind = false, believedBelow, ...view }:
    LanesView,
): LaneTurn {
  return laneTurn({
    ...view,
    open: nonces.map((nonce) => memory.viewOf(nonce)),
    ask: terms.get(payer) ?? null,
    mostUnseen: mostUnseen(payer),
    ...(payer === "hot" ? { usedBelow, areBooksBehind, believedBelow } : {}),
  });
}
