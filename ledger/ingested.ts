/**
 * The names of the lines of `book.ingested`, where each thing takes effect once. What the service
 * names itself begins with a word of its own, and what others name with `up:`: no text that comes
 * from outside is ever the name of an operator's verdict.
 *
 * @module
 */

import type { Sql } from "./database/connect.ts";

/** SHA-256 of the body that an upstream event came with; `null` where it took no effect yet. */
export async function findIngested(sql: Sql, eventId: string): Promise<string | null> {
  const [row] = await sql<{ body_hash: string }[]>`
    SELECT body_hash FROM book.ingested WHERE event_id = ${eventId}`;
  return row?.body_hash ?? null;
}

/** The beginnings of what the service names itself; the schema knows them as well. */
const OWN = ["verdict:", "failover/"] as const;

/** True if an upstream system may not call an event so: it would read like a line of the service's. */
export function isReservedEventId(eventId: string): boolean {
  return OWN.some((beginning) => eventId.startsWith(beginning));
}

/** Names an event of an upstream system. */
export function upstreamEventId(eventId: string): string {
  return `up:${eventId}`;
}

/** Names the line that holds an operator's verdict on a withdrawal's payout for ever. */
export function verdictId(withdrawalId: string): string {
  return `verdict:${withdrawalId}`;
}

/**
 * Names the one verdict on a transfer that left a wallet unknown: what a booking writes with itself,
 * and a write-off with its own, so that of two at once exactly one is given.
 */
export function spendEventId(
  { network, txid }: { readonly network: string; readonly txid: string },
): string {
  return `failover/${network}/${txid}`;
}
