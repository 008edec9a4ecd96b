/**
 * The administrator's side of the HTTP interface.
 *
 * @module
 */

import { z } from "zod";
import { type Env, type Output, Refused, type Verb } from "../command.ts";

/** Bound of one request. */
const REQUEST_MS = 30_000;

/** An object of the interface, whatever its fields. */
export const Fields = z.record(z.string(), z.unknown());
/** An object of the interface, whatever its fields. */
export type Fields = z.infer<typeof Fields>;

/** Parameters of a query; those without a value are left out. */
type Query = Readonly<Record<string, string | undefined>>;

/** An administrator's verbs need these. */
export interface AdminContext {
  readonly env: Env;
  readonly out: Output;
  /** Talks to the running service. */
  readonly client: Client;
}

/** A verb of `deno task admin`. */
export type AdminVerb = Verb<AdminContext>;

/** Declares a verb. */
export function verb(usage: string, help: string, run: AdminVerb["run"]): AdminVerb {
  return { usage, help, run };
}

/** Address of the service and an administrator's key. */
export interface Access {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Talks to the running service. */
export class Client {
  readonly #access: () => Promise<Access>;

  /** @param access asked before each request; throws {@linkcode Refused} where it is not known */
  constructor(access: () => Promise<Access>) {
    this.#access = access;
  }

  /**
   * Sends a request.
   *
   * @param headers beside those of every request
   * @returns the answer's body
   * @throws {Refused} when it is not a success
   */
  async send(
    method: string,
    path: string,
    body?: Fields,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Fields> {
    const access = await this.#access();
    const baseUrl = access.baseUrl.replace(/\/+$/, "");
    let response: Response;
    try {
      response = await fetch(baseUrl + path, {
        method,
        headers: {
          ...headers,
          authorization: access.apiKey,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Refused(`Cannot reach the service: ${baseUrl}: ${reason}`);
    }
    const answer = Fields.safeParse(await response.json().catch(() => null));
    if (!answer.success) {
      throw new Refused(`Cannot read the answer of ${baseUrl}${path}: ${response.status}`);
    }
    if (!response.ok) throw new Refused(refusal(response, answer.data));
    return answer.data;
  }

  /** Sends a command; fields without a value are left out of its body. */
  async post(path: string, body?: Fields): Promise<Fields> {
    return await this.send("POST", path, body);
  }

  /** Rows that are not paged. */
  async rows(path: string, name: string, query: Query = {}): Promise<readonly Fields[]> {
    const answer = await this.send("GET", withQuery(path, query));
    return z.array(Fields).parse(answer[name]);
  }

  /** Every row of a paged list. */
  async list(path: string, name: string, query: Query = {}): Promise<readonly Fields[]> {
    const rows: Fields[] = [];
    for (let page = 1;; page++) {
      const paged = { ...query, page: String(page), limit: "100" };
      const answer = await this.send("GET", withQuery(path, paged));
      const found = z.array(Fields).parse(answer[name]);
      rows.push(...found);
      const { pages } = z.object({ pages: z.number() }).parse(answer.pagination);
      if (page >= pages || found.length === 0) return rows;
    }
  }
}

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]]
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

function refusal(response: Response, body: Fields): string {
  const { error, message, details } = body;
  const faults = z.array(z.object({ path: z.array(z.string()), message: z.string() }))
    .catch([]).parse(details).map((detail) => `\n  ${detail.path.join(".")}: ${detail.message}`);
  const text = typeof message === "string" ? `: ${message}` : "";
  const requestId = response.headers.get("x-request-id") ?? "";
  return `${response.status} ${String(error)}${text}${faults.join("")}  (${requestId})`;
}

/** An argument as a part of a path. */
export function segment(text = ""): string {
  return encodeURIComponent(text);
}
