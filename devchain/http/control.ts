/**
 * Control requests of every development chain: who may make them, how their bodies are read and their
 * failures answered. Bad input is status 400 with `{error}`.
 *
 * @module
 */

import { MalformedFault } from "../faults.ts";

/** A request that cannot be carried out. */
export class BadRequest extends Error {
  override readonly name = "BadRequest";
}

/** The fields of a request. */
export type Body = ReadonlyMap<string, unknown>;

/** The most blocks that one request makes. */
export const MAX_MINED = 10_000;
export const DAY_MS = 24 * 60 * 60 * 1000;
const LOOPBACK = new Set(["127.0.0.1", "::1"]);

/** The answer to a client that is not on this machine, null for one that is. */
export function controlRefusal(peer: string): Response | null {
  return LOOPBACK.has(peer) ? null : reply({ error: "Control is for this machine only" }, 403);
}

/**
 * Carries one command out.
 *
 * @param command undefined where the path is none
 * @param isRefusal true for errors that say why it cannot be done, besides those of the body
 */
export async function runCommand(
  request: Request,
  path: string,
  command: ((body: Body) => unknown) | undefined,
  isRefusal: (error: unknown) => boolean,
): Promise<Response> {
  if (command === undefined) return reply({ error: `No such control: ${path}` }, 404);
  if (request.method !== "POST") return reply({ error: "Use POST" }, 405);
  try {
    return reply(await command(await readBody(request)));
  } catch (error) {
    const expected = error instanceof BadRequest || error instanceof MalformedFault ||
      isRefusal(error);
    if (!expected || !(error instanceof Error)) throw error;
    return reply({ error: error.message }, 400);
  }
}

/** A boolean, false where absent. @throws {BadRequest} */
export function flagIn(body: Body, name: string): boolean {
  const value = body.get(name) ?? false;
  if (typeof value === "boolean") return value;
  throw new BadRequest(`${name} must be true or false: ${value}`);
}

/** A whole number, null where absent. @throws {BadRequest} */
export function wholeIn(body: Body, name: string, least: number, most: number): number | null {
  const value = body.get(name);
  if (value === undefined || value === null) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) {
    return value;
  }
  throw new BadRequest(`${name} must be a whole number from ${least} to ${most}: ${value}`);
}

/** A 256-bit number as decimal text. @throws {BadRequest} */
export function wordIn(body: Body, name: string, otherwise?: string): string {
  const text = String(body.get(name) ?? otherwise ?? "");
  if (/^\d{1,78}$/.test(text) && BigInt(text) < 1n << 256n) return BigInt(text).toString();
  throw new BadRequest(`${name} must be a whole number as text: ${text}`);
}

/** `amount` as a count of the smallest unit. @throws {BadRequest} when it has more decimals than the token */
export function unitsIn(body: Body, decimals: number): bigint {
  const text = String(body.get("amount") ?? "");
  const match = /^(\d{1,30})(?:\.(\d+))?$/.exec(text);
  const fraction = match?.[2] ?? "";
  if (match === null || fraction.length > decimals) {
    throw new BadRequest(`amount must be a decimal with at most ${decimals} decimals: ${text}`);
  }
  return BigInt(`${match[1]}${fraction.padEnd(decimals, "0")}`);
}

async function readBody(request: Request): Promise<Body> {
  const text = await request.text();
  if (text.trim() === "") return new Map();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new BadRequest("the body must be JSON");
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new BadRequest("the body must be a JSON object");
  }
  return new Map(Object.entries(json));
}

/** An answer in JSON. */
export function reply(json: unknown, status = 200): Response {
  return Response.json(json, { status });
}
