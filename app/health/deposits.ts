/**
 * Transfers that a merchant waits for and that no scan brings by itself.
 *
 * @module
 */

import type { Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { PairSettings } from "../../ledger/settings.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { countOldClaims } from "../../ledger/quarantine.ts";
import { type MissedBlocks, readMissedBlocks } from "../../ledger/watcher/cursor.ts";
import { registerFigures } from "./figures.ts";

/** A deposit that waits for longer is reported: a second node is often a few blocks behind. */
const WAITING_MS = 60_000;

/** Troubles with a network's large deposits. */
export function depositProofReasons(
  engine: Pick<Engine, "depositsAwaitingProof">,
  network: Network,
  now: number,
): string[] {
  const figures = engine.depositsAwaitingProof(network);
  if (figures === null || figures.oldestAt === null) return [];
  const { waiting, disputed, oldestAt } = figures;
  // one from the future was written by a wrong clock, so that its age is unknown
  const isNew = now - oldestAt <= WAITING_MS && oldestAt - now <= WAITING_MS;
  if (disputed === 0 && isNew) return [];
  const reason = figures.reason ??
    "it was not asked about yet, or another transaction holds its row";
  return [
    disputed > 0
      ? `${network} has ${disputed} large deposits that a second node disputes: ${reason}`
      : `${network} has ${waiting} large deposits that a second node must prove: ${reason}`,
  ];
}

/** Registers what waits for the word of a second node. */
export function registerDepositProofMetrics(
  registry: Registry,
  engine: Pick<Engine, "depositsAwaitingProof" | "networks">,
  now: () => number,
): void {
  const byNetwork = () =>
    engine.networks.flatMap((network) => {
      const figures = engine.depositsAwaitingProof(network);
      return figures === null ? [] : [[network, figures] as const];
    });
  registerFigures(registry, byNetwork, {
    engine_deposits_unproven: ({ waiting }) => waiting,
    engine_deposits_disputed: ({ disputed }) => disputed,
    engine_deposits_oldest_unproven_seconds: ({ oldestAt }) =>
      oldestAt === null ? 0 : Math.max(0, now() - oldestAt) / 1_000,
  });
}

/** Time for which a transfer may wait for a deposit by hand before it is reported. */
const HELD_MINUTES = 10;

/** The database's record of them. */
export interface PassedOver {
  readonly missed: readonly MissedBlocks[];
  /** Transfers that wait for a deposit by hand. */
  readonly held: number;
}

/** Reads what was passed over, or waits. */
export async function readPassedOver(sql: Sql): Promise<PassedOver> {
  // one after the other: the further reads of readiness have one connection each
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
