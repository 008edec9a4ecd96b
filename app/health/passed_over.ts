/**
 * Transfers that a merchant waits for and that no scan brings by itself.
 *
 * @module
 */

import type { Engine } from "../../actors/engine.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { PairSettings } from "../../ledger/pairs.ts";
import { countOldClaims } from "../../ledger/quarantine.ts";
import { type MissedBlocks, readMissedBlocks } from "../../ledger/watcher/scanned_ranges.ts";

/** Time for which a transfer may wait for a deposit by hand before it is said. */
const HELD_MINUTES = 10;

/** The database's record of them. */
export interface PassedOver {
  readonly missed: readonly MissedBlocks[];
  /** Transfers that wait for a deposit by hand. */
  readonly held: number;
}

/** Reads what was passed over, or waits. */
export async function readPassedOver(sql: Sql): Promise<PassedOver> {
  // one after the other: what is told besides has one connection for each of its parts
  const missed = await readMissedBlocks(sql);
  const held = await countOldClaims(sql, HELD_MINUTES);
  return { missed, held };
}

/** Troubles with them, for operators. */
export function passedOverReasons(
  pairs: Iterable<Pick<PairSettings, "network" | "currency" | "depositsEnabled">>,
  engine: Pick<Engine, "networks" | "currencies">,
  { missed, held }: PassedOver,
): string[] {
  const reasons: string[] = [];
  for (const { network, currency, depositsEnabled } of pairs) {
    if (!depositsEnabled || !engine.networks.includes(network)) continue;
    if (!engine.currencies(network).includes(currency)) {
      reasons.push(
        `${network}: deposits of ${currency} are enabled and passed over, as it has no contract`,
      );
    }
    for (const range of missed) {
      if (range.network !== network || range.currency !== currency) continue;
      reasons.push(
        `${network}: blocks ${range.first} to ${range.last} were read without the contract of ` +
          `${currency}, read them again`,
      );
    }
  }
  if (held > 0) {
    reasons.push(`${held} transfers wait for a deposit by hand that was not decided`);
  }
  return reasons;
}
