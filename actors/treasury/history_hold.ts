/**
 * The treasury's work while the database has another history than before: nothing is signed (that is
 * in the statements), signatures that the signer still holds become attempts of their transfers again,
 * which are looked for in blocks and never sent, and once the own scan has passed all that could have
 * been signed before, the hold ends by itself.
 *
 * On networks with nonces a signed transaction never expires, so waiting alone proves nothing. Each transfer that the signer
 * has signed is therefore promised its nonce again, together with all that was signed with it. The hold ends only when this
 * was done for every waiting transfer, and the scan has passed its blocks.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { LARGEST_BATCH, type Signer, SignerUnavailable } from "../../chains/signer.ts";
import {
  endComparison,
  endFinishedHolds,
  type OpenHold,
  type QueuedId,
  readOpenHolds,
  readPassedHolds,
  readQueuedIds,
  setHoldBound,
} from "../../ledger/failover/holds.ts";
import { isToBlame } from "../../ledger/database/database_errors.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { adoptSigned, type SignedRow } from "../../ledger/treasury/signing.ts";
import { hasLateOutcome } from "../../ledger/watcher/late_outcomes.ts";
import { newId } from "../runtime/ids.ts";
import { restoreLanes, type RestorePass } from "./restore_lanes.ts";
import { byTransaction, faultOf, rowsOf, termsOf } from "./signed_rows.ts";

/** Milliseconds between two questions to the signer for earlier signatures, while a hold is open. */
const ADOPT_MS = 2_000;
/**
 * Milliseconds for which a hold goes on at least where wallets number their transactions, from when this process has met
 * it: the signers of all nodes that run have told what they gave by then. Which signers there are is written nowhere, so one
 * whose node is away all the time is not waited for: of a payout that only it has signed the transaction may still be in a
 * pool of the chain, and another one with the next nonce pays it again. Where nodes have signers of their own, the operator
 * gives them more time.
 */
const TELLING_MS = 60_000;
/** Milliseconds between two lines of the log which say that a clock or a node is wrong. */
const DOUBT_MS = 30_000;

/** Dependencies of a hold. */
export interface HistoryHoldDeps {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly signer: Signer;
  /** Milliseconds of a clock that is never set; default `performance.now`. */
  readonly monotonic?: () => number;
  /** Time for which a hold goes on at least where wallets number their transactions, milliseconds; default a minute. */
  readonly tellingMs?: number | undefined;
}

/** The holds of one network. */
export class HistoryHold {
  readonly #deps: HistoryHoldDeps;
  readonly #monotonic: () => number;
  readonly #tellingMs: number;
  #adoptedAt = -Infinity;
  #doubtedAt = -Infinity;
  /** Holds since whose beginning the signer has told all nonces that it gave, and they are promised again. */
  #restored: ReadonlySet<string> = new Set();
  /** Times at which this process has met the holds that are open, by its own clock. */
  #metAt: ReadonlyMap<string, number> = new Map();
  /** Last time that a nonce was promised without the transactions that another node's signer has. */
  #bareAt = -Infinity;

  constructor(deps: HistoryHoldDeps) {
    this.#deps = deps;
    this.#monotonic = deps.monotonic ?? (() => performance.now());
    this.#tellingMs = deps.tellingMs ?? TELLING_MS;
  }

  /**
   * One poll; where nothing is held it costs two short queries.
   *
   * @throws when the database does not answer
   */
  async poll(): Promise<void> {
    const { sql, chain: { network } } = this.#deps;
    const holds = await readOpenHolds(sql, network);
    if (holds.length === 0) return await this.#end();
    const isUnreached = holds.some(({ untilTime }) => untilTime === null);
    if (isUnreached) await this.#reach();
    if (this.#deps.chain.capabilities.life.kind === "nonce") return await this.#pollLanes(holds);
    try {
      await this.#adopt();
    } finally {
      // the comparison rests on the own scan alone, whatever the signer remembers
      await this.#compare(holds.map(({ failoverId }) => failoverId));
    }
  }

  /**
   * The signer is asked at once, so that its nonces are promised again soon, and once more when the scan has passed what a
   * hold waits for: what the blocks since have ended may be queued again by then, with a nonce that only the signer knows.
   */
  async #pollLanes(holds: readonly OpenHold[]): Promise<void> {
    const now = this.#monotonic();
    this.#metAt = new Map(
      holds.map(({ failoverId }) => [failoverId, this.#metAt.get(failoverId) ?? now]),
    );
    const areTold = [...this.#metAt.values()].every((metAt) => now - metAt >= this.#tellingMs);
    const passed = areTold ? await this.#readPassed(holds) : [];
    const isKnown = holds.every(({ failoverId }) => this.#restored.has(failoverId));
    if (isKnown && passed.length === 0) return await this.#end();
    // nonces that no signer has told of by now are taken out of use
    const { isWhole, isBare } = await this.#restore(passed.length > 0);
    if (isBare) this.#bareAt = now;
    if (!isWhole) return;
    this.#restored = new Set(holds.map(({ failoverId }) => failoverId));
    // what another node's signer has signed is looked for in blocks once that node has added it
    if (now - this.#bareAt >= TELLING_MS) await this.#compare(passed);
  }

  /** Those of the holds whose blocks are read, with the ends of all transactions that were met in them. */
  async #readPassed(holds: readonly OpenHold[]): Promise<readonly string[]> {
    const { sql, chain: { network } } = this.#deps;
    const passed = new Set(await readPassedHolds(sql, network));
    const own = holds.flatMap(({ failoverId, headHeight }) =>
      passed.has(failoverId) && headHeight !== null ? [{ failoverId, headHeight }] : []
    );
    const highest = Math.max(...own.map(({ headHeight }) => headHeight));
    if (own.length === 0 || await hasLateOutcome(sql, network, highest)) return [];
    return own.map(({ failoverId }) => failoverId);
  }

  /** Records how far the chain is, after the change was found: what was signed before dies some time later. */
  async #reach(): Promise<void> {
    const { sql, chain } = this.#deps;
    const { network, capabilities } = chain;
    try {
      const head = await chain.head();
      const { life, blockMs } = capabilities;
      // what a nonce ends is in a block already, or waits for one whatever time passes
      const { ticks: lifeTicks, ms: lifetimeMs } = life.kind === "expires"
        ? life
        : { ticks: 0, ms: 0 };
      const reached = { ...head, lifeTicks, lifetimeMs, blockMs };
      for (const { failoverId, untilTime } of await readOpenHolds(sql, network)) {
        if (untilTime !== null || await setHoldBound(sql, failoverId, network, reached)) continue;
        if (this.#monotonic() - this.#doubtedAt < DOUBT_MS) continue;
        this.#doubtedAt = this.#monotonic();
        logEvent("failover.hold_clock", {
          network,
          failoverId,
          height: head.height,
          time: head.time,
        });
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      logEvent("failover.hold_waits", { network, error });
    }
  }

  /** Promises nonces again that signers gave. */
  async #restore(fillsGaps: boolean): Promise<RestorePass> {
    const { sql, chain, signer } = this.#deps;
    const { network } = chain;
    const nothing = { isWhole: false, isBare: false };
    if (!this.#isDue()) return nothing;
    try {
      return await restoreLanes({ sql, chain, signer, fillsGaps });
    } catch (error) {
      if (!(error instanceof ChainUnavailable || error instanceof SignerUnavailable)) throw error;
      logEvent("failover.signed_unread", { network, error });
      return nothing;
    }
  }

  /** True where the signer may be asked again; it is taken as asked then. */
  #isDue(): boolean {
    if (this.#monotonic() - this.#adoptedAt < ADOPT_MS) return false;
    this.#adoptedAt = this.#monotonic();
    return true;
  }

  /** Commits what the signer has signed of queued transfers, so that the scan knows it; none is sent. */
  async #adopt(): Promise<void> {
    const { sql, chain, signer } = this.#deps;
    const { network } = chain;
    if (signer.live === undefined || !this.#isDue()) return;
    try {
      const near = (await chain.solid()).height;
      // of a transaction of several the last one's page has all of them
      const byId = new Map<string, QueuedId>();
      for (let after = "";;) {
        const queued = await readQueuedIds(sql, network, after, LARGEST_BATCH);
        const last = queued.at(-1);
        if (last === undefined) return;
        after = last.id;
        for (const row of queued) byId.set(row.id, row);
        const txids = new Set<string>();
        const rows = (await signer.live(queued.map(({ id }) => id))).flatMap(
          ({ outgoingIds, signed }): SignedRow[] => {
            const own = outgoingIds.flatMap((id) => byId.get(id) ?? []);
            if (own.length < outgoingIds.length) return [];
            const terms = termsOf(chain, signed.bytes, near);
            const fault = terms === null
              ? "no terms can be read"
              : faultOf(chain, signed, terms, txids);
            if (terms === null || fault !== null) {
              for (const { id } of own) this.#logOdd(id, fault);
              return [];
            }
            txids.add(signed.txid);
            // what pays from its own address takes nothing of the hot wallet
            const feeLimit = own.every(({ isHot }) => isHot) ? terms.feeLimit : ZERO;
            return [...rowsOf(network, signed, terms, own, feeLimit)];
          },
        );
        const adopted = await this.#adoptApart(rows);
        for (const outgoingId of adopted) {
          logEvent("failover.signed_before", { network, outgoingId });
        }
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailable || error instanceof SignerUnavailable)) throw error;
      logEvent("failover.signed_unread", { network, error });
    }
  }

  /** Adopts signatures; where the database refuses them for what is in one, each transaction by itself. */
  async #adoptApart(rows: readonly SignedRow[]): Promise<ReadonlySet<string>> {
    const { sql, chain: { network } } = this.#deps;
    try {
      return await adoptSigned(sql, network, rows);
    } catch (error) {
      if (!isToBlame(error)) throw error;
      if (byTransaction(rows).length === 1) {
        for (const { outgoingId } of rows) this.#logOdd(outgoingId, error);
        return new Set();
      }
    }
    const adopted = new Set<string>();
    for (const shared of byTransaction(rows)) {
      for (const id of await this.#adoptApart(shared)) adopted.add(id);
    }
    return adopted;
  }

  #logOdd(outgoingId: string, reason: unknown): void {
    logEvent("failover.not_adopted", {
      network: this.#deps.chain.network,
      outgoingId,
      reason,
    });
  }

  async #compare(holds: readonly string[]): Promise<void> {
    const { sql, chain: { network } } = this.#deps;
    for (const failoverId of await endComparison(sql, network, holds)) {
      logEvent("failover.compared", { network, failoverId });
    }
    await this.#end();
  }

  async #end(): Promise<void> {
    for (const failoverId of await endFinishedHolds(this.#deps.sql, () => newId("aud"))) {
      logEvent("failover.hold_over", { failoverId });
    }
  }
}
