/**
 * Everybody who sends requests: each kind of key, made anew again and again, as requests may end keys,
 * suspend merchants and close pairs.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { z } from "zod";
import { newId } from "../../actors/runtime/ids.ts";
import { hashApiKey, mintApiKey } from "../../api/http/key_ring.ts";
import { PERMISSIONS } from "../../api/http/permission.ts";
import { control, send } from "../faults/support/client.ts";
import type { Service } from "../support/service.ts";
import type { Draw } from "./draw.ts";
import type { Known } from "./generated_value.ts";

/** Funds of each merchant, in USDT. */
const FUNDS = "100000";
/** Texts that are kept for each name. */
const KEPT = 60;

/** Names of fields whose values other requests name. */
const TELLING =
  /(?:^id|Id|^address|currency$|network$|destinationNetwork$|Address|destination|[tT]oken|txid|txHash|identifier|referenceId|^key)$/;

/** A key and whose it is. */
export interface Actor {
  readonly name: string;
  /** Null: none is sent. */
  readonly apiKey: string | null;
}

/** Everybody, and what answers have told. */
export interface Cast {
  readonly merchant: Actor;
  readonly administrator: Actor;
  /** Callers with fewer rights, and callers without a valid key. */
  readonly others: readonly Actor[];
  readonly known: Known;
  /** Remembers ids and tokens of an answer. */
  learn(body: unknown): void;
}

/** Makes two merchants with money and every kind of key. */
export async function makeCast(service: Service): Promise<Cast> {
  const { baseUrl, chains } = service.credentials;
  const { sql } = service;
  const addKey = async (
    merchantId: string | null,
    role: string,
    permissions: readonly string[],
  ) => {
    const key = mintApiKey("development");
    await sql`
      INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, ip_allowlist, expires_at, created_at)
      VALUES (${newId("key")}, ${Buffer.from(hashApiKey(key), "hex")}, ${merchantId}, ${role},
        ${[...permissions]}, 'hostile requests', NULL, NULL, now())`;
    return key;
  };
  const root = await addKey(null, "ADMIN", PERMISSIONS);
  const call = async (method: string, path: string, body: object, key = root) => {
    const { status, body: answer } = await send(`${baseUrl}${path}`, method, body, key);
    if (status >= 300) {
      throw new Error(
        `Cannot go on as ${method} ${path} answers ${status}: ${JSON.stringify(answer)}`,
      );
    }
    return answer;
  };
  await call("PUT", "/api/admin/pairs", {
    currency: "USDT",
    network: "TRX",
    depositsEnabled: true,
    withdrawalsEnabled: true,
    minWithdrawal: "1",
    networkFee: "1",
    networkFeeMode: "fixed",
  });
  const merchants: string[] = [];
  for (const name of ["First", "Second"]) {
    const { id } = z.object({ id: z.string() }).parse(
      await call("POST", "/api/admin/merchants", { name }),
    );
    const unlimited = { balance: 0, deposits: 0, withdrawals: 0, transactions: 0, webhooks: 0 };
    await call("PATCH", `/api/merchants/${id}`, { rateLimits: unlimited });
    merchants.push(id);
  }
  const [first = "", second = ""] = merchants;
  const writer = await addKey(first, "MERCHANT", ["read", "write", "payout"]);
  const body = { network: "TRX", identifier: "start" };
  const issued = z.object({ address: z.string() })
    .parse(await call("POST", "/api/deposit-address", body, writer));
  await control(service, "/dev/transfer", { to: issued.address, amount: FUNDS, currency: "USDT" });
  const known = new KnownTexts([
    ["currency", "USDT"],
    ["network", "TRX"],
    ["destinationNetwork", "TRX"],
    ["destination", chains.TRX.faucetAddress],
    ["address", issued.address],
  ]);
  for (const merchant of merchants) known.add("merchantId", merchant);
  return {
    merchant: { name: "merchant", apiKey: writer },
    administrator: {
      name: "administrator",
      apiKey: await addKey(null, "ADMIN", PERMISSIONS),
    },
    others: [
      { name: "reader", apiKey: await addKey(first, "MERCHANT", ["read"]) },
      {
        name: "another merchant",
        apiKey: await addKey(second, "RESELLER", ["read", "write", "payout"]),
      },
      { name: "no key", apiKey: null },
      { name: "unknown key", apiKey: mintApiKey("development") },
    ],
    known,
    learn: (answer) => known.learn("", answer, 0),
  };
}

/** Texts by the name of their field, the newest of each name. */
class KnownTexts implements Known {
  readonly #texts = new Map<string, string[]>();

  constructor(entries: readonly (readonly [string, string])[]) {
    for (const [name, text] of entries) this.add(name, text);
  }

  take(name: string, draw: Draw): string | null {
    // what a path calls `withdrawalId` or `token` is `id` or `sessionToken` in an answer
    const lists = [name, "id", ...(/token/i.test(name) ? ["sessionToken"] : [])]
      .flatMap((one) => this.#texts.get(one) ?? []);
    return lists.length === 0 || !TELLING.test(name) ? null : draw.of(lists);
  }

  add(name: string, text: string): void {
    const list = this.#texts.get(name) ?? [];
    list.push(text);
    if (list.length > KEPT) list.shift();
    this.#texts.set(name, list);
  }

  learn(name: string, value: unknown, depth: number): void {
    if (depth > 6) return;
    if (typeof value === "string") {
      if (TELLING.test(name) && value.length <= 200) this.add(name, value);
    } else if (Array.isArray(value)) {
      for (const item of value.slice(0, 5)) this.learn(name, item, depth + 1);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) this.learn(key, inner, depth + 1);
    }
  }
}
