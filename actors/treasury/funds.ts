import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import { type Chain, ChainUnavailable, type Checkpoint, NotOurChain } from "../../chains/chain.ts";
import { type Amount, formatAmount, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Currency, OutgoingAsset } from "../../ledger/money/pair.ts";
import { type Commitments, readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";
import type { Fund, TreasuryPolicy } from "./treasury_deps.ts";

/** Balances and reservations of a hot wallet at one moment, without the assets that cannot be read. */
export interface Funds {
  /** The chain's own coin; null: its balance cannot be read. */
  readonly coin: Fund | null;
  readonly funds: ReadonlyMap<Currency, Fund>;
  /** Balance of each asset without what is signed and not final: so much can be signed away. */
  readonly left: ReadonlyMap<OutgoingAsset, Amount>;
}

/** The part of a chain that tells it. */
export type HotWallet = Pick<
  Chain,
  "network" | "hotWallet" | "capabilities" | "balanceOf" | "blocks"
>;

/** The balance of each asset that can be read. */
type Balances = ReadonlyMap<OutgoingAsset, Amount>;

/**
 * Reads what the hot wallet holds and what of it is free. The reservations are read first: what becomes
 * final in between is then counted twice, as gone and as reserved, which errs on the safe side.
 *
 * @throws {NotOurChain} when only nodes answer that may show money that has left
 * @throws {ChainUnavailable} when no balance can be read
 */
export async function readFunds(sql: Sql, wallet: HotWallet): Promise<Funds> {
  const commitments = await readCommitments(sql, wallet.network);
  return fundsOf(commitments, await readBalances(sql, wallet, commitments));
}

/**
 * Balances by which everything has left that the reservations count as ended. One that cannot be read is
 * left out, so that a token whose contract fails keeps no other asset from being known.
 */
async function readBalances(
  sql: Sql,
  wallet: HotWallet,
  { endedHeight }: Commitments,
): Promise<Balances> {
  const { network, hotWallet, capabilities } = wallet;
  const cursor = await readCursor(sql, network, "solid");
  const checkpoint = await solidCheckpoint(wallet, cursor, endedHeight);
  const balances = new Map<OutgoingAsset, Amount>();
  const unread = new Map<OutgoingAsset, ChainUnavailable>();
  for (const asset of [...capabilities.currencies, "native" as const]) {
    try {
      balances.set(asset, await wallet.balanceOf(hotWallet, asset, undefined, checkpoint));
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      unread.set(asset, error);
    }
  }
  const [failure] = unread.values();
  if (balances.size === 0 && failure !== undefined) throw failure;
  for (const [asset, error] of unread) logEvent("wallet.balance_unread", { network, asset, error });
  return balances;
}

function fundsOf({ assets }: Commitments, balances: Balances): Funds {
  let coin: Fund | null = null;
  const funds = new Map<Currency, Fund>();
  const left = new Map<OutgoingAsset, Amount>();
  for (const [asset, balance] of balances) {
    const { queued, signed } = assets.get(asset) ?? { queued: ZERO, signed: ZERO };
    const unsigned = subtract(balance, signed);
    const fund = { balance, free: subtract(unsigned, queued) };
    if (asset === "native") coin = fund;
    else funds.set(asset, fund);
    left.set(asset, unsigned);
  }
  return { coin, funds, left };
}

/**
 * The assets of which more can be signed away than at the poll before.
 *
 * @param before null: there was none, so that all may be
 */
export function grownSince(
  before: Funds["left"] | null,
  { left }: Funds,
): readonly OutgoingAsset[] {
  return [...left].filter(([asset, amount]) => amount > (before?.get(asset) ?? -1n))
    .map(([asset]) => asset);
}

/**
 * True where a wallet waits to be filled, or what it holds is not known. A token that the wallet has
 * none of is no shortage while no payout is queued in it: many wallets hold one of two.
 */
function isShort({ coin, funds }: Pick<Funds, "coin" | "funds">, currencies: number): boolean {
  if (coin === null || funds.size < currencies || coin.free <= ZERO) return true;
  return [...funds.values()].some(({ free, balance }) =>
    free < ZERO || free === ZERO && balance > ZERO
  );
}

/** Balances by solid blocks are believed so much longer while these stand, should the scan stand and not the chain. */
const STANDING_MS = 10 * 60_000;

/** The funds of one hot wallet, with as few questions to the node as that takes. */
export class FundsWatch {
  readonly #sql: Sql;
  readonly #wallet: HotWallet;
  /** Time for which balances are believed while no own transaction ends, milliseconds. */
  readonly #idleMs: number;
  #known: {
    readonly balances: Balances;
    /** See {@linkcode Commitments.endedHeight}. */
    readonly endedHeight: number | null;
    readonly height: number | null;
    readonly at: number;
  } | null = null;

  constructor(sql: Sql, wallet: HotWallet, idleMs: number) {
    this.#sql = sql;
    this.#wallet = wallet;
    this.#idleMs = idleMs;
  }

  /**
   * The funds by now: reservations as of now, and balances that are read again whenever an own
   * transaction has ended. What else changes them comes from outside: it is waited for with every
   * block while something is short, and seen a little later while nothing is. A node is asked for each balance, and for
   * the block that proves it to be of the chain: read again every few seconds, that alone was half of all calls of a day.
   *
   * @param height of the solid cursor: solid balances change with blocks only
   * @throws {ChainUnavailable} when no balance can be read
   */
  async poll(height: number | null): Promise<Funds> {
    const commitments = await readCommitments(this.#sql, this.#wallet.network);
    const { endedHeight } = commitments;
    const known = this.#known;
    const now = performance.now();
    // what was reserved has left with its end: a balance from before it must not be counted then
    if (known !== null && known.endedHeight === endedHeight) {
      const funds = fundsOf(commitments, known.balances);
      const age = now - known.at;
      const stands = height !== null && known.height === height;
      if (isShort(funds, this.#wallet.capabilities.currencies.length)) {
        if (stands && age < this.#idleMs) return funds;
      } else if (age < (stands ? Math.max(STANDING_MS, this.#idleMs) : this.#idleMs)) return funds;
    }
    const balances = await readBalances(this.#sql, this.#wallet, commitments);
    this.#known = { balances, endedHeight, height, at: now };
    return fundsOf(commitments, balances);
  }
}

/** Logs when a hot wallet falls below what it should hold, and when it is well again. */
export class LowFunds {
  readonly #place;
  readonly #low: TreasuryPolicy["low"] | null;
  /** Time for which it has to last, milliseconds: a payout of a moment ago is no shortage. */
  readonly #lastsMs: number;
  /** Since when something is low. */
  readonly #since = new Map<string, number>();
  #reported: ReadonlyMap<string, string> = new Map();

  constructor(network: string, low: TreasuryPolicy["low"] | null, lastsMs: number) {
    this.#place = { network };
    this.#low = low;
    this.#lastsMs = lastsMs;
  }

  /**
   * @param now Unix milliseconds
   * @returns what is low and has been for a while, for people
   */
  poll({ coin, funds }: Pick<Funds, "coin" | "funds">, now: number): readonly string[] {
    const low = this.#low;
    if (low === null) return [];
    const shortages = new Map<string, string>();
    const read = new Set<string>();
    const check = (name: string, held: Amount, least: Amount) => {
      read.add(name);
      if (held >= least) {
        this.#since.delete(name);
        return;
      }
      // a time of a clock that was ahead would put the report off for as long as it was
      const since = Math.min(this.#since.get(name) ?? now, now);
      this.#since.set(name, since);
      if (now - since < this.#lastsMs) return;
      shortages.set(name, `${name}: ${formatAmount(held)} of at least ${formatAmount(least)}`);
    };
    if (coin !== null) check("coin", coin.free, low.native);
    for (const [currency, { free }] of funds) check(currency, free, low[currency]);
    for (const [name, text] of shortages) {
      if (this.#reported.has(name)) continue;
      logEvent("wallet.low", { ...this.#place, text });
    }
    for (const [name, text] of this.#reported) {
      if (shortages.has(name)) continue;
      if (!read.has(name)) {
        shortages.set(name, text);
        continue;
      }
      logEvent("wallet.enough", { ...this.#place, name });
    }
    this.#reported = shortages;
    return [...shortages.values()];
  }
}

/**
 * The block that a node must have before its balances are believed: the last one of the own scan, or
 * that by which the newest own transaction has ended, whichever is later. An end is recorded before
 * the cursor moves past its block, and leaves the reservations at once: a node before that block shows
 * money that is neither there nor reserved any more.
 *
 * @param cursor the solid cursor
 * @param endedHeight as the reservations say that were read before
 * @returns undefined where nothing was read yet: then any node is believed
 * @throws {NotOurChain} when no node of this chain has the block yet
 * @throws {ChainUnavailable} when no node answers
 */
export async function solidCheckpoint(
  chain: Pick<Chain, "network" | "blocks">,
  cursor: Cursor | null,
  endedHeight: number | null,
  signal?: AbortSignal,
): Promise<Checkpoint | undefined> {
  const known = cursor ?? undefined;
  if (endedHeight === null || endedHeight <= (known?.height ?? -1)) return known;
  // its hash is known to nodes alone: to those that have what the scan has read
  for await (const answer of chain.blocks(endedHeight, endedHeight, "solid", signal, known)) {
    if (answer.kind === "block") return answer.block;
  }
  throw new NotOurChain(
    `Cannot believe any node of ${chain.network} as none has solid block ${endedHeight}`,
  );
}
