/**
 * Events that each poll logs again while their cause lasts: told when they begin, and then ever more seldom with
 * the number of those between, so that an outage of an hour is some ten lines and not ten thousand.
 *
 * @module
 */

import type { LogRecord, Sink } from "@logtape/logtape";
import type { EventName } from "./event_table.ts";

/** The fields that name what such an event is about: while they stay the same, it is the same one that lasts. */
export const LASTING: Readonly<Partial<Record<EventName, readonly string[]>>> = {
  "actor.reloaded": ["kind", "id", "what"],
  "callback.claim_failed": [],
  "callback.claim_refused": ["merchant"],
  "callback.marks_failed": [],
  "callback.marks_held": ["merchants"],
  "callback.unanswered": ["merchant"],
  "callback.work_failed": ["what"],
  "chain.block_unreadable": ["network", "view", "height"],
  "chain.block_waits": ["network", "view", "height"],
  "chain.blocks_unbound": ["network"],
  "chain.unreached": ["network"],
  "clock.unread": [],
  "database.silent": [],
  "deposit.contested_held": ["network"],
  "deposit.proof_failed": ["network", "height"],
  "deposit.proof_not_credited": ["network", "txid"],
  "deposit.proof_not_postponed": ["network"],
  "failover.hold_clock": ["network"],
  "failover.hold_waits": ["network"],
  "failover.nonce_held": ["network", "transfer"],
  "failover.nonce_waits": ["network", "payer"],
  "failover.not_adopted": ["network", "transfer"],
  "failover.signed_unread": ["network"],
  "fee.failed": ["network", "currency"],
  "http.accept_failed": [],
  "http.connections_refused": [],
  "journal.commit_asked_again": [],
  "journal.inboxes_unread": [],
  "journal.merchants_wait": [],
  "journal.stops_unread": [],
  "journal.wake_failed": [],
  "node.answers": ["node"],
  "node.call_failed": ["node"],
  "node.calls_unkept": [],
  "node.failed": ["node"],
  "periodic.failed": ["name"],
  "postgres.not_restarted": [],
  "rates.malformed": ["source"],
  "rates.missing": ["priced", "source"],
  "sweep.address_failed": ["network", "currency", "address"],
  "sweep.address_waits": ["network", "currency"],
  "sweep.uncounted": ["network"],
  "timer.poll_failed": [],
  "token.unread": ["network", "currency"],
  "transfer.not_broadcast": ["network", "txid"],
  "transfer.refused": ["network", "txid", "code"],
  "treasury.block_unreadable": ["network", "height"],
  "treasury.block_waits": ["network", "height"],
  "treasury.commit_waits": ["network"],
  "treasury.internal_waits": ["network"],
  "treasury.nonce_unread": ["network"],
  "treasury.nonce_waits": ["network", "nonce"],
  "treasury.not_signed": ["network"],
  "treasury.part_failed": ["network", "name"],
  "treasury.payer_coin_unread": ["network", "payer"],
  "wallet.balance_unread": ["network", "asset"],
  "wallet.unattested": [],
  "wallet.unread": ["network"],
  "worker.ended": ["name"],
};

/** Time without a line after the first one, milliseconds; it doubles with each further line. */
const FIRST_QUIET_MS = 60_000;
/** The longest time without a line while it lasts. */
const LONGEST_QUIET_MS = 600_000;
/** An event that is not met again for so long has ended: the next one begins anew. */
const OVER_MS = 120_000;
/** Events that are remembered; of more, those that were met longest ago are told anew. */
const MOST_REMEMBERED = 5_000;

/** One event that lasts. Times are those of a monotonic clock, milliseconds. */
interface Remembered {
  seenAt: number;
  quietUntil: number;
  quietMs: number;
  /** Lines that were left out since the last one. */
  left: number;
}

/**
 * Makes a sink of logs that leaves out what lasts. A fault of the program, which has its stack, is never left out.
 *
 * @param sink takes the records that are written
 * @param now monotonic clock, milliseconds
 */
export function withoutRepeats(sink: Sink, now: () => number = () => performance.now()): Sink {
  const remembered = new Map<string, Remembered>();
  return (record) => {
    const key = keyOf(record);
    if (key === null) return sink(record);
    const at = now();
    const known = remembered.get(key);
    // put in again, so that the first of the map is always the one that was met longest ago
    remembered.delete(key);
    if (known === undefined || at - known.seenAt >= OVER_MS) {
      const [oldest] = remembered.keys();
      if (remembered.size >= MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
      const begun = {
        seenAt: at,
        quietUntil: at + FIRST_QUIET_MS,
        quietMs: FIRST_QUIET_MS,
        left: 0,
      };
      remembered.set(key, begun);
      return sink(record);
    }
    remembered.set(key, known);
    known.seenAt = at;
    if (at < known.quietUntil) {
      known.left++;
      return;
    }
    known.quietMs = Math.min(2 * known.quietMs, LONGEST_QUIET_MS);
    known.quietUntil = at + known.quietMs;
    sink(counted(record, known.left));
    known.left = 0;
  };
}

/** Name of the subject of a record; null: it is written whatever was written before. */
function keyOf({ properties }: LogRecord): string | null {
  const { event } = properties;
  if (typeof event !== "string" || "stack" in properties) return null;
  const fields = Object.hasOwn(LASTING, event) ? LASTING[event as EventName] : undefined;
  if (fields === undefined) return null;
  return [event, ...fields.map((field) => String(properties[field]))].join("\n");
}

/** The record with the number of those that were left out before it. */
function counted(record: LogRecord, left: number): LogRecord {
  return {
    ...record,
    message: record.message.with(
      -1,
      `${record.message.at(-1)} (and ${left} times since it was last told)`,
    ),
    properties: { ...record.properties, left_out: left },
  };
}
