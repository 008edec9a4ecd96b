import type { Sql } from "../../ledger/database/connect.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { LanePort } from "../../chains/lane.ts";
import { readFirstNonce, storeFirstNonce } from "../../ledger/lanes/first_nonce.ts";
import { type PromisedNonce, readNextNonce } from "../../ledger/lanes/open_nonces.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { hasLateOutcome } from "../../ledger/watcher/late_outcomes.ts";
import { logEvent } from "../../log/log_event.ts";
import { Aside } from "../runtime/aside.ts";
import { payerOf } from "./liquidity.ts";
import type { PartBound } from "./part_bound.ts";

/** Deposit addresses whose nonces are asked for in one poll, all at once: the others follow in the next ones. */
const ASKED_AT_ONCE = 8;
/** The longest that the hot wallet's nonce is waited for, milliseconds. */
const QUESTION_MS = 3_000;

/** The reason for which nothing is signed at first: it is over by itself. */
export const NOT_BEGUN = "the scan has not begun";

/** The reason for which no more nonces are promised where the chain is ahead of the books. */
export const BOOKS_BEHIND = "the chain has used nonces that the books have not promised";

/** A nonce of a payer that a node shows as used, and the solid block by which the scan must have met it. */
interface Ahead {
  readonly nonce: number;
  readonly height: number;
}

/** Reasons for which no lane goes on. */
export interface LaneTroubles {
  /** Reason for which nothing is signed with nonces on the network; null: there is none. */
  readonly stopped: string | null;
  /** The question that has to be answered before the hot wallet's lane can begin, and was not. */
  readonly failure: ChainUnavailable | null;
}

/** Finds out whether the nonces that the books know are those of the chain. */
export class LaneFaults {
  readonly #sql: Sql;
  readonly #chain: Chain;
  readonly #lane: LanePort;
  #ahead = new Map<string, Ahead>();
  /** Reasons by payer, each with the nonce that it is about. */
  #found = new Map<string, { readonly nonce: number; readonly reason: string }>();
  /** Number of the last look at each payer, so that those come next that were not asked for longest. */
  #askedIn = new Map<string, number>();
  #looks = 0;
  /** Lowest open nonces that no block shows, by payer, as they were met last. */
  #unseen: ReadonlyMap<string, PromisedNonce> = new Map();
  /** No turn waits for what nodes say of deposit addresses. */
  readonly #aside = new Aside();

  constructor(sql: Sql, chain: Chain, lane: LanePort) {
    this.#sql = sql;
    this.#chain = chain;
    this.#lane = lane;
  }

  /** True where the books know at which nonce the hot wallet's lane begins; a copy that is restored may not. */
  async isOpen(): Promise<boolean> {
    return await readFirstNonce(this.#sql, this.#chain.network) !== null;
  }

  /** Takes in open nonces by their payers, the lowest first, and forgets what was found of others. */
  meet(lanes: ReadonlyMap<string, readonly PromisedNonce[]>): void {
    const unseen = new Map(
      [...lanes].flatMap(([payer, [lowest]]) =>
        lowest === undefined || lowest.attempts.some(({ isSeen }) => isSeen)
          ? []
          : [[payer, lowest] as const]
      ),
    );
    this.#forget(unseen);
    this.#unseen = unseen;
  }

  /**
   * Looks for a nonce of the hot wallet that a transaction which the books do not know has used. Its lane is opened by it, once,
   * where solid blocks show all that the wallet has sent. A lane is only asked for where no block shows its lowest nonce. What
   * is not answered is asked for again and stops nothing: no nonce is ever promised to two transfers, whichever transaction used it.
   *
   * @param solid the own scan's cursor, read before the nonces that were met last; null: nothing was scanned yet
   */
  async find(solid: Cursor | null, bound: PartBound): Promise<LaneTroubles> {
    let stopped: string | null = null;
    let failure: ChainUnavailable | null = null;
    if (!await this.isOpen()) {
      try {
        stopped = await this.#open(solid, bound.within(QUESTION_MS));
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        stopped = "nodes do not say where the hot wallet's nonces begin";
        failure = error;
      }
    }
    if (solid !== null) await this.#look(["hot"], solid, bound.within(QUESTION_MS));
    return { stopped: stopped ?? this.#found.get("hot")?.reason ?? null, failure };
  }

  /**
   * Looks for such nonces of deposit addresses, a few in each poll, and waits for what nodes say for a moment only: what is found
   * later closes a lane in a later poll.
   *
   * @param solid as of {@linkcode find}
   */
  async findOfAddresses(solid: Cursor | null): Promise<void> {
    if (solid === null) return;
    await this.#aside.run((signal) => this.#look(this.#nextOf(this.#unseen), solid, signal));
  }

  /** The nonce of the hot wallet's next transaction, by the newest block of one node; undefined: none answers. */
  async usedAtHead(bound: PartBound): Promise<number | undefined> {
    const { hotWallet, network } = this.#chain;
    try {
      return await this.#lane.next(hotWallet, "head", bound.within(QUESTION_MS));
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      logEvent("treasury.nonce_unread", { network, count: 1, payer: "hot", error });
      return undefined;
    }
  }

  /**
   * True where a node's newest block has used nonces of the hot wallet above all that these books have ever promised: they have
   * lost some, as those of a machine that was set back have, or the key has another hand.
   *
   * @param promised open nonces of the hot wallet, the lowest first
   */
  async areBooksBehind(promised: readonly PromisedNonce[], usedBelow = 0): Promise<boolean> {
    const last = promised.at(-1);
    // what is above the open ones may have ended before them
    if (last === undefined || usedBelow <= last.nonce + 1) return false;
    return usedBelow > await readNextNonce(this.#sql, this.#chain.network, "hot");
  }

  /** Reasons for which lanes of deposit addresses are closed, by payer; no other lane waits for them. */
  get closed(): ReadonlyMap<string, string> {
    const found = [...this.#found].filter(([payer]) => payer !== "hot");
    return new Map(found.map(([payer, { reason }]) => [payer, reason]));
  }

  /** Finds out where the hot wallet's lane begins. @returns why it cannot begin yet */
  async #open(solid: Cursor | null, signal: AbortSignal): Promise<string | null> {
    const { hotWallet, network } = this.#chain;
    if (solid === null) return NOT_BEGUN;
    const head = await this.#lane.next(hotWallet, "head", signal);
    const first = await this.#lane.next(hotWallet, "solid", signal, solid);
    if (head !== first) return "the hot wallet has transactions that are not final yet";
    await storeFirstNonce(this.#sql, network, first);
    return null;
  }

  /** Deposit addresses that are looked at in this poll. */
  #nextOf(unseen: ReadonlyMap<string, PromisedNonce>): readonly string[] {
    const askedIn = (payer: string) => this.#askedIn.get(payer) ?? 0;
    return [...unseen]
      // one that may still be on its way says nothing
      .filter(([payer, { ageMs }]) => payer !== "hot" && ageMs >= this.#lane.bumpAfterMs)
      .map(([payer]) => payer)
      .filter((payer) => !this.#found.has(payer))
      .sort((a, b) => askedIn(a) - askedIn(b)).slice(0, ASKED_AT_ONCE);
  }

  /** Looks at lanes at once, each apart from the others. */
  async #look(payers: readonly string[], solid: Cursor, signal: AbortSignal): Promise<void> {
    const unseen = this.#unseen;
    const unread: { payer: string; error: ChainUnavailable }[] = [];
    this.#looks++;
    await Promise.all(payers.map(async (payer) => {
      const lowest = unseen.get(payer);
      if (lowest === undefined || this.#found.has(payer) || signal.aborted) return;
      this.#askedIn.set(payer, this.#looks);
      try {
        await this.#foreignHand(payer, lowest, solid, signal);
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        unread.push({ payer, error });
      }
    }));
    const [first] = unread;
    if (first === undefined) return;
    const { network } = this.#chain;
    logEvent("treasury.nonce_unread", { network, count: unread.length, ...first });
  }

  /**
   * Finds a nonce that solid blocks show as used and that the scan, which has passed them, has not met: the key has
   * another hand.
   */
  async #foreignHand(
    payer: string,
    { nonce, ageMs }: PromisedNonce,
    solid: Cursor,
    signal: AbortSignal,
  ): Promise<void> {
    const { network } = this.#chain;
    const wallet = payerOf(this.#chain, payer);
    const mark = this.#ahead.get(payer);
    if (mark !== undefined) {
      if (solid.height < mark.height) return;
      if (await hasLateOutcome(this.#sql, network, mark.height)) return;
      // by a node that has the scan's own block: one that lied, or is of another branch, stops nothing
      if (await this.#lane.next(wallet, "solid", signal, solid) <= nonce) {
        this.#ahead.delete(payer);
        return;
      }
      const reason =
        `nonce ${nonce} of ${wallet} was used by a transaction that the scan has not met`;
      this.#found.set(payer, { nonce, reason });
      return;
    }
    if (ageMs < this.#lane.bumpAfterMs) return;
    if (await this.#lane.next(wallet, "solid", signal) <= nonce) return;
    // read after it: by this block the nonce is used
    const { height } = await this.#chain.solid(signal);
    this.#ahead.set(payer, { nonce, height });
  }

  /** Forgets what was found of nonces that are used or seen by now. */
  #forget(unseen: ReadonlyMap<string, PromisedNonce>): void {
    const isOf = <One extends { readonly nonce: number }>(
      [payer, { nonce }]: readonly [string, One],
    ) => unseen.get(payer)?.nonce === nonce;
    this.#ahead = new Map([...this.#ahead].filter(isOf));
    this.#found = new Map([...this.#found].filter(isOf));
    this.#askedIn = new Map([...this.#askedIn].filter(([payer]) => unseen.has(payer)));
  }
}
