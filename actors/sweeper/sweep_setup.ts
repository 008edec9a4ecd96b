/**
 * Set-ups, which the hot wallet has to send once before it can send sweeps: planned by the first address that needs it, signed
 * and sent like any other transfer, and waited for by all addresses until a final block shows its work.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Chain } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { giveUpSetups, queueSetup, readSetup, type Setup } from "../../ledger/sweeps/setups.ts";
import { newId } from "../runtime/ids.ts";
import { type Wait, wait } from "./next_step.ts";
import type { SweepPace } from "./sweep_terms.ts";

/** Asks whether sweeps of a network can be sent, as often as it takes. */
export class SweepSetup {
  readonly #chain: Pick<Chain, "network" | "missingSetup">;
  /** Nothing that is there goes again. */
  #isThere = false;

  constructor(chain: Pick<Chain, "network" | "missingSetup">) {
    this.#chain = chain;
  }

  /** A look that all addresses of a turn share, made when the first of them needs it. */
  look(
    sql: Sql,
    pace: SweepPace,
    onQueued: (network: Network) => void,
  ): () => Promise<Wait | null> {
    let looking: Promise<Wait | null> | null = null;
    return () => looking ??= this.#find(sql, pace, onQueued);
  }

  /**
   * The reason for which nothing can be swept now; null: all is there.
   *
   * @throws {ChainUnavailable} when the chain cannot be asked
   */
  async #find(
    sql: Sql,
    pace: SweepPace,
    onQueued: (network: Network) => void,
  ): Promise<Wait | null> {
    const { network } = this.#chain;
    if (this.#isThere || this.#chain.missingSetup === undefined) return null;
    const [destination] = await this.#chain.missingSetup();
    if (destination === undefined) {
      this.#isThere = true;
      for (const outgoingId of await giveUpSetups(sql, network)) {
        logEvent("sweep.setup_given_up", { network, outgoingId });
      }
      return null;
    }
    const outgoingId = newId("out");
    if (await queueSetup(sql, { outgoingId, network, destination }, pace.coolDownMs)) {
      logEvent("sweep.setup_queued", { network, outgoingId, destination });
      onQueued(network);
    }
    const detail = toldOf(await readSetup(sql, network, destination), destination);
    return wait("waiting_setup", detail, pace.pollMs);
  }
}

/** A set-up for people. */
function toldOf(setup: Setup | null, destination: string): string {
  if (setup === null) return `${destination} is not there yet`;
  const { id, status, reason } = setup;
  const state = `${id} is ${status}${reason === null ? "" : `: ${reason}`}`;
  return status === "final"
    ? `${destination} is not seen yet, or its chain creates nothing: ${state}`
    : `${destination} is not there yet: ${state}`;
}
