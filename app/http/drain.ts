import { delay } from "../../ledger/database/delay.ts";
import type { Readiness } from "../../api/http/context.ts";

/**
 * The time between being told to stop and closing the listeners. A load balancer that reads `/readyz`
 * looks elsewhere meanwhile, and no client is refused a connection: what still arrives is served.
 */
export class Drain {
  #isBegun = false;

  /** Reads readiness; once the time has begun this node is not ready, whatever its parts say. */
  readiness(read: () => Promise<Readiness>): Promise<Readiness> {
    if (!this.#isBegun) return read();
    return Promise.resolve({ status: "unready", reasons: ["stopping: ask another node"] });
  }

  /** Is not ready from now on, and waits. */
  async run(milliseconds: number): Promise<void> {
    this.#isBegun = true;
    await delay(milliseconds);
  }
}
