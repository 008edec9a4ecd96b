/**
 * Prices that the network votes on, read from the node and kept for a moment.
 *
 * @module
 */

import { ChainUnavailable } from "../../chain.ts";
import { chainParametersSchema } from "./answers.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { readAny } from "./read_from.ts";

/** Votes take effect every 6 hours; a minute of delay is covered by the margin of the limit. */
const KEEP_MS = 60_000;

/** Prices in sun. */
export interface ChainPrices {
  /** Of one unit of energy. */
  readonly energy: number;
  /** Of one byte of bandwidth. */
  readonly byte: number;
  /** Burnt when a transfer of TRX creates its receiver's account. */
  readonly activation: number;
}

/** Reads and keeps the prices of one network. */
export class ChainParameters {
  #prices: ChainPrices | null = null;
  #readAt = 0;

  constructor(readonly pool: NodePool) {}

  /**
   * The current prices, at most a minute old.
   *
   * @throws {ChainUnavailable} when they cannot be read or one is missing
   */
  async prices(signal?: AbortSignal): Promise<ChainPrices> {
    const now = performance.now();
    if (this.#prices !== null && now - this.#readAt < KEEP_MS) return this.#prices;
    const request = { path: "/wallet/getchainparameters", body: {} };
    const answer = await readAny(this.pool, request, chainParametersSchema, signal);
    const values = new Map(answer.chainParameter.map(({ key, value }) => [key, value]));
    const read = (key: string): number => {
      const value = values.get(key);
      if (value !== undefined && value >= 0) return value;
      throw new ChainUnavailable("malformed", `Cannot read prices as one is missing: ${key}`);
    };
    this.#prices = {
      energy: read("getEnergyFee"),
      byte: read("getTransactionFee"),
      activation: read("getCreateNewAccountFeeInSystemContract") + read("getCreateAccountFee"),
    };
    this.#readAt = now;
    return this.#prices;
  }
}
