import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import type { Network } from "../../ledger/money/pair.ts";
import {
  expireAttempts,
  type SecondProof,
  type Testimony,
} from "../../ledger/treasury/expire_attempts.ts";
import {
  readExpiredAttempts,
  readUnscanned,
  recordExpiryDoubts,
} from "../../ledger/treasury/expired_attempts.ts";
import { type Cursor, readUnbrokenScan } from "../../ledger/watcher/cursor.ts";
import { SecondOpinion, type SecondOpinionPolicy } from "./second_opinion.ts";

/** Transactions that second nodes are asked about in one turn. */
const ASKED_AT_ONCE = 200;

export interface ExpiryProofOptions {
  readonly sql: Sql;
  readonly network: Network;
  /** After so many dead attempts a transfer is given up. */
  readonly attemptLimit: number;
  /** Null: the own scan decides alone. */
  readonly second: SecondOpinionPolicy | null;
  /** Time for which second nodes are left alone about transactions they have not agreed on. */
  readonly askAgainMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Declares transactions of one network dead when that is proven, and logs it. */
export class ExpiryProofs {
  readonly #options: ExpiryProofOptions;
  readonly #opinion: SecondOpinion | null;
  /** Milliseconds of the monotonic clock. */
  #askAgainAt = -Infinity;
  #withoutExpiryProof = 0;

  constructor(options: ExpiryProofOptions) {
    const { second, now } = options;
    this.#options = options;
    this.#opinion = second === null ? null : new SecondOpinion(second.nodes, now);
  }

  /** Expired transactions that second nodes have not agreed on, as of the last poll. */
  get withoutExpiryProof(): number {
    return this.#withoutExpiryProof;
  }

  /**
   * @param solid the solid cursor, read just now
   * @returns merchants whose payouts were given up
   */
  async poll(solid: Cursor): Promise<ReadonlySet<string>> {
    const { sql, network, attemptLimit } = this.#options;
    const scannedFrom = await this.#scannedFrom(solid);
    const second = await this.#secondProof(solid);
    const proof = { second, scannedFrom };
    const { requeued, abandoned } = await expireAttempts(sql, network, solid, attemptLimit, proof);
    for (const outgoingId of requeued) {
      logEvent("transfer.expired", {
        network,
        outgoingId,
      });
    }
    for (const { outgoingId } of abandoned) {
      logEvent("transfer.dead", {
        network,
        outgoingId,
      });
    }
    return new Set(abandoned.map(({ merchantId }) => merchantId));
  }

  /** First block of the unbroken scan up to the cursor; what a gap keeps from being proven is logged. */
  async #scannedFrom(solid: Cursor): Promise<number> {
    const { sql, network } = this.#options;
    const { from: scannedFrom, hasGap } = await readUnbrokenScan(sql, network, solid.height);
    if (!hasGap && scannedFrom <= solid.height) return scannedFrom;
    const reason = `expired, and not dead yet: blocks before ${scannedFrom} were not all read`;
    const ids = await readUnscanned(sql, network, solid.previousTick, scannedFrom, ASKED_AT_ONCE);
    const told = await recordExpiryDoubts(sql, new Map(ids.map((id) => [id, reason])));
    for (const outgoingId of told) {
      logEvent("transfer.unproven", { network, outgoingId, reason });
    }
    return scannedFrom;
  }

  async #secondProof(solid: Cursor): Promise<SecondProof | null> {
    const { sql, network, second, askAgainMs } = this.#options;
    if (second === null || this.#opinion === null) return null;
    const { above } = second;
    const testimonies = new Map<string, Testimony>();
    if (performance.now() < this.#askAgainAt) return { above, testimonies };
    const expired = await readExpiredAttempts(
      sql,
      network,
      solid.previousTick,
      above,
      ASKED_AT_ONCE,
    );
    this.#withoutExpiryProof = 0;
    if (expired.length === 0) return { above, testimonies };
    const opinions = await this.#opinion.ask(expired, solid);
    const reasons = new Map<string, string>();
    const alarming = new Set<string>();
    for (const { outgoingId, txid } of expired) {
      const opinion = opinions.get(txid);
      if (opinion?.kind === "agreed") {
        testimonies.set(txid, opinion.testimony);
      } else if (opinion !== undefined) {
        reasons.set(outgoingId, `expired, and not dead yet: ${opinion.reason}`);
        if (opinion.alarming) alarming.add(outgoingId);
      }
    }
    this.#withoutExpiryProof = reasons.size;
    if (reasons.size > 0) this.#askAgainAt = performance.now() + askAgainMs;
    for (const outgoingId of await recordExpiryDoubts(sql, reasons)) {
      logEvent(alarming.has(outgoingId) ? "transfer.disputed" : "transfer.unproven", {
        network,
        outgoingId,
        reason: reasons.get(outgoingId),
      });
    }
    return { above, testimonies };
  }
}
