import type { Network } from "../../ledger/money/pair.ts";
import { type Promised, promisesOf } from "../merchant/liquidity.ts";
import type { Slice } from "./slice.ts";

/** What a commit means to other actors; only a wake-up, the rows are durable. */
export interface Committed {
  /** Merchants with new events to deliver. */
  readonly events: ReadonlySet<string>;
  /** Networks with new payouts. */
  readonly networks: ReadonlySet<Network>;
  /** What new payouts promise. */
  readonly promises: readonly Promised[];
  /** Deposits that were seen and are not final yet. */
  readonly pendingDeposits: readonly PendingDeposit[];
}

/** A deposit that was seen, and when its transaction dies (block time). */
export interface PendingDeposit {
  readonly depositId: string;
  readonly expiresAt: number;
}

/** What other actors should hear of committed slices; `null` when nothing concerns them. */
export function committed(slices: readonly Slice[]): Committed | null {
  const events = new Set<string>();
  const networks = new Set<Network>();
  const promises: Promised[] = [];
  const pendingDeposits: PendingDeposit[] = [];
  for (const { draft, merchantId } of slices) {
    if (!draft.dirty) continue;
    const changes = draft.changes();
    if (changes.events.some((event) => event.status === "PENDING")) events.add(merchantId);
    for (const row of changes.newOutgoing) if (row.status === "queued") networks.add(row.network);
    promises.push(...promisesOf(changes.newOutgoing));
    for (const row of changes.newDeposits) {
      if (row.status === "PENDING" && row.expiresAt !== null) {
        pendingDeposits.push({ depositId: row.id, expiresAt: row.expiresAt });
      }
    }
  }
  if (events.size + networks.size + pendingDeposits.length === 0) return null;
  return { events, networks, promises, pendingDeposits };
}
