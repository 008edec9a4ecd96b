/**
 * A chain in operation: the node with its pace, its faucet and its faults, and how these settings
 * are kept over a restart.
 *
 * @module
 */

import { toBase58 } from "./address.ts";
import type { ChainNode } from "./chain_node.ts";
import { Faucet } from "./faucet.ts";
import { type Fault, Faults, readFaults, TRON_FAULTS } from "./faults.ts";
import type { Pace } from "./options.ts";

/** Answer of `GET /dev/info`. */
export interface DevInfo extends Pace {
  readonly network: string;
  /** Base58 address of the USDT contract. */
  readonly usdt: string;
  readonly faucetAddress: string;
  readonly head: number;
  readonly solid: number;
  /** Present block time, Unix milliseconds. */
  readonly time: number;
  /** Transactions that wait for a block. */
  readonly pending: number;
  readonly faults: readonly Fault[];
}

/** Block spacing of `mine` on a chain that makes blocks only on demand. */
const DEFAULT_SPACING_MS = 1_000;

/** One chain in operation. */
export class DevNode {
  readonly node: ChainNode;
  readonly faucet: Faucet;
  readonly faults: Faults;
  readonly #network: string;
  #blockMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running = false;

  /** @param pace what the chain is started with; what `/dev/config` set lasts until this changes */
  constructor(node: ChainNode, network: string, pace: Pace) {
    this.node = node;
    this.#network = network;
    this.faucet = new Faucet(node);
    this.faults = new Faults((list) =>
      node.store.take({ do: "meta", key: "faults", value: JSON.stringify(list) })
    );
    const kept = node.store.meta.get("faults");
    if (kept !== undefined) this.faults.replace(readFaults(JSON.parse(kept), TRON_FAULTS));
    const { blockMs, solidLag } = settledPace(node, pace);
    this.#blockMs = blockMs;
    if (node.solidLag !== solidLag) node.setSolidLag(solidLag);
  }

  /** Starts making blocks. */
  start(): void {
    this.#running = true;
    this.#schedule();
  }

  /** Stops making blocks. */
  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
  }

  /** Makes blocks at once. @param spacing milliseconds between them, default the chain's pace */
  mine(blocks: number, spacing?: number): void {
    this.node.mine(blocks, spacing ?? (this.#blockMs || DEFAULT_SPACING_MS));
  }

  /** Changes the pace; null keeps what is. */
  configure(blockMs: number | null, solidLag: number | null): void {
    const { store } = this.node;
    store.transaction(() => {
      if (blockMs !== null) store.take({ do: "meta", key: "block-ms", value: `${blockMs}` });
      if (solidLag !== null) store.take({ do: "meta", key: "solid-lag", value: `${solidLag}` });
      if (solidLag !== null) this.node.setSolidLag(solidLag);
    });
    if (blockMs === null || blockMs === this.#blockMs) return;
    this.#blockMs = blockMs;
    this.#schedule();
  }

  /** The chain's state, for people and tests. */
  info(): DevInfo {
    const { identity, head, solid, time, pool, solidLag } = this.node;
    return {
      network: this.#network,
      usdt: toBase58(identity.usdt),
      faucetAddress: this.faucet.address,
      blockMs: this.#blockMs,
      solidLag,
      head: head.height,
      solid: solid.height,
      time,
      pending: pool.size,
      faults: this.faults.list,
    };
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#running || this.#blockMs === 0) return;
    this.#timer = setTimeout(() => {
      this.node.mine(1, this.#blockMs);
      this.#schedule();
    }, this.#blockMs);
  }
}

/** A configuration at run time lasts over restarts until the chain is started differently. */
function settledPace(node: ChainNode, pace: Pace): Pace {
  const { store } = node;
  const started = JSON.stringify(pace);
  if (store.meta.get("started-with") === started) {
    return {
      blockMs: Number(store.meta.get("block-ms") ?? pace.blockMs),
      solidLag: Number(store.meta.get("solid-lag") ?? pace.solidLag),
    };
  }
  store.transaction(() => {
    store.take({ do: "meta", key: "started-with", value: started });
    store.take({ do: "meta", key: "block-ms", value: `${pace.blockMs}` });
    store.take({ do: "meta", key: "solid-lag", value: `${pace.solidLag}` });
  });
  return pace;
}
