/**
 * An anvil that carries out a chain's commands, with the facts beside its state. Two that were given the
 * same base and the same commands are the same.
 *
 * @module
 */

import { type Anvil, AnvilRefusal } from "./anvil.ts";
import type { Base, BlockCommand, Command, Facts, KeptBlock } from "./commands.ts";
import { CONTRACTS, fateSlot } from "./genesis.ts";
import { withOwnFirstBlock } from "./first_blocks.ts";
import { nonceOf, type Waiting } from "./pool.ts";
import { type Hex, HexText, quantity, RpcBlock, word } from "./rpc.ts";

/** Marks of a fate in the storage of tokens, see Tokens.sol. */
const FATE_BITS = { "revert": 2n, "out-of-gas": 4n } as const;

/** An anvil and what is true of its chain. */
export class Replica {
  readonly anvil: Anvil;
  readonly facts: Facts;

  private constructor(anvil: Anvil, facts: Facts) {
    this.anvil = anvil;
    this.facts = facts;
  }

  /** Of an empty anvil. @param state of the base */
  static async load(anvil: Anvil, base: Base, state: string): Promise<Replica> {
    const replica = new Replica(anvil, structuredClone(base.facts));
    // without it anvil refuses blocks that are older than its start
    await anvil.ask("anvil_setTime", 0);
    await anvil.ask("anvil_loadState", await withOwnFirstBlock(state, base.facts.identity));
    await replica.#requireHead(replica.head.hash);
    await replica.#takeOver();
    return replica;
  }

  /** Of an anvil that has the first block. @param make the facts, of that block's hash */
  static async begin(anvil: Anvil, make: (first: Hex) => Facts): Promise<Replica> {
    const { hash } = await newest(anvil);
    const replica = new Replica(anvil, make(hash));
    await replica.#takeOver();
    return replica;
  }

  /** The newest block. */
  get head(): KeptBlock {
    const head = this.facts.blocks.at(-1);
    if (head === undefined) throw new RangeError("Cannot use a chain as it has no blocks");
    return head;
  }

  /** The state of anvil as it is now. */
  async dump(): Promise<string> {
    return HexText.parse(await this.anvil.ask("anvil_dumpState"));
  }

  /**
   * Carries a command out.
   *
   * @throws {AnvilGone}
   */
  async carryOut(command: Command): Promise<void> {
    const { facts } = this;
    switch (command.do) {
      case "wait": {
        const { waiting } = command;
        facts.pool = [...facts.pool.filter((one) => !isSameTurn(one, waiting)), waiting];
        return;
      }
      case "evict":
        facts.pool = facts.pool.filter(({ tx }) => tx.hash !== command.txid);
        return;
      case "block":
        return await this.#makeBlock(command);
      case "reorganise":
        return await this.#reorganise(command.to, command.drop);
      case "settle":
        facts.pace = command.pace;
        facts.startedWith = command.startedWith;
        return this.#finalise(command.final);
      case "base-fee":
        facts.baseFee = command.wei;
        return await this.#holdBaseFee();
      case "faults":
        facts.faults = command.faults;
        return;
    }
  }

  async #makeBlock(command: BlockCommand): Promise<void> {
    const { anvil, facts } = this;
    await this.#requireHead(command.parent);
    const chosen = command.txids.map((txid) => this.#waiting(txid));
    for (const [sender, fate] of command.fates) await this.#mark(sender, FATE_BITS[fate]);
    await anvil.ask("anvil_setNextBlockBaseFeePerGas", quantity(BigInt(command.baseFee)));
    for (const { raw } of chosen) await this.#give(raw);
    const timestamp = Math.floor(command.time / 1_000);
    await anvil.ask("evm_mine", { timestamp, blocks: 1 });
    for (const [sender] of command.fates) await this.#mark(sender, 0n);
    const block = await newest(anvil);
    const isIncluded = new Set(block.transactions);
    if (block.transactions.some((txid) => !command.txids.includes(txid))) {
      throw new Error(`Cannot use a block as it has more than it should: ${block.hash}`);
    }
    // what can no longer be carried out leaves the pool, as with geth
    if (isIncluded.size < chosen.length) await anvil.ask("anvil_dropAllTransactions");
    const transactions = chosen.filter(({ tx }) => isIncluded.has(tx.hash));
    facts.pool = facts.pool.filter((one) =>
      !chosen.includes(one) && !transactions.some((mined) => isSameTurn(mined, one))
    );
    facts.blocks.push({
      height: this.head.height + 1,
      hash: block.hash,
      time: command.time,
      transactions,
    });
    facts.lead = command.lead;
    this.#finalise(command.final);
    await this.#holdBaseFee();
  }

  async #reorganise(to: number, drop: boolean): Promise<void> {
    const { anvil, facts } = this;
    const first = facts.blocks[0]?.height ?? 0;
    await anvil.ask("anvil_rollback", this.head.height - to);
    const dropped = facts.blocks.splice(to - first + 1);
    facts.forks++;
    if (!drop) {
      const returned = dropped.flatMap(({ transactions }) => transactions);
      facts.pool = [
        ...returned,
        ...facts.pool.filter((one) => !returned.some((other) => isSameTurn(one, other))),
      ];
    }
    await this.#requireHead(this.head.hash);
    await this.#takeOver();
  }

  /** A transaction that anvil refuses can no longer be carried out: its sender has spent the coin for it. */
  async #give(raw: Hex): Promise<void> {
    try {
      await this.anvil.ask("eth_sendRawTransaction", raw);
    } catch (error) {
      if (!(error instanceof AnvilRefusal)) throw error;
    }
  }

  async #mark(sender: Hex, bits: bigint): Promise<void> {
    const slot = fateSlot(sender);
    for (const token of [CONTRACTS.USDT, CONTRACTS.USDC]) {
      const held = await this.anvil.ask("eth_getStorageAt", token, slot, "latest");
      const now = BigInt(HexText.parse(held));
      await this.anvil.ask("anvil_setStorageAt", token, slot, word(now & ~6n | bits));
    }
  }

  /** Settings that anvil forgets when it goes back, and that decide hashes. */
  async #takeOver(): Promise<void> {
    await this.anvil.ask("anvil_dropAllTransactions");
    const maker = `0xb10c${this.facts.forks.toString(16).padStart(36, "0")}`;
    await this.anvil.ask("anvil_setCoinbase", maker);
    await this.#holdBaseFee();
  }

  async #holdBaseFee(): Promise<void> {
    const { baseFee } = this.facts;
    if (baseFee === null) return;
    await this.anvil.ask("anvil_setNextBlockBaseFeePerGas", quantity(BigInt(baseFee)));
  }

  #finalise(height: number): void {
    const { facts } = this;
    facts.final = Math.max(facts.final, height);
    facts.blocks = facts.blocks.filter((block) => block.height >= facts.final);
  }

  #waiting(txid: Hex): Waiting {
    const found = this.facts.pool.find(({ tx }) => tx.hash === txid);
    if (found !== undefined) return found;
    throw new Error(`Cannot make a block as a transaction does not wait: ${txid}`);
  }

  async #requireHead(hash: Hex): Promise<void> {
    const block = await newest(this.anvil);
    if (block.hash === hash) return;
    throw new Error(
      `Cannot go on with the development chain as anvil has another block than before: ` +
        `${block.hash} instead of ${hash}`,
    );
  }
}

/** True for two transactions of which a chain can hold one. */
function isSameTurn(one: Waiting, other: Waiting): boolean {
  return one.tx.from === other.tx.from && nonceOf(one) === nonceOf(other);
}

async function newest(anvil: Anvil): Promise<RpcBlock> {
  return RpcBlock.parse(await anvil.ask("eth_getBlockByNumber", "latest", false));
}
