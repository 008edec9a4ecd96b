import type { Sql } from "../../../ledger/database/connect.ts";

/**
 * Lets time pass for what a node keeps for later, which goes by the database's clock: timers and retries
 * of deliveries are due so much sooner. Nothing has to be waited for.
 */
export async function passTime(sql: Sql, milliseconds: number): Promise<void> {
  const passed = `${milliseconds} milliseconds`;
  await sql`UPDATE hub.timer SET due_at = due_at - ${passed}::text::interval`;
  await sql`
    UPDATE book.outbox SET next_attempt_at = next_attempt_at - ${passed}::text::interval
    WHERE status = 'PENDING' AND claimed_until IS NULL AND next_attempt_at > now()`;
  await sql`
    UPDATE book.second_chance SET next_probe_at = next_probe_at - ${passed}::text::interval
    WHERE next_probe_at > now()`;
}
