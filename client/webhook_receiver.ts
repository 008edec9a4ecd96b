/**
 * An endpoint for callbacks: it verifies, has the event booked, and acknowledges. It needs nothing but
 * Node's own modules, so it runs on Node and Deno alike; here with the `postgres` package and a table
 * `CREATE TABLE webhook_event (id text PRIMARY KEY)`:
 *
 * ```ts
 * import { createServer } from "node:http";
 * import postgres from "postgres";
 * import { createReceiver } from "./webhook_receiver.ts";
 *
 * const sql = postgres();
 * const receiver = createReceiver({
 *   secrets: [process.env.WEBHOOK_SECRET ?? ""],
 *   book: async (event) => {
 *     await sql.begin(async (tx) => {
 *       const [isNew] = await tx`
 *         INSERT INTO webhook_event (id) VALUES (${event.eventId})
 *         ON CONFLICT DO NOTHING RETURNING id`;
 *       if (isNew) await bookIt(tx, event); // your own tables, in the same transaction
 *     });
 *   },
 * });
 * createServer(receiver).listen(9000);
 * ```
 *
 * `deno task webhooks listen` verifies with the same code, and prints what arrives instead of booking
 * it.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventPayloads } from "./openapi_types.ts";

/** Every event with its body; `webhook.test` is what `POST .../webhook/test` sends. */
type Payloads = EventPayloads & {
  readonly "webhook.test": { readonly type: "webhook.test"; readonly eventId: string };
};

/**
 * One event as it arrived; its name tells the fields of its body. Names that are added later arrive as
 * well: acknowledge what your program does not know.
 */
export type ReceivedEvent = {
  [N in keyof Payloads]: {
    /** For example `deposit.confirmed`: the body's `type` and `status`. `X-Webhook-Event` is not signed. */
    readonly name: N;
    /** The same on every redelivery. */
    readonly eventId: string;
    /** The body, parsed. */
    readonly payload: Payloads[N];
  };
}[keyof Payloads];

/** Parts of a receiver. */
export interface ReceiverOptions {
  /** Your webhook secret; while you rotate it, the old one too. */
  readonly secrets: readonly string[];
  /**
   * Books an event, once per `eventId`: deliveries are repeated, also at the same time. Remember the
   * id in the transaction that books what the event means, as in the example above. With the id
   * remembered first and the booking lost, the next delivery would be acknowledged for nothing. What
   * is thrown or rejected here has the event delivered again.
   */
  readonly book: (event: ReceivedEvent) => Promise<void>;
  /** Unix milliseconds; default `Date.now`. */
  readonly now?: () => number;
}

/** Headers by lowercase name, as Node gives them. */
export type ReceivedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The result of a check: genuine, or the reason against it. */
export type Verdict = "verified" | "wrong signature" | "too old or from the future";

/** Greatest distance of the clocks, and greatest age of a recorded delivery. */
const TOLERANCE_SECONDS = 300;
/** Longer bodies are not ours. */
const LONGEST_BODY = 65_536;

/** Compares two texts in a time that tells nothing of where they differ. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function textOf(headers: ReceivedHeaders, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}

/**
 * Verifies a delivery over the raw bytes of its body, before anything is parsed.
 *
 * `X-Webhook-Signature` proves the body. `webhook-signature` (Standard Webhooks) covers the time of
 * the attempt as well, so that no delivery can be replayed later.
 *
 * @param now Unix milliseconds
 */
export function verify(
  headers: ReceivedHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  now: number,
): Verdict {
  const timestamp = textOf(headers, "webhook-timestamp");
  const signed = `${textOf(headers, "webhook-id")}.${timestamp}.`;
  const isGenuine = secrets.some((secret) => {
    const hex = createHmac("sha256", secret).update(body).digest("hex");
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const standard = createHmac("sha256", key).update(signed).update(body).digest("base64");
    const hexes = ["x-webhook-signature", "x-webhook-signature-previous"];
    return hexes.some((name) => isSame(textOf(headers, name), hex)) &&
      textOf(headers, "webhook-signature").split(" ").some((one) => isSame(one, `v1,${standard}`));
  });
  if (!isGenuine) return "wrong signature";
  const age = Math.abs(now / 1_000 - Number(timestamp));
  return age <= TOLERANCE_SECONDS ? "verified" : "too old or from the future";
}

/** Reads a body as the bytes that were sent; null where it is too long. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LONGEST_BODY) return null;
  }
  return Buffer.concat(chunks);
}

/** The name of an event by its signed body; `webhook.test` has no status. */
function nameOf({ type, status }: { readonly type: string; readonly status?: string }): string {
  return status === undefined ? type : `${type}.${status}`;
}

/**
 * A handler for `createServer` of `node:http`. Only a 2xx answer with `{"ok": true}` acknowledges;
 * anything else has the event delivered again, under the same `eventId`.
 *
 * @throws {Error} where a secret is missing: with an empty one anybody could sign
 */
export function createReceiver(
  options: ReceiverOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const now = options.now ?? Date.now;
  if (options.secrets.length === 0 || options.secrets.includes("")) {
    throw new Error("Cannot receive callbacks as a webhook secret is missing");
  }
  return async (request, response) => {
    const answer = (code: number, body: unknown) => {
      response.writeHead(code, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    try {
      const body = await readBody(request);
      if (body === null) return answer(413, { ok: false, reason: "too long" });
      const verdict = verify(request.headers, body, options.secrets, now());
      if (verdict !== "verified") return answer(401, { ok: false, reason: verdict });
      const payload = JSON.parse(new TextDecoder().decode(body));
      const eventId = String(payload.eventId);
      // what is signed is the service's own word
      await options.book({ name: nameOf(payload), eventId, payload } as ReceivedEvent);
      answer(200, { ok: true });
    } catch (error) {
      answer(500, { ok: false, reason: error instanceof Error ? error.message : "failed" });
    }
  };
}
