import { getLogger } from "@logtape/logtape";
import type { AnySql, Sql } from "../database/connect.ts";

const log = getLogger(["engine", "clock"]);

type Statement = (sql: AnySql) => PromiseLike<{ readonly count: number }>;

/**
 * Times until which something is put off, each with more than the longest it is ever put off by. One
 * further ahead was written while a clock was wrong, or the database's own has gone back since.
 */
const PUT_OFF: readonly (readonly [name: string, takeBack: Statement])[] = [
  // the expiry of a transaction, a day at most
  ["timers", (sql) =>
    sql`
    UPDATE hub.timer SET due_at = now() WHERE due_at > now() + interval '25 hours'`],
  // the longest pause of an address that cannot be swept is a day
  ["addresses to sweep", (sql) =>
    sql`
    UPDATE book.sweep_target SET look_at = now() WHERE look_at > now() + interval '25 hours'`],
  // the pauses of transfers that cannot be signed grow to minutes
  ["queued transfers", (sql) =>
    sql`
    UPDATE book.outgoing SET lease_until = NULL
    WHERE status = 'queued' AND lease_until > now() + interval '1 hour'`],
  // a turn lasts half a minute
  ["signing turns", (sql) =>
    sql`
    UPDATE book.signing_turn SET until = now() WHERE until > now() + interval '10 minutes'`],
  // a hold waits for an hour's difference of clocks and a lifetime at most; it is noted anew
  ["holds of payouts", (sql) =>
    sql`
    UPDATE hub.failover_network SET until_time = NULL, head_height = NULL
    WHERE compared_at IS NULL AND until_time > now() + interval '26 hours'`],
];

/**
 * Takes back what was put off further than anything ever is. Each kind by itself: one that cannot be
 * looked through keeps no other from it.
 *
 * @returns how many there were
 * @throws what the last kind that failed threw, after all others were looked through
 */
export async function boundKeptTimes(sql: Sql): Promise<number> {
  let sum = 0;
  let failure: unknown = null;
  for (const [name, takeBack] of PUT_OFF) {
    try {
      const { count } = await takeBack(sql);
      if (count > 0) {
        log.error("{count} {name} were put off by a clock that was wrong, and are due now", {
          count,
          name,
        });
      }
      sum += count;
    } catch (error) {
      failure = error;
    }
  }
  if (failure !== null) throw failure;
  return sum;
}
