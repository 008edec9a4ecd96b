/**
 * A merchant's endpoint on loopback that remembers what it was sent and answers as a test sets it.
 *
 * @module
 */

import { createHmac } from "node:crypto";
import { assertEquals } from "@std/assert";
import { eventFaults } from "../../support/documented.ts";

/** One request as it arrived. */
export interface Received {
  readonly at: number;
  readonly method: string;
  readonly headers: Headers;
  readonly raw: Uint8Array<ArrayBuffer>;
  // deno-lint-ignore no-explicit-any -- tests look into whatever was sent
  readonly body: any;
}

/** An endpoint. */
export interface Hook extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the answers to the next requests; afterwards every one is acknowledged. */
  answer(...responses: readonly (() => Response)[]): void;
}

/** Opens an endpoint. */
export function openHook(): Hook {
  const received: Received[] = [];
  const answers: (() => Response)[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const raw = await request.bytes();
      received.push({
        at: Date.now(),
        method: request.method,
        headers: request.headers,
        raw,
        body: JSON.parse(new TextDecoder().decode(raw)),
      });
      return answers.shift()?.() ?? Response.json({ ok: true });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/hook`,
    received,
    answer: (...responses) => {
      answers.push(...responses);
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Checks what the contract says of every delivery: headers, signature over the raw bytes, body. */
export function checkDelivery(delivery: Received, secret: string): void {
  const { method, headers, raw, body } = delivery;
  assertEquals(method, "POST");
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("x-webhook-id"), body.eventId);
  const signature = createHmac("sha256", secret).update(raw).digest("hex");
  assertEquals(headers.get("x-webhook-signature"), signature);
  assertEquals(eventFaults(headers.get("x-webhook-event") ?? "", body), []);
}
