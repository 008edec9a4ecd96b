/**
 * The gateway in front of public nodes: a limit per second, suspensions that only a body tells, closed
 * calls, and several nodes behind one address. Texts are those of TRON's providers and of java-tron.
 *
 * @module
 */

import type { Fault, FaultKind, Faults } from "../faults.ts";
import { hexOfText } from "../render.ts";

const SECOND_MS = 1_000;
const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

/** Refuses or colours requests as the faults in force say. */
export class Provider {
  readonly #faults: Faults;
  /** Times of the calls of the last second. */
  #calls: number[] = [];
  #suspendedUntil = 0;
  #turns = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** The refusal that a request meets before any node sees it, or `null`. */
  refusal(path: string): Response | null {
    const limit = this.#faults.find(path, "limit-per-second");
    if (limit !== null && this.#isTooMuch(limit)) {
      this.#count(path, "limit-per-second");
      const text =
        `The key exceeds the frequency limit(${limit.perSecond}), and the query server ` +
        `is suspended for ${limit.suspendSeconds}s`;
      const body = { Success: false, Error: text, StatusCode: limit.status };
      return Response.json(body, { status: limit.status });
    }
    if (this.#count(path, "lite-node") !== null) {
      return new Response("this API is closed because this node is a lite fullnode\n", {
        headers: JSON_TYPE,
      });
    }
    if (this.#count(path, "closed-api") !== null) {
      return Response.json({ Error: "this API is unavailable due to config" }, { status: 404 });
    }
    if (!path.endsWith("/triggerconstantcontract")) return null;
    if (this.#count(path, "call-exception") === null) return null;
    const message = "class org.tron.core.vm.program.Program$OutOfTimeException : CPU timeout for " +
      "'SLOAD' operation executing";
    return Response.json({ result: { code: "OTHER_ERROR", message: hexOfText(message) } });
  }

  /** Blocks that the node which answers this request lacks. */
  behind(path: string): number {
    const fault = this.#faults.find(path, "two-nodes");
    if (fault === null) return 0;
    this.#turns++;
    if (this.#turns % 2 === 0) return 0;
    this.#count(path, "two-nodes");
    return fault.behind;
  }

  #count(path: string, kind: FaultKind): Fault | null {
    return this.#faults.fire(path, [kind]);
  }

  #isTooMuch({ perSecond, suspendSeconds }: Fault): boolean {
    const now = performance.now();
    this.#calls = this.#calls.filter((at) => now - at < SECOND_MS);
    this.#calls.push(now);
    const isSuspended = now < this.#suspendedUntil;
    if (!isSuspended && this.#calls.length <= perSecond) return false;
    this.#suspendedUntil = now + suspendSeconds * SECOND_MS;
    return true;
  }
}
