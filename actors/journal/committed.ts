import type { Network } from "../../ledger/money/pair.ts";
import { type Reservation, reservationsOf } from "../merchant/liquidity.ts";
import type { MerchantBatch } from "./decide_batch.ts";

/** A commit as other actors hear of it; only a wake-up, the rows are durable. */
export interface Committed {
  /** Merchants with new events to deliver. */
  readonly events: ReadonlySet<string>;
  /** Networks with new payouts. */
  readonly networks: ReadonlySet<Network>;
  /** What new payouts reserve. */
  readonly reservations: readonly Reservation[];
  /** Deposits that were seen and are not final yet. */
  readonly pendingDeposits: readonly PendingDeposit[];
}

/** A deposit that was seen, and when its transaction dies (block time). */
export interface PendingDeposit {
  readonly depositId: string;
  readonly expiresAt: number;
}

/** The wake-up of a commit; `null` when no other actor is concerned. */
export function committed(parts: readonly MerchantBatch[]): Committed | null {
  const events = new Set<string>();
  const networks = new Set<Network>();
  const reservations: Reservation[] = [];
  const pendingDeposits: PendingDeposit[] = [];
  for (const { unit, merchantId } of parts) {
    if (!unit.isDirty) continue;
    const changes = unit.changes();
    if (changes.once.events.some((event) => event.status === "PENDING")) events.add(merchantId);
    for (const row of changes.once.outgoing) if (row.status === "queued") networks.add(row.network);
    reservations.push(...reservationsOf(changes.once.outgoing));
    for (const row of changes.created.deposits) {
      if (row.status === "PENDING" && row.expiresAt !== null) {
        pendingDeposits.push({ depositId: row.id, expiresAt: row.expiresAt });
      }
    }
  }
  if (events.size + networks.size + pendingDeposits.length === 0) return null;
  return { events, networks, reservations, pendingDeposits };
}
