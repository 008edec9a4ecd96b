import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import type { LaneMemory } from "./lane_memory.ts";
import type { PartBound } from "./part_bound.ts";

/** Time by which the scan's blocks have to be later than a word that they prove wrong, milliseconds. */
const MARGIN_MS = 2 * 60_000;
/** The longest that a word is believed, however far the scan is behind, milliseconds. */
const LONGEST_MS = 6 * 60 * 60_000;
/** Time for which no node is believed once one was wrong, milliseconds. */
const DOUBT_MS = 60 * 60_000;

/** Dependencies of {@linkcode UsedAtHead}. */
export interface UsedAtHeadDeps {
  /** Time for which a transaction is left alone before it is sent again, and a node's word counts, milliseconds. */
  readonly resendMs: number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: () => number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** False while the newest blocks of the network are not read; default: they are. */
  readonly isHeadRead?: () => boolean;
  /** True while they are left out on purpose, so that nothing marks what they hold; default: they are not. */
  readonly isHeadLeftOut?: () => boolean;
}

/** Asks for the nonce of the wallet's next transaction, by the newest block of one node; undefined: none answers. */
type Ask = (bound: PartBound) => Promise<number | undefined>;

/** Nonces that a node's newest block has used. */
export interface HeadWord {
  /** All below it; absent: none was asked, or none answers. */
  readonly usedBelow?: number | undefined;
  /** The same, as far as it is believed. */
  readonly believedBelow: number;
}

/**
 * Asks nodes which of the hot wallet's nonces their newest block has used. It does so where the scan's own marks leave no room, as
 * while it catches up, when payouts would wait for it although those before them are in blocks; and where no view
 * of newest blocks marks what they hold, before anything is replaced or sent again, as what is believed to be in a block is neither.
 * No word ends anything: only the own scan does.
 *
 * A node that lies or errs would keep what is stuck from being replaced. So its word for a nonce is believed until the scan has read
 * blocks of two minutes after it, and six hours at most: a nonce that is open then was used by none of them. From then on no word is
 * believed for an hour, and what is stuck is replaced as if none had been asked.
 */
export class UsedAtHead {
  readonly #memory: Pick<LaneMemory, "isDue">;
  readonly #mostUnseen: number;
  readonly #deps: UsedAtHeadDeps;
  readonly #ask: Ask;
  /** The first time that each open nonce was said to be used, by both clocks. */
  #since = new Map<number, { readonly at: number; readonly time: number }>();
  #said: number | undefined;
  #asksAt = -Infinity;
  #doubtedUntil = -Infinity;

  /** @param mostUnseen so many nonces may be unseen at once */
  constructor(
    memory: Pick<LaneMemory, "isDue">,
    mostUnseen: number,
    deps: UsedAtHeadDeps,
    ask: Ask,
  ) {
    this.#memory = memory;
    this.#mostUnseen = mostUnseen;
    this.#deps = deps;
    this.#ask = ask;
  }

  /**
   * Asks where it matters.
   *
   * @param promised open nonces of the hot wallet
   * @param solid the own scan's cursor; null: nothing was scanned yet
   */
  async look(
    promised: readonly PromisedNonce[],
    solid: Cursor | null,
    bound: PartBound,
  ): Promise<HeadWord> {
    const { resendMs, monotonic, isHeadRead = () => true, isHeadLeftOut = () => false } =
      this.#deps;
    const unseen = promised.filter(({ attempts }) => !attempts.some(({ isSeen }) => isSeen));
    const isDark = !isHeadRead() || isHeadLeftOut();
    const isDue = isDark &&
      unseen.some(({ attempts }) => attempts.some(({ txid }) => this.#memory.isDue(txid)));
    if (!isDue && unseen.length < this.#mostUnseen) return { believedBelow: 0 };
    const now = monotonic();
    if (now >= this.#asksAt) {
      this.#asksAt = now + resendMs;
      this.#said = await this.#ask(bound);
    }
    return { usedBelow: this.#said, believedBelow: isDark ? this.#believe(unseen, solid) : 0 };
  }

  #believe(unseen: readonly PromisedNonce[], solid: Cursor | null): number {
    const said = this.#said;
    const at = this.#deps.monotonic();
    const first = { at, time: this.#deps.now() };
    // silence neither confirms nor takes back what was said before
    const used = unseen.map(({ nonce }) => nonce)
      .filter((nonce) => said === undefined ? this.#since.has(nonce) : nonce < said);
    this.#since = new Map(used.map((nonce) => [nonce, this.#since.get(nonce) ?? first]));
    if (at < this.#doubtedUntil) return 0;
    const isWrong = [...this.#since.values()].some((word) =>
      (solid !== null && solid.time > word.time + MARGIN_MS) || at > word.at + LONGEST_MS
    );
    if (!isWrong) return said ?? Math.max(-1, ...this.#since.keys()) + 1;
    this.#doubtedUntil = at + DOUBT_MS;
    return 0;
  }
}
