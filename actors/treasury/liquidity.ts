import type { Chain, Landmark } from "../../chains/chain.ts";
import { add, type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import {
  type Currency,
  type Network,
  type OutgoingAsset,
  pairKey,
} from "../../ledger/money/pair.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";
import type { Commitments } from "../../ledger/treasury/commitments.ts";
import type { Reservation } from "../merchant/liquidity.ts";

/**
 * What the hot wallets can still promise: what the treasury saw when it last looked, less what this
 * node has promised since that look began. What was promised before is in what it saw; what was being
 * committed when it began may count twice until the next one, which errs on the safe side.
 */
export class LiquidityBoard {
  readonly #seen = new Map<Network, ReadonlyMap<Currency, Amount>>();
  /** Promised before the look at hand began, and after it did; by pair. */
  readonly #before = new Map<string, Amount>();
  readonly #since = new Map<string, Amount>();

  /** What can still be promised, negative where too much was; null while nobody has looked. */
  left(network: Network, currency: Currency): Amount | null {
    const seen = this.#seen.get(network)?.get(currency);
    if (seen === undefined) return null;
    const key = pairKey(currency, network);
    return subtract(
      subtract(seen, this.#before.get(key) ?? ZERO),
      this.#since.get(key) ?? ZERO,
    );
  }

  /** Payouts were committed. */
  promised(promises: readonly Reservation[]): void {
    for (const { network, currency, amount } of promises) {
      const key = pairKey(currency, network);
      this.#since.set(key, add(this.#since.get(key) ?? ZERO, amount));
    }
  }

  /** The treasury begins to look: it will see all that was promised until now. */
  begin(network: Network, currencies: readonly Currency[]): void {
    for (const currency of currencies) {
      const key = pairKey(currency, network);
      const since = this.#since.get(key);
      if (since === undefined) continue;
      this.#before.set(key, add(this.#before.get(key) ?? ZERO, since));
      this.#since.delete(key);
    }
  }

  /** The treasury has looked. */
  end(network: Network, seen: ReadonlyMap<Currency, Amount>): void {
    this.#seen.set(network, seen);
    for (const currency of seen.keys()) this.#before.delete(pairKey(currency, network));
  }
}

/** The address that a row's wallet names. */
export function payerOf(chain: Pick<Chain, "hotWallet" | "deriveAddress">, wallet: string): string {
  return wallet === "hot" ? chain.hotWallet : chain.deriveAddress(Number(wallet));
}

/** What paying wallets still hold while a batch is made: read once, less what is promised. */
export class Purses {
  readonly #chain: Chain;
  readonly #commitments: Commitments;
  readonly #landmark: Landmark | undefined;
  readonly #left = new Map<string, Amount>();
  #stake: Amount | null = null;

  /**
   * @param commitments what the hot wallet has signed away and solid blocks do not show yet
   * @param landmark what a node must have for its balances to be believed; undefined: any is
   */
  constructor(chain: Chain, commitments: Commitments, landmark: Landmark | undefined) {
    this.#chain = chain;
    this.#commitments = commitments;
    this.#landmark = landmark;
  }

  /**
   * What a wallet can still pay.
   *
   * @throws {NotOurChain} when only nodes without the landmark answer
   * @throws {ChainUnavailable} when its balance cannot be read
   */
  async left(wallet: string, asset: OutgoingAsset): Promise<Amount> {
    const key = `${wallet}/${asset}`;
    const known = this.#left.get(key);
    if (known !== undefined) return known;
    const payer = payerOf(this.#chain, wallet);
    const balance = await this.#chain.balanceOf(payer, asset, undefined, this.#landmark);
    // a deposit address has one sweep at a time, so that nothing of it is promised besides
    const promised = wallet === "hot" ? this.#commitments.assets.get(asset)?.signed ?? ZERO : ZERO;
    const left = subtract(balance, promised);
    this.#left.set(key, left);
    return left;
  }

  /**
   * Stake of the hot wallet that can still be lent.
   *
   * @throws {ChainUnavailable} when it cannot be read
   */
  async lendable(): Promise<Amount> {
    return this.#stake ??= await this.#chain.gas.lendable();
  }

  /**
   * Takes out what a row will move, and the coin that it may burn.
   *
   * @param burn of the hot wallet the most: what it burns is known only when it is final
   */
  async spend(row: OutgoingRow, burn: Amount): Promise<void> {
    await this.#take(row.wallet, "native", burn);
    if (row.kind === "delegation") this.#stake = subtract(await this.lendable(), row.amount);
    if (!isLoan(row)) await this.#take(row.wallet, row.currency, row.amount);
  }

  async #take(wallet: string, asset: OutgoingAsset, amount: Amount): Promise<void> {
    const left = subtract(await this.left(wallet, asset), amount);
    this.#left.set(`${wallet}/${asset}`, left);
  }
}

/** Whether a row lends stake or takes it back: nothing leaves the wallet then. */
export function isLoan({ kind }: Pick<OutgoingRow, "kind">): boolean {
  return kind === "delegation" || kind === "reclaim";
}
