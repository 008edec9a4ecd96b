/**
 * A development chain in operation: its pool, its blocks, its pace, its finality.
 *
 * @module
 */

import { keccak256 } from "viem";
import { logEvent } from "../../log/log_event.ts";
import { Faults } from "../faults.ts";
import type { Pace } from "../options.ts";
import { AnvilRefusal, KEPT_STATES } from "./anvil.ts";
import type { Keeper } from "./keeper.ts";
import {
  chooseForBlock,
  type Fate,
  nextNonce,
  poolRefusal,
  refusal,
  type Waiting,
} from "./pool.ts";
import { type Hex, HexText, quantity, RpcBlock, type RpcError, RpcTransaction } from "./rpc.ts";

/** A control request that cannot be carried out; its message says why. */
export class CannotDo extends Error {
  override readonly name = "CannotDo";
}

/** The end of a transaction that was handed in: its id, or the node's refusal. */
export type Handed = { readonly txid: Hex } | { readonly error: RpcError };

/** Treatment of a valid transaction: kept or forgotten, made to fail or not. */
export interface Reception {
  readonly isKept: boolean;
  readonly fate: Fate | null;
}

const KEEP: Reception = { isKept: true, fate: null };
/** Block spacing of `mine` on a chain that makes blocks only on demand. */
const DEFAULT_SPACING_MS = 1_000;
/** Deeper than that anvil may not have the state to go back to. */
const DEEPEST = KEPT_STATES - 4;
/** Code of an account that is delegated to a contract (EIP-7702). */
const DELEGATED = "0xef0100";

/** One chain in operation. */
export class EvmChain {
  readonly faults: Faults;
  readonly #keeper: Keeper;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running = false;

  constructor(keeper: Keeper) {
    this.#keeper = keeper;
    this.faults = new Faults((faults) => keeper.note({ do: "faults", faults }));
    if (keeper.facts.faults.length > 0) this.faults.replace(keeper.facts.faults);
  }

  /** Starts making blocks. @param started pace of the options; one that was set lasts until they change */
  async start(started: Pace): Promise<void> {
    await this.#keeper.serially(async () => {
      const { startedWith } = this.#keeper.facts;
      const isSame = startedWith.blockMs === started.blockMs &&
        startedWith.solidLag === started.solidLag;
      if (!isSame) await this.#settle(started, started);
    });
    this.#running = true;
    this.#schedule();
  }

  /** Stops making blocks, ends anvil and closes the files. */
  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#timer);
    await this.#keeper.close();
  }

  /** Height of the newest block. */
  get head(): number {
    return this.#keeper.head.height;
  }

  /** Height of the newest final block. */
  get final(): number {
    return this.#keeper.facts.final;
  }

  /** Time of the newest block, Unix milliseconds. */
  get time(): number {
    return this.#keeper.head.time;
  }

  /** The pace in force. */
  get pace(): Pace {
    return this.#keeper.facts.pace;
  }

  /** Base fee of coming blocks, wei; null where it follows their use. */
  get baseFee(): bigint | null {
    const { baseFee } = this.#keeper.facts;
    return baseFee === null ? null : BigInt(baseFee);
  }

  /** Transactions that wait, oldest first. */
  get pool(): readonly Waiting[] {
    return this.#keeper.facts.pool;
  }

  /** Passes calls on to anvil. */
  read(body: unknown): Promise<unknown> {
    return this.#keeper.read(body);
  }

  /** Calls a method of anvil. @throws {AnvilRefusal} */
  ask(method: string, ...params: unknown[]): Promise<unknown> {
    return this.#keeper.serially(() => this.#keeper.ask(method, ...params));
  }

  /** The next nonce of an address, counting what waits. */
  async pendingNonce(address: string): Promise<number> {
    return await this.#keeper.serially(async () =>
      nextNonce(this.pool, address, await this.#minedNonce(address))
    );
  }

  /**
   * Takes a signed transaction.
   *
   * @param receive called for a valid one, before it is kept
   */
  submit(raw: Hex, receive: (waiting: Waiting) => Reception = () => KEEP): Promise<Handed> {
    return this.#keeper.serially(async () => {
      const found = await this.#validated(raw);
      if ("code" in found) return { error: found };
      const { isKept, fate } = receive(found);
      if (isKept) await this.#keeper.commit({ do: "wait", waiting: { ...found, fate } });
      return { txid: found.tx.hash };
    });
  }

  /** Makes blocks at once. @param spacing milliseconds between their times, default the chain's pace */
  async mine(count: number, spacing?: number): Promise<void> {
    const between = spacing ?? (this.pace.blockMs || DEFAULT_SPACING_MS);
    await this.#keeper.serially(async () => {
      let earliest = 0;
      for (let i = 0; i < count; i++) {
        await this.#addBlock(earliest);
        earliest = this.time + between;
      }
    });
  }

  /**
   * Drops the newest blocks. Their transactions wait again, or vanish.
   *
   * @throws {CannotDo} when a final block would have to go
   */
  async reorganise(depth: number, drop: boolean): Promise<void> {
    await this.#keeper.serially(async () => {
      const { head, final } = this;
      if (depth > head - final) {
        throw new CannotDo(
          `Cannot drop ${depth} blocks as block ${final} is final: head ${head}`,
        );
      }
      if (depth > DEEPEST) {
        throw new CannotDo(`Cannot drop ${depth} blocks as the node goes back ${DEEPEST} at most`);
      }
      await this.#keeper.commit({ do: "reorganise", to: head - depth, drop });
    });
  }

  /** Forgets a transaction that waits. @throws {CannotDo} when it does not */
  async evict(txid: string): Promise<void> {
    await this.#keeper.serially(async () => {
      const found = this.pool.find(({ tx }) => tx.hash === txid.toLowerCase());
      if (found === undefined) throw new CannotDo(`No such transaction waits: ${txid}`);
      await this.#keeper.commit({ do: "evict", txid: found.tx.hash });
    });
  }

  /** Holds the base fee of coming blocks, wei; null lets it follow their use. */
  async setBaseFee(wei: bigint | null): Promise<void> {
    await this.#keeper.serially(() =>
      this.#keeper.commit({ do: "base-fee", wei: wei === null ? null : String(wei) })
    );
  }

  /** Changes the pace; null keeps what is. */
  async configure(blockMs: number | null, solidLag: number | null): Promise<void> {
    await this.#keeper.serially(async () => {
      const { pace, startedWith } = this.#keeper.facts;
      const changed = {
        blockMs: blockMs ?? pace.blockMs,
        solidLag: solidLag ?? pace.solidLag,
      };
      await this.#settle(changed, startedWith);
    });
    this.#schedule();
  }

  async #settle(pace: Pace, startedWith: Pace): Promise<void> {
    const final = this.#finalAt(this.head, pace.solidLag);
    await this.#keeper.commit({ do: "settle", pace, startedWith, final });
  }

  #finalAt(head: number, solidLag: number): number {
    const stands = this.faults.find("*", "finality-stands") !== null;
    return stands ? this.final : Math.max(this.final, head - solidLag);
  }

  /** @param earliest its time at least, Unix milliseconds */
  async #addBlock(earliest: number): Promise<void> {
    const { facts, head } = this.#keeper;
    const now = Date.now();
    const time = Math.max(now + facts.lead, head.time, earliest);
    const baseFee = this.baseFee ?? await this.#marketBaseFee();
    const nonces = new Map<string, number>();
    for (const { tx } of facts.pool) {
      if (!nonces.has(tx.from)) nonces.set(tx.from, await this.#minedNonce(tx.from));
    }
    const chosen = chooseForBlock(facts.pool, nonces, baseFee);
    await this.#keeper.commit({
      do: "block",
      parent: head.hash,
      time,
      lead: Math.max(0, time - now),
      baseFee: String(baseFee),
      txids: chosen.map(({ tx }) => tx.hash),
      fates: chosen.flatMap(({ tx, fate }) => fate === null ? [] : [[tx.from, fate]]),
      final: this.#finalAt(head.height + 1, facts.pace.solidLag),
    });
  }

  /** Has anvil check a transaction, and forget it; then what anvil does not check is. */
  async #validated(raw: Hex): Promise<Waiting | RpcError> {
    if (/^0x([0-9a-f]{2})+$/i.test(raw)) {
      const txid = keccak256(raw);
      if (this.pool.some(({ tx }) => tx.hash === txid)) return refusal("already known");
    }
    try {
      const txid = await this.#tryOut(raw);
      const shown = await this.#keeper.ask("eth_getTransactionByHash", txid);
      // anvil has ended in between and was built up without it
      if (shown === null) return await this.#validated(raw);
      const tx = RpcTransaction.parse(shown);
      // one with a nonce that is not next stays with a call that drops it by its id
      await this.#keeper.ask("anvil_dropAllTransactions");
      const waiting = { raw, tx, fate: null };
      const code = HexText.parse(await this.#keeper.ask("eth_getCode", tx.from, "latest"));
      const sender = {
        mined: await this.#minedNonce(tx.from),
        isDelegated: code.startsWith(DELEGATED),
      };
      const { leastTip } = this.#keeper.settings.network;
      return poolRefusal(this.pool, waiting, sender, leastTip) ?? waiting;
    } catch (error) {
      if (!(error instanceof AnvilRefusal)) throw error;
      return asGeth(error.error);
    }
  }

  /** @returns its id */
  async #tryOut(raw: Hex): Promise<unknown> {
    try {
      return await this.#keeper.ask("eth_sendRawTransaction", raw);
    } catch (error) {
      if (!(error instanceof AnvilRefusal) || !/base fee/i.test(error.message)) throw error;
    }
    // geth keeps what offers less than the base fee: it waits until that falls
    const before = await this.#marketBaseFee();
    await this.#keeper.ask("anvil_setNextBlockBaseFeePerGas", "0x0");
    try {
      return await this.#keeper.ask("eth_sendRawTransaction", raw);
    } finally {
      await this.#keeper.ask("anvil_setNextBlockBaseFeePerGas", quantity(before));
    }
  }

  /** Base fee of the next block as anvil has it, wei. */
  async #marketBaseFee(): Promise<bigint> {
    const block = RpcBlock.parse(await this.#keeper.ask("eth_getBlockByNumber", "pending", false));
    return BigInt(block.baseFeePerGas);
  }

  async #minedNonce(address: string): Promise<number> {
    return Number(await this.#keeper.ask("eth_getTransactionCount", address, "latest"));
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#running || this.pace.blockMs === 0) return;
    this.#timer = setTimeout(async () => {
      try {
        await this.#keeper.serially(async () => {
          if (this.#running) await this.#addBlock(0);
        });
      } catch (error) {
        logEvent("devchain.block_failed", { network: this.#keeper.settings.name, error });
      }
      this.#schedule();
    }, this.pace.blockMs);
  }
}

/** A refusal of anvil in geth's form: one code for all, small letters first. */
function asGeth({ message, code }: RpcError): RpcError {
  if (code === -32_602) return { code, message };
  return refusal(message.charAt(0).toLowerCase() + message.slice(1));
}
