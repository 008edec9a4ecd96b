/**
 * JSON-RPC over HTTP: one call or a batch by POST, with the faults of a server in front of a node.
 *
 * @module
 */

import type { Fault, Faults } from "../../faults.ts";
import { silence } from "../../http/silence.ts";
import type { RpcAnswer } from "../rpc.ts";
import type { Call, Methods } from "./methods.ts";

const MAX_BODY = 5 * 1024 * 1024;
const MAX_BATCH = 1_000;

/** Answers clients of the node. */
export class RpcApi {
  readonly #methods: Methods;
  readonly #faults: Faults;
  readonly #stopped: AbortSignal;

  /** @param stopped aborted when the server stops; ends silences */
  constructor(methods: Methods, faults: Faults, stopped: AbortSignal) {
    this.#methods = methods;
    this.#faults = faults;
    this.#stopped = stopped;
  }

  async answer(request: Request): Promise<Response> {
    if (request.method !== "POST") return new Response("method not allowed", { status: 405 });
    const text = await request.text();
    if (text.length > MAX_BODY) return new Response("content too large", { status: 413 });
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return Response.json(failure(-32_700, "parse error"));
    }
    const items: readonly unknown[] = Array.isArray(json) ? json : [json];
    if (items.length === 0) return Response.json(failure(-32_600, "empty batch"));
    if (items.length > MAX_BATCH) {
      return Response.json(failure(-32_600, "batch too large"));
    }
    const calls = items.map(readCall);
    const fault = this.#fire(calls);
    if (fault !== null && !fault.late) return await this.#fail(fault, request);
    const answers = await this.#answerAll(items, calls);
    if (fault !== null) return await this.#fail(fault, request);
    return Response.json(Array.isArray(json) ? answers : answers[0]);
  }

  async #answerAll(items: readonly unknown[], calls: readonly (Call | null)[]) {
    const known = calls.filter((call) => call !== null);
    const given = [...await this.#methods.answer(known)];
    return items.map((_, i) => {
      const call = calls[i] ?? null;
      if (call === null) return failure(-32_600, "invalid request");
      const answer: RpcAnswer = given.shift() ?? { result: null };
      return { jsonrpc: "2.0", id: call.id, ...answer };
    });
  }

  #fire(calls: readonly (Call | null)[]): Fault | null {
    for (const call of calls) {
      const fault = this.#faults.fire(call?.method ?? "", ["error-500", "busy-429", "timeout"]);
      if (fault !== null) return fault;
    }
    return null;
  }

  async #fail(fault: Fault, request: Request): Promise<Response> {
    switch (fault.kind) {
      case "busy-429":
        return Response.json(failure(-32_005, "rate limit exceeded"), {
          status: fault.status,
          headers: fault.status === 429 ? { "retry-after": "1" } : {},
        });
      case "timeout":
        await silence(AbortSignal.any([request.signal, this.#stopped]));
        return new Response(null, { status: 504 });
      default:
        return new Response("Internal Server Error", { status: 500 });
    }
  }
}

function readCall(json: unknown): Call | null {
  if (typeof json !== "object" || json === null) return null;
  const fields = new Map<string, unknown>(Object.entries(json));
  const method = fields.get("method");
  const params = fields.get("params") ?? [];
  if (typeof method !== "string" || !Array.isArray(params)) return null;
  return { id: fields.get("id") ?? null, method, params };
}

function failure(code: number, message: string): unknown {
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}
