import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { BlockAnswer, Finality } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  dropOneUnread,
  dropUnread,
  LONGEST_PAUSE_MS,
  storeUnreadable,
} from "../../ledger/watcher/unreadable_blocks.ts";
import { type ScanMemory, waitingFrom } from "./scan_memory.ts";

const log = getLogger(["engine", "watcher"]);

/** Pause before a block is asked for again; doubled with each try. Receipts are often a second late. */
const FIRST_PAUSE_MS = 250;
/** Tries after which it is no longer a matter of a moment. */
export const ALARM_TRIES = 10;

/** Time for which a block is left alone that could not be read so many times before, milliseconds. */
export function pauseAfter(tries: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries, 20), LONGEST_PAUSE_MS);
}

/** A block that was asked for and is not whole. */
export type NotWhole = Exclude<BlockAnswer, { readonly kind: "block" }>;

/** Puts a block on the list of those that are asked for again, or moves it back there. */
export async function retryLater(
  sql: Sql,
  network: Network,
  view: Finality,
  answer: NotWhole,
  memory: ScanMemory,
): Promise<number> {
  const { height } = answer;
  const known = memory.unreadAt(view, height);
  const pause = pauseAfter(known?.tries ?? 0);
  const reason = answer.kind === "incomplete" ? answer.reason : "no node has it";
  const block = await storeUnreadable(sql, { network, view, height, reason }, pause);
  const waiting = waitingFrom(block, memory.monotonic());
  memory.unread = [...memory.unread.filter((other) => other !== known), waiting];
  const told = { network, view, height, reason, tries: block.tries, pause };
  if (block.tries === 1) {
    log.info(
      "{network} {view} block {height} is not readable yet ({reason}), waiting for it",
      told,
    );
  } else if (block.tries === ALARM_TRIES) {
    log.error(
      "{network} {view} block {height} cannot be read ({reason}), after {tries} tries",
      told,
    );
  }
  return block.tries;
}

/** Takes the blocks of a view off the list that are behind by now. */
export async function forgetUnread(
  sql: Sql,
  network: Network,
  view: Finality,
  upTo: number,
  memory: ScanMemory,
): Promise<void> {
  if (!memory.unread.some((block) => block.view === view && block.height <= upTo)) return;
  await dropUnread(sql, network, view, upTo);
  memory.unread = memory.unread.filter((block) => block.view !== view || block.height > upTo);
}

/** Takes one block off the list: it was read. */
export async function readAtLast(
  sql: Sql,
  network: Network,
  view: Finality,
  height: number,
  memory: ScanMemory,
): Promise<void> {
  if (memory.unreadAt(view, height) === undefined) return;
  await dropOneUnread(sql, network, view, height);
  memory.unread = memory.unread.filter((block) => block.view !== view || block.height !== height);
}
