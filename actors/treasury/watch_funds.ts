import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import { type Amount, formatAmount, subtract, ZERO } from "../../ledger/amount.ts";
import type { Currency, OutgoingAsset } from "../../ledger/pair.ts";
import { type Commitments, readCommitments } from "../../ledger/treasury/read_commitments.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { solidLandmark } from "./solid_landmark.ts";
import type { TreasuryPolicy } from "./treasury_policy.ts";
import type { Fund } from "./treasury_status.ts";

const log = getLogger(["engine", "treasury"]);

/** What a hot wallet holds and has promised, at one moment. */
export interface Funds {
  /** The chain's own coin. */
  readonly coin: Fund;
  readonly funds: ReadonlyMap<Currency, Fund>;
}

/** What is read of a chain for it. */
export type HotWallet = Pick<
  Chain,
  "network" | "hotWallet" | "capabilities" | "balanceOf" | "blocks"
>;

interface Balances {
  readonly coin: Amount;
  readonly tokens: ReadonlyMap<Currency, Amount>;
}

/**
 * Reads what the hot wallet holds and what of it is free. The promises are read first: what becomes
 * final in between is then counted twice, as gone and as promised, which errs on the safe side.
 *
 * @throws {NotOurChain} when only nodes answer that may show money that has left
 * @throws {ChainUnavailable} when a balance cannot be read
 */
export async function readFunds(sql: Sql, wallet: HotWallet): Promise<Funds> {
  const commitments = await readCommitments(sql, wallet.network);
  return fundsOf(commitments, await readBalances(sql, wallet, commitments));
}

/** Balances by which everything has left that the promises count as ended. */
async function readBalances(
  sql: Sql,
  wallet: HotWallet,
  { endedHeight }: Commitments,
): Promise<Balances> {
  const { network, hotWallet, capabilities } = wallet;
  const cursor = await readCursor(sql, network, "solid");
  const landmark = await solidLandmark(wallet, cursor, endedHeight);
  const held = (asset: OutgoingAsset) => wallet.balanceOf(hotWallet, asset, undefined, landmark);
  const tokens = new Map<Currency, Amount>();
  for (const currency of capabilities.currencies) {
    tokens.set(currency, await held(currency));
  }
  return { coin: await held("native"), tokens };
}

function fundsOf({ assets }: Commitments, { coin, tokens }: Balances): Funds {
  const fundOf = (asset: OutgoingAsset, balance: Amount): Fund => {
    const { queued, signed } = assets.get(asset) ?? { queued: ZERO, signed: ZERO };
    return { balance, free: subtract(subtract(balance, queued), signed) };
  };
  const funds = new Map<Currency, Fund>();
  for (const [currency, balance] of tokens) funds.set(currency, fundOf(currency, balance));
  return { coin: fundOf("native", coin), funds };
}

/** Whether a wallet waits to be filled. */
function isShort({ coin, funds }: Funds): boolean {
  return [coin, ...funds.values()].some(({ free }) => free <= ZERO);
}

/** The funds of one hot wallet, with as few questions to the node as that takes. */
export class FundsWatch {
  readonly #sql: Sql;
  readonly #wallet: HotWallet;
  /** How long balances are believed while nothing of ours ends, milliseconds. */
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
   * The funds by now: promises as of now, and balances that are read again whenever one of our
   * transactions has ended. What else changes them comes from outside: it is waited for with every
   * block while something is short, and seen a little later while nothing is.
   *
   * @param height of the solid cursor: solid balances change with blocks only
   * @throws {ChainUnavailable} when a balance cannot be read
   */
  async look(height: number | null): Promise<Funds> {
    const commitments = await readCommitments(this.#sql, this.#wallet.network);
    const { endedHeight } = commitments;
    const known = this.#known;
    const now = performance.now();
    // what was promised has left with its end: a balance from before it must not be counted then
    if (known !== null && known.endedHeight === endedHeight && now - known.at < this.#idleMs) {
      const funds = fundsOf(commitments, known.balances);
      if (!isShort(funds) || (height !== null && known.height === height)) return funds;
    }
    const balances = await readBalances(this.#sql, this.#wallet, commitments);
    this.#known = { balances, endedHeight, height, at: now };
    return fundsOf(commitments, balances);
  }
}

/** Says when a hot wallet falls below what it should hold, and when it is well again. */
export class LowFunds {
  readonly #network: string;
  readonly #low: TreasuryPolicy["low"] | null;
  /** How long it has to last, milliseconds: a payout of a moment ago is no shortage. */
  readonly #patienceMs: number;
  /** Since when something is low. */
  readonly #since = new Map<string, number>();
  #told: ReadonlySet<string> = new Set();

  constructor(network: string, low: TreasuryPolicy["low"] | null, patienceMs: number) {
    this.#network = network;
    this.#low = low;
    this.#patienceMs = patienceMs;
  }

  /**
   * @param now Unix milliseconds
   * @returns what is low and has been for a while, for people
   */
  look({ coin, funds }: Funds, now: number): readonly string[] {
    const low = this.#low;
    if (low === null) return [];
    const shortages = new Map<string, string>();
    const check = (name: string, held: Amount, least: Amount) => {
      if (held >= least) {
        this.#since.delete(name);
        return;
      }
      const since = this.#since.get(name) ?? now;
      this.#since.set(name, since);
      if (now - since < this.#patienceMs) return;
      shortages.set(name, `${name}: ${formatAmount(held)} of at least ${formatAmount(least)}`);
    };
    check("coin", coin.free, low.native);
    for (const [currency, { free }] of funds) check(currency, free, low[currency]);
    for (const [name, text] of shortages) {
      if (this.#told.has(name)) continue;
      log.error("{network}: the hot wallet is low on {text}", { network: this.#network, text });
    }
    for (const name of this.#told) {
      if (shortages.has(name)) continue;
      log.info("{network}: the hot wallet has enough {name} again", {
        network: this.#network,
        name,
      });
    }
    this.#told = new Set(shortages.keys());
    return [...shortages.values()];
  }
}
