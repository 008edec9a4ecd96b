import type { FaultKind } from "../../../devchain/faults.ts";
import { control, eventually } from "./client.ts";
import { POLL_MS } from "./matrix_rig.ts";
import { passTime } from "./pass_time.ts";
import { hasStatus, type Shop } from "./shop.ts";

/** A fault as `/dev/config` takes it. */
export interface FaultRequest {
  readonly path: string;
  readonly kind: FaultKind;
  readonly times?: number;
  readonly late?: boolean;
  readonly forget?: boolean;
}

/** Path that transactions are sent to. */
export const BROADCAST = "/wallet/broadcasttransaction";

/** Puts exactly these faults in force on the TRX chain. */
export async function setFaults(shop: Shop, faults: readonly FaultRequest[]): Promise<void> {
  const answer = await control(shop.service, "/dev/config", { faults });
  if (answer.status !== 200) throw new Error(`Cannot set faults: ${JSON.stringify(answer.body)}`);
}

/** Makes a block every now and then until a payment has a status. */
export async function mineUntil(shop: Shop, paymentId: string, status: string): Promise<void> {
  await eventually(`${paymentId} ${status}`, async () => {
    if (await hasStatus(shop, paymentId, status)) return true;
    await control(shop.service, "/dev/mine", { blocks: 1, intervalMs: 100 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    return false;
  });
}

/**
 * Lets time pass without waiting for it: two blocks whose times lie far apart, and what the database
 * keeps for later comes so much sooner. The solid block is three behind, so it is not late before
 * `mine` makes a few more.
 */
export async function letPass(shop: Shop, milliseconds: number): Promise<void> {
  await control(shop.service, "/dev/mine", { blocks: 2, intervalMs: milliseconds });
  await passTime(shop.service.sql, milliseconds);
}

/** Takes the newest blocks back. @param drop whether their transactions are forgotten */
export async function reorganise(shop: Shop, depth: number, drop: boolean): Promise<void> {
  const answer = await control(shop.service, "/dev/reorg", { depth, drop });
  if (answer.status !== 200) {
    throw new Error(`Cannot take blocks back: ${JSON.stringify(answer.body)}`);
  }
}

/** Waits until a withdrawal's payout is signed for the n-th time. */
export async function untilSigned(shop: Shop, withdrawalId: string, attempt = 1): Promise<void> {
  await eventually(`attempt ${attempt} of ${withdrawalId}`, async () => {
    const rows = await shop.service.sql`
      SELECT FROM book.outgoing o JOIN book.attempt a ON a.outgoing_id = o.id
      WHERE o.payment_id = ${withdrawalId} AND a.number = ${attempt}`;
    return rows.length > 0;
  });
}

/** Time for the treasury, the watcher and the timers to look at what there is, several times. */
export async function turns(shop: Shop): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 6 * POLL_MS));
  await shop.service.sql`SELECT 1`;
}
