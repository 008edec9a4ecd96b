/**
 * Watches which history the database continues. Another one, after a promotion or a restore, has
 * been found by the statements that sign and number addresses already; here a hold is opened for it,
 * what was read before is forgotten, jumped addresses are watched, and what was acknowledged and is
 * gone is written down.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import { watchGap } from "../../ledger/addresses/recover_addresses.ts";
import { readNextIndexes } from "../../ledger/addresses/watched_addresses.ts";
import {
  ADDRESS_GAP,
  compareHistory,
  findLostCommits,
  readUnwatchedGaps,
  recordLostCommits,
  setGapWatched,
  skipIndexesTo,
} from "../../ledger/failover/history.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { newId } from "../runtime/ids.ts";
import type { AcknowledgedCommits } from "./acknowledged_commits.ts";

/** Lost records that are in the log; all of them are on the list. */
const MOST_TOLD = 100;

/** Dependencies of the watch. */
export interface HistoryWatchDeps {
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, Pick<Chain, "deriveAddress">>;
  readonly acknowledged: AcknowledgedCommits;
  /** The highest derivation indexes that are known to be taken. */
  readonly highestIndexes: () => ReadonlyMap<Network, number>;
  /** Forgets everything that was read from the database. */
  readonly dropCaches: () => void;
  /** Indexes that are jumped over; default 1,000. */
  readonly gap?: number;
}

/** The history that this process has seen. */
export class HistoryWatch {
  readonly #deps: HistoryWatchDeps;
  #known: string | null = null;
  #newest: string | null | undefined;
  /** Work that a change has left, until all of it is done. */
  #isDue = true;
  #isTold = true;
  /** One look after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(deps: HistoryWatchDeps) {
    this.#deps = deps;
  }

  /** True while the server tells its history; where it does not, an operator has to declare a change. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /**
   * One look; what a change asks for is done before this returns, or by the next poll.
   *
   * @throws when the database does not answer
   */
  poll(): Promise<void> {
    const poll = this.#last.catch(() => {}).then(() => this.#poll());
    this.#last = poll;
    return poll;
  }

  async #poll(): Promise<void> {
    const { sql, gap = ADDRESS_GAP, dropCaches } = this.#deps;
    const { history, opened, isTold, newest } = await compareHistory(sql, newId("fov"), gap);
    if (isTold !== this.#isTold) {
      logEvent("failover.history_told", { told: isTold });
    }
    this.#isTold = isTold;
    const isOther = this.#known !== null && isTold && history !== this.#known;
    const isDeclared = this.#newest !== undefined && newest !== this.#newest;
    this.#newest = newest;
    if (isOther || opened || isDeclared) {
      dropCaches();
      this.#isDue = true;
      logEvent("failover.history_changed", {
        newest,
        before: this.#known ?? "of an earlier life",
        history,
      });
    }
    if (isTold) this.#known = history;
    if (this.#isDue) await this.#settle();
    // what is old by now is in every standby that may be promoted later
    this.#deps.acknowledged.forgetOld();
  }

  /** Does again what a change asks for, until it is done once. */
  async #settle(): Promise<void> {
    for (const [network, index] of this.#deps.highestIndexes()) await this.#skipTo(network, index);
    await this.#logLost();
    await this.watchGaps();
    this.#isDue = false;
  }

  /** Jumps over indexes above the gap of a hold that are known to be taken, up to one. */
  async #skipTo(network: Network, index: number): Promise<void> {
    const { sql, chains } = this.#deps;
    const chain = chains.get(network);
    const first = (await readNextIndexes(sql)).get(network);
    if (chain === undefined || first === undefined || first > index) return;
    const derive = (one: number) => chain.deriveAddress(one);
    // before the jump: an index whose address is watched as lost is handed out by no node
    const lost = await watchGap(sql, network, { first, last: index }, derive, () => newId("adr"));
    await skipIndexesTo(sql, network, index);
    logEvent("failover.addresses_watched", { network, lost });
  }

  /** Watches addresses that were jumped over, of the networks that are served here. */
  async watchGaps(): Promise<void> {
    const { sql, chains } = this.#deps;
    for (const gap of await readUnwatchedGaps(sql)) {
      const chain = chains.get(gap.network);
      if (chain === undefined) continue;
      const derive = (index: number) => chain.deriveAddress(index);
      const lost = await watchGap(sql, gap.network, gap, derive, () => newId("adr"));
      await setGapWatched(sql, gap);
      logEvent("failover.addresses_watched", {
        network: gap.network,
        lost,
      });
    }
  }

  async #logLost(): Promise<void> {
    const { sql, acknowledged } = this.#deps;
    const all = acknowledged.all;
    const absent = await findLostCommits(sql, all.map(({ commitId }) => commitId));
    if (absent.size === 0) return;
    const lost = await recordLostCommits(sql, all.filter(({ commitId }) => absent.has(commitId)));
    if (lost.length === 0) return;
    logEvent("failover.records_lost", { count: lost.length });
    for (const { failoverId: _, acknowledgedAt, amount, ...record } of lost.slice(0, MOST_TOLD)) {
      logEvent("failover.record_lost", {
        ...record,
        amount: amount === null ? "" : formatAmount(amount),
        acknowledgedAt: new Date(acknowledgedAt).toISOString(),
      });
    }
  }
}
