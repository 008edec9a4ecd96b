/**
 * The administrator's side of the HTTP interface.
 *
 * @module
 */

import { z } from "zod";

/** Bound of one request. */
const REQUEST_MS = 30_000;

/** An object of the interface, whatever its fields. */
export const Fields = z.record(z.string(), z.unknown());
/** An object of the interface, whatever its fields. */
export type Fields = z.infer<typeof Fields>;

/** The service said no, or cannot be reached; the message is for the operator. */
export class Refused extends Error {}

/** Talks to the running service. */
export class Client {
  readonly #baseUrl: string;
  readonly #apiKey: string;

  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#apiKey = apiKey;
  }

  /**
   * Sends a request.
   *
   * @returns the answer's body
   * @throws {Refused} when it is not a success
   */
  async send(method: string, path: string, body?: Fields): Promise<Fields> {
    let response: Response;
    try {
      response = await fetch(this.#baseUrl + path, {
        method,
        headers: {
          authorization: this.#apiKey,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Refused(`Cannot reach the service: ${this.#baseUrl}: ${reason}`);
    }
    const answer = Fields.safeParse(await response.json().catch(() => null));
    if (!answer.success) {
      throw new Refused(`Cannot read the answer of ${this.#baseUrl}${path}: ${response.status}`);
    }
    if (!response.ok) throw new Refused(refusal(response, answer.data));
    return answer.data;
  }

  /** Every row of a paged list. */
  async list(path: string, name: string): Promise<readonly Fields[]> {
    const rows: Fields[] = [];
    for (let page = 1;; page++) {
      const separator = path.includes("?") ? "&" : "?";
      const answer = await this.send("GET", `${path}${separator}page=${page}&limit=100`);
      const found = z.array(Fields).parse(answer[name]);
      rows.push(...found);
      const { pages } = z.object({ pages: z.number() }).parse(answer.pagination);
      if (page >= pages || found.length === 0) return rows;
    }
  }
}

function refusal(response: Response, body: Fields): string {
  const { error, message, details } = body;
  const faults = z.array(z.object({ path: z.array(z.string()), message: z.string() }))
    .catch([]).parse(details).map((detail) => `\n  ${detail.path.join(".")}: ${detail.message}`);
  const text = typeof message === "string" ? `: ${message}` : "";
  const requestId = response.headers.get("x-request-id") ?? "";
  return `${response.status} ${String(error)}${text}${faults.join("")}  (${requestId})`;
}
