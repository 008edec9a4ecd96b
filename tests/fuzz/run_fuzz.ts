/**
 * Hostile requests against the real service: over every route of the reference with every kind of
 * key, and over bare connections.
 *
 * @module
 */

import { responseFaults } from "../support/documented.ts";
import { withService } from "../support/service.ts";
import { type Actor, type Cast, makeCast } from "./cast.ts";
import { Draw } from "./draw.ts";
import { type GeneratedRequest, generatedRequest, INGEST_SECRET } from "./generated_request.ts";
import type { FuzzOptions } from "./options.ts";
import { rawFault, rawMessage } from "./raw_message.ts";

/** Bound of one answer; every route has shorter bounds of its own. */
const ANSWER_MS = 60_000;
/** Requests after which everybody is made anew. */
const ACT = 500;
/** Share of messages over bare connections. */
const RAW = 0.03;
/** Faults after which a run ends: more of them say nothing new. */
const ENOUGH = 50;

/** Findings of a run. */
export interface FuzzFound {
  readonly statuses: ReadonlyMap<number, number>;
  readonly raw: number;
  readonly faults: readonly string[];
}

/** Sends so many requests and judges every answer. @param note is called with how it goes */
export async function runFuzz(
  { seed, requests, clients }: FuzzOptions,
  note: (text: string) => void,
): Promise<FuzzFound> {
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  let raw = 0;
  await withService(async (service) => {
    await service.start();
    const { baseUrl } = service.credentials;
    const { host, port } = new URL(baseUrl);
    const { pid } = service;
    let sent = 0;
    const one = async (draw: Draw, cast: Cast) => {
      if (draw.chance(RAW)) {
        raw++;
        const fault = await rawFault(Number(port), rawMessage(draw, host));
        if (fault !== null) faults.push(fault);
        return;
      }
      const request = generatedRequest(draw, cast.known);
      const actor = actorFor(request, cast, draw);
      const { status, fault, body } = await answerTo(baseUrl, actor, request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (fault !== null) faults.push(fault);
      cast.learn(body);
    };
    while (sent < requests && faults.length < ENOUGH) {
      const cast = await makeCast(service);
      const end = Math.min(sent + ACT, requests);
      await Promise.all(Array.from({ length: clients }, async () => {
        while (sent < end && faults.length < ENOUGH) {
          await one(new Draw(seed * 1_000_003 + sent++), cast);
        }
      }));
      note(`${sent} of ${requests} requests, ${faults.length} faults`);
    }
    faults.push(...await faultsAfterwards(baseUrl, service.log));
    if (service.pid !== pid) faults.push("the service was started again");
  }, {
    env: {
      DEV_CHAIN_BLOCK_MS: "1000",
      LOG_LEVEL: "error",
      TRUSTED_PROXIES: "127.0.0.1",
      INGEST_SECRET,
    },
  });
  return { statuses, raw, faults };
}

/** Mostly one who may ask that, so that most requests get past the door. */
function actorFor({ operation }: GeneratedRequest, cast: Cast, draw: Draw): Actor {
  if (draw.chance(0.2)) return draw.of(cast.others);
  const isStaff = /admin|resellers|webhook\/event/.test(operation.template);
  return isStaff || draw.chance(0.1) ? cast.administrator : cast.merchant;
}

async function answerTo(
  baseUrl: string,
  actor: Actor,
  request: GeneratedRequest,
): Promise<{ readonly status: number; readonly fault: string | null; readonly body: unknown }> {
  const { method, path, headers, body, isAllowed } = request;
  const told = `${actor.name}: ${method} ${path} ${JSON.stringify(body)?.slice(0, 600)}`;
  const wrong = (status: number, text: string) => ({
    status,
    fault: `${told}: ${text}`,
    body: null,
  });
  let response: Response;
  let text: string;
  try {
    response = await fetch(baseUrl + path, {
      method,
      headers: { ...headers, ...(actor.apiKey === null ? {} : { authorization: actor.apiKey }) },
      ...(body === null ? {} : { body }),
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    text = await response.text();
  } catch (error) {
    return wrong(0, `no answer: ${error}`);
  }
  const { status } = response;
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const answer: unknown = isJson && text !== "" ? JSON.parse(text) : text;
  if (status >= 500 && status !== 503) return wrong(status, `${status} ${text.slice(0, 300)}`);
  if (status === 503 && response.headers.get("retry-after") === null) {
    return wrong(status, "503 without Retry-After");
  }
  // the answer to HEAD is the head alone
  const undocumented = method === "HEAD" ? [] : responseFaults(method, path, {
    status,
    headers: response.headers,
    body: answer,
  });
  if (undocumented.length > 0) {
    return wrong(status, `${undocumented.join("; ").slice(0, 600)}: ${text.slice(0, 300)}`);
  }
  if (status < 300 && isAllowed === false && method === request.operation.method) {
    return wrong(status, `${status}, although the reference does not allow this body`);
  }
  return { status, fault: null, body: answer };
}

/** The service serves, and has met no message that broke an assumption. */
async function faultsAfterwards(baseUrl: string, log: () => Promise<string>): Promise<string[]> {
  const health = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
  await health.body?.cancel();
  // what waits for a closed pair is quarantined as well, and is no fault
  const broken = (await log()).split("\n").filter((line) =>
    /\[ERR\].*(?:broke an assumption|cannot be carried out)/.test(line)
  );
  return [
    ...(health.status === 200 ? [] : [`/healthz answers ${health.status}`]),
    ...broken.slice(0, 20),
  ];
}
