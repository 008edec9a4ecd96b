/**
 * The TRON full-node HTTP interface: `/wallet/*` sees the head, `/walletsolidity/*` the solid
 * block. Failures look as java-tron's: status 200 with `{"Error": ...}`, Jetty pages for paths and
 * methods that do not exist.
 *
 * @module
 */

import { isHexAddress, toBase58 } from "../address.ts";
import type { ChainNode } from "../chain_node.ts";
import type { Fault, Faults } from "../faults.ts";
import { ACCOUNT_ROUTES } from "./account_routes.ts";
import { BLOCK_ROUTES } from "./block_routes.ts";
import { BROADCAST_ROUTES } from "./broadcast_routes.ts";
import { BUILD_ROUTES } from "./build_routes.ts";
import { CONTRACT_ROUTES } from "./contract_routes.ts";
import { NETWORK_ROUTES } from "./network_routes.ts";
import { Provider } from "./provider.ts";
import { type Answer, NodeError, Params, type Route } from "./route.ts";
import { silence } from "./silence.ts";
import { TRANSACTION_ROUTES } from "./transaction_routes.ts";

/** Fields whose text is hex of UTF-8 (java-tron, HttpSelfFormatFieldName, name fields). */
const TEXT_FIELDS = new Set(["message", "resMessage"]);
/** Numbers that are not int64. */
const SMALL_NUMBERS = new Set(["version", "Permission_id", "code", "witness_id"]);

/**
 * Addresses become base58, messages text; a log's address gets its `41` first.
 *
 * @param value JSON with addresses in hex
 */
function toVisible(value: unknown, field = ""): unknown {
  if (typeof value === "string") {
    if (TEXT_FIELDS.has(field)) return textOfHex(value);
    if (field === "topics" || field === "data" || field === "parameter") return value;
    if (isHexAddress(value)) return toBase58(value);
    if (field === "address" && /^[0-9a-f]{40}$/.test(value)) return toBase58("41" + value);
    return value;
  }
  if (Array.isArray(value)) return value.map((entry) => toVisible(entry, field));
  return mapObject(value, toVisible);
}

/** 64-bit numbers become texts. */
function numbersAsText(value: unknown, field = ""): unknown {
  if (typeof value === "number") return SMALL_NUMBERS.has(field) ? value : String(value);
  if (Array.isArray(value)) return value.map((entry) => numbersAsText(entry, field));
  return mapObject(value, numbersAsText);
}

function mapObject(value: unknown, map: (entry: unknown, field: string) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, entry]) => [field, map(entry, field)]),
  );
}

function textOfHex(hex: string): string {
  return /^([0-9a-f]{2})+$/.test(hex) ? new TextDecoder().decode(Uint8Array.fromHex(hex)) : hex;
}

const ROUTES: ReadonlyMap<string, Route> = new Map(
  Object.entries({
    ...ACCOUNT_ROUTES,
    ...BLOCK_ROUTES,
    ...BROADCAST_ROUTES,
    ...BUILD_ROUTES,
    ...CONTRACT_ROUTES,
    ...NETWORK_ROUTES,
    ...TRANSACTION_ROUTES,
  }),
);

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };
const MAX_BODY = 4 * 1024 * 1024;

/** Answers node requests. */
export class NodeApi {
  readonly #node: ChainNode;
  readonly #faults: Faults;
  readonly #stopped: AbortSignal;
  readonly #provider: Provider;

  /** @param stopped aborted when the server stops; ends silences */
  constructor(node: ChainNode, faults: Faults, stopped: AbortSignal) {
    this.#node = node;
    this.#faults = faults;
    this.#stopped = stopped;
    this.#provider = new Provider(faults);
  }

  async answer(request: Request, url: URL): Promise<Response> {
    const [, root, name = "", ...more] = url.pathname.split("/");
    const route = more.length > 0 ? undefined : ROUTES.get(name.toLowerCase());
    const view = root === "walletsolidity" ? "solid" : "head";
    const known = root === "wallet" || (root === "walletsolidity" && route?.solidity === true);
    const refusal = this.#provider.refusal(url.pathname);
    if (refusal !== null) return refusal;
    const fault = this.#faults.fire(url.pathname, ["error-500", "busy-429", "timeout"]);
    if (fault !== null && !fault.late) return await this.#fail(fault, request);
    if (route === undefined || !known) return jettyPage(404, "Not Found", url.pathname);
    if (request.method !== "POST" && !(request.method === "GET" && route.get)) {
      return jettyPage(
        405,
        `HTTP method ${request.method} is not supported by this URL`,
        url.pathname,
      );
    }
    const response = await this.#run(route, view, request, url);
    return fault === null ? response : await this.#fail(fault, request);
  }

  async #run(
    route: Route,
    view: "head" | "solid",
    request: Request,
    url: URL,
  ): Promise<Response> {
    let answer: Answer;
    let visible = false;
    let asText = false;
    try {
      const params = request.method === "GET"
        ? Params.ofSearch(url.searchParams)
        : Params.ofBody(await readBody(request));
      visible = params.visible;
      asText = params.flag("int64_as_string");
      answer = route.answer({
        node: this.#node,
        params,
        view,
        behind: this.#provider.behind(url.pathname),
        fire: (kinds) => this.#faults.fire(url.pathname, kinds),
      });
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      answer = { json: { Error: `class ${error.exception} : ${error.message}` } };
    }
    if ("bytes" in answer && !visible && !asText) {
      return new Response(answer.bytes, { headers: JSON_HEADERS });
    }
    let json: unknown = "bytes" in answer
      ? JSON.parse(new TextDecoder().decode(answer.bytes))
      : answer.json;
    if (visible) json = toVisible(json);
    if (asText) json = numbersAsText(json);
    return new Response(JSON.stringify(json), { headers: JSON_HEADERS });
  }

  async #fail(fault: Fault, request: Request): Promise<Response> {
    switch (fault.kind) {
      case "busy-429":
        return new Response('{"Error":"request rate exceeded the allowed_rps"}', {
          status: fault.status,
          // only this one says for how long
          headers: { ...JSON_HEADERS, ...(fault.status === 429 ? { "retry-after": "1" } : {}) },
        });
      case "timeout":
        await silence(AbortSignal.any([request.signal, this.#stopped]));
        return new Response(null, { status: 504 });
      default:
        return jettyPage(500, "Server Error", new URL(request.url).pathname);
    }
  }
}

async function readBody(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY) {
    throw new NodeError("java.lang.Exception", `body size is too big, the limit is ${MAX_BODY}`);
  }
  const body = await request.text();
  if (body.length <= MAX_BODY) return body;
  throw new NodeError("java.lang.Exception", `body size is too big, the limit is ${MAX_BODY}`);
}

function jettyPage(status: number, reason: string, path: string): Response {
  const shown = path.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const body =
    `<html>\n<head>\n<meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>\n` +
    `<title>Error ${status} ${reason}</title>\n</head>\n<body><h2>HTTP ERROR ${status}</h2>\n` +
    `<p>Problem accessing ${shown}. Reason:\n<pre>    ${reason}</pre></p></body>\n</html>\n`;
  return new Response(body, { status, headers: { "content-type": "text/html;charset=utf-8" } });
}
