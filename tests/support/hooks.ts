/**
 * A merchant's endpoint and events for it.
 *
 * @module
 */

import { newId } from "../../actors/runtime/ids.ts";
import { type WebhookDeps, Webhooks } from "../../actors/webhook/webhooks.ts";
import type { AnySql, Sql } from "../../ledger/database/connect.ts";
import { createOutbox } from "../../ledger/outbox/outbox.ts";
import { createSender } from "../../webhooks/sender.ts";

/** One delivery as it arrived. */
export interface Arrived {
  readonly eventId: string;
  readonly body: string;
  readonly headers: Headers;
  readonly at: number;
}

/** An endpoint that notes what arrives. */
export interface Hook extends AsyncDisposable {
  readonly url: string;
  readonly arrived: Arrived[];
}

/** Starts an endpoint; it acknowledges unless told otherwise. */
export function openHook(
  answer: (arrived: Arrived) => Response | Promise<Response> = () => Response.json({ ok: true }),
): Hook {
  const arrived: Arrived[] = [];
  // a test that fails before it answers must end with its failure, not wait for the answer
  const closing = Promise.withResolvers<Response>();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const one = {
        eventId: request.headers.get("x-webhook-id") ?? "",
        body: await request.text(),
        headers: request.headers,
        at: performance.now(),
      };
      arrived.push(one);
      return await Promise.race([answer(one), closing.promise]);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/hook`,
    arrived,
    [Symbol.asyncDispose]: async () => {
      closing.resolve(new Response(null, { status: 503 }));
      await server.shutdown();
    },
  };
}

/** Deliveries on a database; not started. */
export function openWebhooks(sql: Sql, deps: Partial<WebhookDeps> = {}): Webhooks {
  return new Webhooks({
    outbox: createOutbox(sql),
    sender: createSender({ rules: { allowLoopback: true } }),
    now: () => Date.now(),
    random: () => 0,
    crashPoint: () => {},
    pollMs: 50,
    drainMs: 200,
    ...deps,
  });
}

/** An event's id of a time, as it would have been made then. */
function idAt(time: Date): string {
  const digits = time.getTime().toString(16).padStart(12, "0");
  return `evt_${digits.slice(0, 8)}-${digits.slice(8)}${newId("evt").slice("evt_".length + 13)}`;
}

/** Inserts an event; answers its id. */
export async function addEvent(
  sql: AnySql,
  merchantId: string,
  fields: {
    readonly paymentId?: string;
    readonly status?: "PENDING" | "FAILED" | "SKIPPED";
    readonly attempts?: number;
    readonly claimedUntil?: Date;
    readonly createdAt?: Date;
  } = {},
): Promise<string> {
  const id = fields.createdAt === undefined ? newId("evt") : idAt(fields.createdAt);
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, attempts, claimed_until, created_at)
    VALUES (${id}, ${merchantId}, ${fields.paymentId ?? newId("dep")}, 'deposit.confirmed',
      ${JSON.stringify({ type: "deposit", eventId: id })}, ${fields.status ?? "PENDING"},
      ${fields.attempts ?? 0}, ${fields.claimedUntil ?? null}, ${fields.createdAt ?? new Date()})`;
  return id;
}

/** State of an event in the outbox. */
export async function eventState(sql: Sql, id: string) {
  const [row] = await sql<{
    status: string;
    attempts: number;
    last_outcome: string | null;
    claimed_until: Date | null;
  }[]>`SELECT status, attempts, last_outcome, claimed_until FROM book.outbox WHERE id = ${id}`;
  if (row === undefined) throw new Error(`Cannot find an event: ${id}`);
  return row;
}
