import type { Chain, Checkpoint } from "../../chains/chain.ts";
import { gasOf } from "../../chains/fees.ts";
import { add, type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import {
  type Currency,
  type Network,
  type OutgoingAsset,
  pairKey,
} from "../../ledger/money/pair.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";
import type { Commitments } from "../../ledger/treasury/hot_wallet.ts";
import type { QueuedRow } from "../../ledger/treasury/pull_queued.ts";
import type { Reservation } from "../merchant/state.ts";

/**
 * Liquidity of the hot wallets: free funds at the treasury's last poll, less what this node has
 * reserved since that poll began. Earlier reservations are in the figures of the poll; those that were
 * being committed when it began may count twice until the next one, which errs on the safe side.
 */
export class HotLiquidity {
  readonly #seen = new Map<Network, ReadonlyMap<Currency, Amount>>();
  /** Reserved before the current poll began, and since; by pair. */
  readonly #before = new Map<string, Amount>();
  readonly #since = new Map<string, Amount>();

  /** Liquidity of a pair, negative where too much is reserved; null before the first poll. */
  left(network: Network, currency: Currency): Amount | null {
    const seen = this.#seen.get(network)?.get(currency);
    if (seen === undefined) return null;
    const key = pairKey(currency, network);
    const reserved = add(this.#before.get(key) ?? ZERO, this.#since.get(key) ?? ZERO);
    return subtract(seen, reserved);
  }

  /** Takes in the reservations of committed payouts. */
  reserved(reservations: readonly Reservation[]): void {
    for (const { network, currency, amount } of reservations) {
      const key = pairKey(currency, network);
      this.#since.set(key, add(this.#since.get(key) ?? ZERO, amount));
    }
  }

  /** Begins a poll of the treasury: its figures will contain all reservations made until now. */
  begin(network: Network, currencies: readonly Currency[]): void {
    for (const currency of currencies) {
      const key = pairKey(currency, network);
      const since = this.#since.get(key);
      if (since === undefined) continue;
      this.#before.set(key, add(this.#before.get(key) ?? ZERO, since));
      this.#since.delete(key);
    }
  }

  /** Ends the poll with its figures. */
  end(network: Network, seen: ReadonlyMap<Currency, Amount>): void {
    this.#seen.set(network, seen);
    for (const currency of seen.keys()) this.#before.delete(pairKey(currency, network));
  }
}

/** The address that a row's wallet names. */
export function payerOf(chain: Pick<Chain, "hotWallet" | "deriveAddress">, wallet: string): string {
  return wallet === "hot" ? chain.hotWallet : chain.deriveAddress(Number(wallet));
}

/** The wallet whose coin pays for a row's transaction. */
export function coinWalletOf({ wallet, feePayer }: Pick<QueuedRow, "wallet" | "feePayer">): string {
  return feePayer === "hot" ? "hot" : wallet;
}

/** Liquidity of paying wallets while a batch is made: balances read once, less reservations. */
export class WalletLiquidity {
  readonly #chain: Chain;
  readonly #commitments: Commitments;
  readonly #checkpoint: Checkpoint | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #left = new Map<string, Amount>();
  #stake: Amount | null = null;

  /**
   * @param commitments what the hot wallet has signed away and solid blocks do not show yet
   * @param checkpoint what a node must have for its balances to be believed; undefined: any is
   * @param signal ends what nodes are asked
   */
  constructor(
    chain: Chain,
    commitments: Commitments,
    checkpoint: Checkpoint | undefined,
    signal: AbortSignal | undefined,
  ) {
    this.#chain = chain;
    this.#commitments = commitments;
    this.#checkpoint = checkpoint;
    this.#signal = signal;
  }

  /**
   * The amount that a wallet can still pay.
   *
   * @throws {NotOurChain} when only nodes without the checkpoint answer
   * @throws {ChainUnavailable} when its balance cannot be read
   */
  async left(wallet: string, asset: OutgoingAsset): Promise<Amount> {
    const key = `${wallet}/${asset}`;
    const known = this.#left.get(key);
    if (known !== undefined) return known;
    const payer = payerOf(this.#chain, wallet);
    const balance = await this.#chain.balanceOf(payer, asset, this.#signal, this.#checkpoint);
    // a deposit address has one sweep at a time, so that nothing else of it is reserved
    const reserved = wallet === "hot" ? this.#commitments.assets.get(asset)?.signed ?? ZERO : ZERO;
    const left = subtract(balance, reserved);
    this.#left.set(key, left);
    return left;
  }

  /**
   * Stake of the hot wallet that can still be delegated.
   *
   * @throws {ChainUnavailable} when it cannot be read
   */
  async delegatable(): Promise<Amount> {
    return this.#stake ??= await gasOf(this.#chain).delegatable(this.#signal);
  }

  /**
   * Takes out what a row will move, and the coin that it may cost.
   *
   * @param cost of the hot wallet the most: the cost is known only when it is final
   */
  async spend(row: QueuedRow, cost: Amount): Promise<void> {
    await this.#take(coinWalletOf(row), "native", cost);
    if (row.kind === "delegation") this.#stake = subtract(await this.delegatable(), row.amount);
    if (!isDelegation(row)) await this.#take(row.wallet, row.currency, row.amount);
  }

  async #take(wallet: string, asset: OutgoingAsset, amount: Amount): Promise<void> {
    const left = subtract(await this.left(wallet, asset), amount);
    this.#left.set(`${wallet}/${asset}`, left);
  }
}

/** True where a row delegates stake or undelegates it: nothing leaves the wallet then. */
export function isDelegation({ kind }: Pick<OutgoingRow, "kind">): boolean {
  return kind === "delegation" || kind === "reclaim";
}
