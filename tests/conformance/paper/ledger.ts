import type { Block, Finality, IncludedTransaction, Transfer } from "../../../chains/chain.ts";
import type { Asset } from "../../../chains/fees.ts";
import { add, type Amount, subtract, ZERO } from "../../../ledger/money/amount.ts";
import { ENDLESS, sparseBlock, timeAt } from "../../support/paper_family.ts";
import { costOf, type Taken } from "./transaction.ts";

/** Blocks from the newest one to the last that is final. */
const SOLID_LAG = 3;
/** It has whatever it pays. */
export const FAUCET = "paper-9999999";

/** A block with what was carried out in it. */
interface Carried {
  readonly block: Block;
  readonly taken: readonly Taken[];
}

/**
 * A chain in memory that passes heights by and counts nonces: every third block is far above its parent, and who sends a
 * transaction pays for all its movements. Its state is what its blocks say, up to any of them.
 */
export class PaperLedger {
  readonly #hotWallet: string;
  #carried: Carried[] = [];
  #pool: Taken[] = [];
  #forks = 0;
  /** Asked of each transaction by the next block, a price. */
  base = 10;

  constructor(hotWallet: string) {
    this.#hotWallet = hotWallet;
  }

  /** Blocks of a view, oldest first. */
  blocks(view: Finality): readonly Block[] {
    return this.#of(view).map(({ block }) => block);
  }

  /** Transactions in the blocks of a view, oldest first. */
  transactions(view: Finality): readonly Taken[] {
    return this.#of(view).flatMap(({ taken }) => taken);
  }

  /** The next nonce of an address by the blocks of a view. */
  next(address: string, view: Finality): number {
    return this.transactions(view).filter(({ from }) => from === address).length;
  }

  /** The next nonce of an address behind what waits. */
  nextBehind(address: string): number {
    return this.next(address, "head") + this.#pool.filter(({ from }) => from === address).length;
  }

  /** Money of an address by the blocks of a view. */
  balance(address: string, asset: Asset, view: Finality): Amount {
    return this.#of(view).reduce<Amount>(
      (sum, { block, taken }) =>
        taken.reduce((left, one) => add(left, this.#change(one, block, address, asset)), sum),
      ZERO,
    );
  }

  /** True where the movements can be carried out on the newest block. */
  isCovered(movements: Taken["movements"]): boolean {
    const wanted = Map.groupBy(movements, ({ from, asset }) => `${from} ${asset}`);
    return [...wanted.values()].every((together) => {
      const [{ from, asset } = { from: FAUCET, asset: "native" as const }] = together;
      const sum = together.reduce((all, { amount }) => add(all, amount), ZERO);
      return from === FAUCET || this.balance(from, asset, "head") >= sum;
    });
  }

  /** A transaction with a nonce of a sender that waits. */
  waiting(address: string, nonce: number): Taken | undefined {
    return this.#pool.find((one) => one.from === address && one.nonce === nonce);
  }

  /** Takes a transaction in place of one that waits with its nonce. */
  take(taken: Taken): void {
    const replaced = this.waiting(taken.from, taken.nonce);
    this.#pool = [...this.#pool.filter((one) => one !== replaced), taken];
  }

  /** Makes a block of what waits, in the order of the nonces. */
  mine(): void {
    const parent = this.#carried.at(-1)?.block;
    const parentHeight = parent?.height ?? 0;
    const height = parentHeight + (this.#carried.length % 3 === 2 ? 4 : 1);
    const shape = sparseBlock(height, parentHeight, {
      hash: `b${height}-${this.#forks}`,
      parentHash: parent?.hash ?? "none",
    });
    // each is carried out on what those before it have left
    let made: Carried = { block: shape, taken: [] };
    this.#carried.push(made);
    for (let one = this.#nextWaiting(); one !== undefined; one = this.#nextWaiting()) {
      this.#pool = this.#pool.filter((other) => other !== one);
      made = this.#withTransaction(made, one);
      this.#carried[this.#carried.length - 1] = made;
    }
  }

  /** Drops the newest blocks with all that is in them, and makes others in their place. */
  reorganise(depth: number): void {
    this.#forks++;
    this.#carried.splice(-depth);
    for (let made = 0; made < depth; made++) this.mine();
  }

  #of(view: Finality): readonly Carried[] {
    return view === "head" ? this.#carried : this.#carried.slice(0, -SOLID_LAG);
  }

  #nextWaiting(): Taken | undefined {
    return this.#pool.find(({ from, nonce, price }) =>
      nonce === this.next(from, "head") && price >= this.base
    );
  }

  #withTransaction({ block, taken }: Carried, one: Taken): Carried {
    const { txid, from, movements } = one;
    const success = !one.fails && this.isCovered(movements);
    const included: IncludedTransaction = {
      txid,
      success,
      failure: success ? null : "REVERT",
      fee: costOf(one, this.base),
      ...(from === this.#hotWallet ? { byHotWallet: true } : {}),
    };
    const transfers = movements.flatMap((movement, logIndex): Transfer[] =>
      !success || movement.asset === "native" ? [] : [{
        txid,
        logIndex,
        currency: movement.asset,
        eventFrom: movement.from,
        eventTo: movement.to,
        amount: movement.amount,
        diesAfter: ENDLESS,
        expiresAt: timeAt(1_000_000),
      }]
    );
    return {
      block: {
        ...block,
        transactions: [...block.transactions, included],
        transfers: [...block.transfers, ...transfers],
      },
      taken: [...taken, one],
    };
  }

  /** The change of an address's money by a transaction. */
  #change(one: Taken, block: Block, address: string, asset: Asset): Amount {
    const included = block.transactions.find(({ txid }) => txid === one.txid);
    const moved = included?.success === true
      ? one.movements.filter((movement) => movement.asset === asset)
      : [];
    const sum = (end: "from" | "to") =>
      moved.reduce(
        (all, movement) => movement[end] === address ? add(all, movement.amount) : all,
        ZERO,
      );
    const isCharged = asset === "native" && one.from === address && address !== FAUCET;
    const fee = isCharged ? included?.fee ?? ZERO : ZERO;
    return subtract(subtract(sum("to"), sum("from")), fee);
  }
}
