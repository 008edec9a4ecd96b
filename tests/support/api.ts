/**
 * The interface as merchants meet it: real HTTP, real PostgreSQL, the real journal.
 *
 * @module
 */

import { AddressGuard } from "../../actors/addresses/address_guard.ts";
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Registry } from "prom-client";
import type { Journal } from "../../actors/journal/journal.ts";
import type { Merchants } from "../../actors/merchant/merchants.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { hashApiKey, mintApiKey } from "../../api/http/key_ring.ts";
import { createApi } from "../../api/app.ts";
import { ChangePlaces } from "../../api/http/change_places.ts";
import { ClaimPlaces } from "../../api/http/claim_places.ts";
import { openPagePlaces, openRedeliveryPlaces } from "../../app/health/pools.ts";
import type { Bindings } from "../../api/http/serve.ts";
import type { ApiDeps } from "../../api/http/context.ts";
import { createSessionTokens } from "../../api/http/session_token.ts";
import { addressFromLogHex, addressToLogHex, tronAddress } from "../../chains/tron/address.ts";
import type { BlockAnswer } from "../../chains/chain.ts";
import { transactionIdOn } from "../../chains/families.ts";
import { tronTransactionId } from "../../chains/tron/transaction_id.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { Liquidity } from "../../actors/merchant/state.ts";
import { fixedRates } from "../../rates/fixed_rates.ts";
import { createSecretBox } from "../../webhooks/secret_box.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import { createSender } from "../../webhooks/sender.ts";
import { addMerchant, amount, emptyFeeBoard, fund, openJournal } from "./books.ts";
import { type TestDatabase, testDatabase } from "./database.ts";
import { responseFaults } from "./documented.ts";
import { DATABASE, testNeeding } from "./permissions.ts";

/** Key of the signatures of upstream systems in these tests. */
export const INGEST_SECRET = "the key of upstream systems, in tests";

/** Key of the callback secrets in these tests. */
export const CALLBACK_SECRETS_KEY = "the key of callback secrets, in tests";

/** The address payouts leave from in these tests. */
export const HOT_WALLET = addressOf(0xffff);

/** A well-formed TRON address for a number. */
export function addressOf(number: number): string {
  return addressFromLogHex(`a1${number.toString(16).padStart(38, "0")}`);
}

/** A chain on which nothing has happened. */
export const EMPTY_CHAIN = {
  address: tronAddress,
  addressOf: addressFromLogHex,
  eventAddress: addressToLogHex,
  transactionId: tronTransactionId,
  transaction: (txid: string) => Promise.resolve({ kind: "missing" as const, txid }),
  async *blocks(): AsyncGenerator<BlockAnswer> {},
  balanceOf: () => Promise.resolve(ZERO),
  capabilities: {
    currencies: ["USDT" as const],
    life: { kind: "expires" as const, ticks: 60_000, ms: 60_000 },
    sweepsAtOnce: 1,
    blockMs: 3_000,
  },
  hotWallet: HOT_WALLET,
  deriveAddress: (index: number) => addressOf(0x10000 + index),
};

/** Rights of a key in a test. */
export interface KeyOptions {
  readonly permissions?: readonly string[];
  readonly role?: "MERCHANT" | "RESELLER" | "ADMIN";
  readonly expiresAt?: Date;
  readonly ipAllowlist?: readonly string[];
  readonly environment?: "development" | "staging" | "production";
}

/** One request. */
export interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  /** Sent as it is instead of `body`. */
  readonly raw?: BodyInit;
  readonly headers?: Record<string, string>;
}

/** One answer, read. */
export interface Called {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests look into whatever was answered
  readonly body: any;
}

/** A running interface. */
export interface TestApi extends AsyncDisposable {
  readonly url: string;
  /** Connection string of its database. */
  readonly databaseUrl: string;
  readonly sql: Sql;
  readonly journal: Journal;
  call(method: string, path: string, options?: CallOptions): Promise<Called>;
  /** A GET that is there at once, as the streams of one connection may be. */
  get(path: string): Promise<Response>;
  /** Asks the application itself, with what a server would give it. */
  answer(request: Request, bindings: Bindings): Promise<Response>;
  /** Inserts a key; `merchantId` null for an administrator's. */
  addKey(merchantId: string | null, options?: KeyOptions): Promise<string>;
  /** A new active merchant, its full key and, where asked, its money. */
  addMerchant(funds?: string): Promise<{ readonly id: string; readonly key: string }>;
}

/** Starts an interface; `overrides` replace single ports. */
export async function testApi(
  overrides: Partial<ApiDeps> & {
    readonly merchantsOf?: (journal: Journal) => Merchants;
    readonly liquidity?: Liquidity;
    /** Closed with the interface; default one on the shared server. */
    readonly database?: TestDatabase;
  } = {},
): Promise<TestApi> {
  const { merchantsOf, liquidity, database = await testDatabase({ max: 8 }), ...deps } = overrides;
  const { sql } = database;
  const journal = openJournal(sql, liquidity === undefined ? {} : { liquidity });
  const sender = createSender({ rules: { allowLoopback: true } });
  let nextAddress = 1;
  const api = createApi({
    merchants: merchantsOf?.(journal) ?? journal,
    sql,
    chains: new Map<Network, ApiDeps["chains"] extends ReadonlyMap<Network, infer C> ? C : never>([
      ["TRX", EMPTY_CHAIN],
      ["TRX_SHASTA", EMPTY_CHAIN],
    ]),
    transactionIdOn,
    addressBook: {
      take: async (network, merchantId) => {
        const index = nextAddress++;
        const fresh = { addressId: newId("adr"), address: addressOf(index), index };
        await sql`
          INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
          VALUES (${fresh.address}, ${network}, ${merchantId}, ${fresh.addressId}, ${index})`;
        return fresh;
      },
    },
    addresses: new AddressGuard({ derive: (_, index) => addressOf(index) }),
    fees: emptyFeeBoard(),
    treasury: () => ({ policy: null, status: null }),
    payoutsOpen: () => true,
    rates: fixedRates(() => Date.now()),
    changePlaces: new ChangePlaces(),
    claimPlaces: new ClaimPlaces(),
    pagePlaces: openPagePlaces(sql),
    redeliveryPlaces: openRedeliveryPlaces(sql),
    sessionTokens: createSessionTokens("a secret of the tests, long enough"),
    ingestSecret: INGEST_SECRET,
    duties: { fourEyes: "keys", aloneUpTo: amount("100000") },
    clock: () => Date.now(),
    newId,
    environment: "development",
    publicUrl: "http://localhost",
    trustedProxies: [],
    askTimeoutMs: 30_000,
    registry: new Registry(),
    readiness: () => Promise.resolve({ status: "ok", reasons: [] }),
    urlRules: { allowLoopback: true },
    names: new NameLookups(),
    callbackSecrets: await createSecretBox(CALLBACK_SECRETS_KEY),
    webhookSender: sender,
    wakeWebhooks: () => {},
    ...deps,
  });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request, info) => api.fetch(request, { remoteAddr: info.remoteAddr }),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;

  async function addKey(merchantId: string | null, options: KeyOptions = {}): Promise<string> {
    const key = mintApiKey(options.environment ?? "development");
    await sql`
      INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, ip_allowlist, expires_at, created_at)
      VALUES (${newId("key")}, ${Buffer.from(hashApiKey(key), "hex")}, ${merchantId},
        ${options.role ?? (merchantId === null ? "ADMIN" : "MERCHANT")},
        ${[...options.permissions ?? ["read", "write", "payout"]]}, 'test',
        ${options.ipAllowlist === undefined ? null : [...options.ipAllowlist]},
        ${options.expiresAt ?? null}, now())`;
    return key;
  }

  return {
    url,
    databaseUrl: database.url,
    sql,
    journal,
    addKey,
    answer: async (request, bindings) => await api.fetch(request, bindings),
    get: async (path) =>
      await api.fetch(new Request(url + path, { headers: { host: "localhost" } })),
    call: async (method, path, options = {}) => {
      const hasBody = options.raw !== undefined || options.body !== undefined;
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(options.key === undefined ? {} : { authorization: options.key }),
          ...(hasBody ? { "content-type": "application/json" } : {}),
          ...options.headers,
        },
        ...(hasBody ? { body: options.raw ?? JSON.stringify(options.body) } : {}),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      const called = {
        status: response.status,
        headers: response.headers,
        body: isJson && text !== "" ? JSON.parse(text) : text,
      };
      // Whatever a test asks for, what it is answered must be documented.
      assertEquals(responseFaults(method, path, called), [], `${method} ${path}`);
      return called;
    },
    addMerchant: async (funds) => {
      const id = await addMerchant(sql);
      if (funds !== undefined) await fund(sql, journal, id, funds);
      return { id, key: await addKey(id) };
    },
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      sender.close();
      await journal.stop(2_000);
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A test that is given an interface. */
type ApiTest = (api: TestApi, t: Deno.TestContext) => Promise<void>;

/**
 * Declares tests that share one interface and its database: those of a file that change no setting
 * and count nothing but what they made. They run one after the other, as steps of one test.
 *
 * @param name of the group
 */
export function testsOfOneApi(name: string): (name: string, body: ApiTest) => void {
  const tests: { readonly name: string; readonly body: ApiTest }[] = [];
  testNeeding(DATABASE)(name, async (t) => {
    await using api = await testApi();
    for (const { name, body } of tests) await t.step(name, (step) => body(api, step));
  });
  return (name, body) => void tests.push({ name, body });
}
