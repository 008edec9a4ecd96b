import type { Chain } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { hasLateOutcome } from "../../ledger/watcher/late_outcomes.ts";
import { LONGEST_REST_MS } from "../watcher/call_rests.ts";

/** Tries for a comparison that may have been overtaken by a new block. */
export const TRIES = 20;
export const PAUSE_MS = 500;
/** Tries to see the scan pass a block; it may just have begun to rest. */
const POLLS = TRIES + LONGEST_REST_MS / PAUSE_MS;
/** Bound of one question to a node. */
export const NODE_MS = 10_000;

/** Part of a chain that is read. */
export type ReconciledChain = Pick<
  Chain,
  "network" | "capabilities" | "hotWallet" | "eventAddress" | "solid" | "balanceOf" | "transaction"
>;

export interface ChainCheck {
  readonly sql: Sql;
  readonly chain: ReconciledChain;
  /** Address to which the treasury sends what the hot wallet need not hold; null: none. */
  readonly coldAddress: string | null;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** The own scan does not move (is the service running?), or could not write all that it has read. */
export class ScanBehind extends Error {}

/** The chain's newest solid block, once the own scan has passed it. @throws {ScanBehind} */
export async function passedBlock(check: ChainCheck): Promise<number> {
  const { height } = await check.chain.solid(AbortSignal.timeout(NODE_MS));
  await untilPassed(check, height);
  return height;
}

/** Waits until the own scan has passed a block and written the ends of all own transactions. @throws {ScanBehind} */
export async function untilPassed(
  { sql, chain, pause }: ChainCheck,
  height: number,
): Promise<void> {
  let isPassed = false;
  for (let i = 0; i < POLLS; i++) {
    const cursor = await readCursor(sql, chain.network, "solid");
    isPassed = cursor !== null && cursor.height >= height;
    if (isPassed && !await hasLateOutcome(sql, chain.network, height)) return;
    await pause(PAUSE_MS);
  }
  throw new ScanBehind(
    isPassed
      ? `Cannot compare as another transaction holds rows of transfers that ended up to block ${height}, or a second node has to agree`
      : `Cannot compare as the service's scan has not passed block ${height}`,
  );
}
