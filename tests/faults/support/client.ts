import { z } from "zod";
import { delay } from "../../../ledger/database/delay.ts";
import type { Mortal } from "./mortal.ts";
import { patience } from "./patience.ts";

/** An answer of the service. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Bound of what takes a second where no process dies, in stories of a service in a process of its own: a
 * slow machine is waited for, a hang is not.
 */
export const UNDISTURBED_MS = 180_000;
const REQUEST_MS = 30_000;

/**
 * Sends a request, once.
 *
 * @throws when no answer came: what became of the request is unknown then
 */
export async function send(
  url: string,
  method: string,
  body?: unknown,
  apiKey?: string,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: apiKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  return { status: response.status, body: await response.json() };
}

/**
 * Asks the service as a merchant until it answers: while it is away and while it says that it
 * cannot decide (5xx), the same request is sent again. Only for requests that may be repeated.
 */
export async function ask(
  service: Mortal,
  method: string,
  path: string,
  body?: unknown,
  apiKey?: string,
): Promise<Answer> {
  return await untilAnswered(() => {
    const { baseUrl, merchant } = service.credentials;
    return send(`${baseUrl}${path}`, method, body, apiKey ?? merchant.apiKey);
  });
}

/** Controls the development chain until it answers; only for what may be repeated. */
export async function control(service: Mortal, path: string, body: unknown): Promise<Answer> {
  return await untilAnswered(() =>
    send(`${service.credentials.chains.TRX.url}${path}`, "POST", body)
  );
}

async function untilAnswered(attempt: () => Promise<Answer>): Promise<Answer> {
  const isOver = deadline();
  for (;;) {
    try {
      const answer = await attempt();
      if (answer.status < 500 || isOver()) return answer;
    } catch (error) {
      if (isOver()) throw error;
    }
    await delay(50);
  }
}

/** Tells whether the patience that begins now is over: a service may die and start again meanwhile. */
function deadline(boundMs?: number): () => boolean {
  const began = Date.now();
  const { waitMs, since } = patience();
  if (boundMs !== undefined) return () => Date.now() > began + Math.min(boundMs, waitMs);
  return () => Date.now() > Math.max(began, since()) + waitMs;
}

/**
 * Waits until a condition gives something; it may fail meanwhile, as the service may be away.
 *
 * @param boundMs default: what the patience of the story gives; more than that is never waited
 * @throws when it did not
 */
export async function eventually<T>(
  what: string,
  condition: () => Promise<T | null | undefined | false>,
  boundMs?: number,
): Promise<T> {
  const isOver = deadline(boundMs);
  let last: unknown = "it did not come true";
  for (;;) {
    try {
      const value = await condition();
      if (value !== null && value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    if (isOver()) throw new Error(`Cannot go on without: ${what}`, { cause: last });
    await delay(20);
  }
}

/** Reads an answer that must have a status. */
export function expectBody<S extends z.ZodType>(
  schema: S,
  answer: Answer,
  ...statuses: readonly number[]
): z.output<S> {
  if (!statuses.includes(answer.status)) {
    throw new Error(
      `Cannot use the answer as it is ${answer.status}: ${JSON.stringify(answer.body)}`,
    );
  }
  return schema.parse(answer.body);
}
