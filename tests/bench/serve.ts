/**
 * A serving process of the bench: the service's own HTTP interface on a real database, with the
 * journal or a baseline behind it. Chains are not asked anything: an address is checked by TRON's
 * own rule, nothing is signed, and no events are delivered.
 *
 *     deno run serve.ts '{"side":"journal","databaseUrl":"postgres://...","pool":10}'
 *
 * @module
 */

import process from "node:process";
import { Counter, Registry } from "prom-client";
import { Journal } from "../../actors/journal/journal.ts";
import type { Merchants } from "../../actors/merchant/merchants.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { createApi } from "../../api/app.ts";
import { ChangePlaces } from "../../api/http/change_places.ts";
import { ClaimPlaces } from "../../api/http/claim_places.ts";
import { openPagePlaces, openRedeliveryPlaces } from "../../app/health/pools.ts";
import { serve } from "../../app/http/serve.ts";
import type { Bindings } from "../../api/http/serve.ts";
import { createSessionTokens } from "../../api/http/session_token.ts";
import { tronAddress } from "../../chains/tron/address.ts";
import type { BlockAnswer } from "../../chains/chain.ts";
import { transactionIdOn } from "../../chains/families.ts";
import { tronTransactionId } from "../../chains/tron/transaction_id.ts";
import { amountOf, ZERO } from "../../ledger/money/amount.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { fixedRates } from "../../rates/fixed_rates.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import { createSecretBox } from "../../webhooks/secret_box.ts";
import { emptyFeeBoard } from "../support/books.ts";
import { rowLockMerchants } from "./baseline/row_lock.ts";
import { storedFunctionMerchants } from "./baseline/stored_function.ts";
import { httpCeiling } from "./http_ceiling.ts";
import { showWarnings } from "./logging.ts";
import { HOT_WALLET } from "./seed.ts";
import type { Figures, ServeArgs, Serving } from "./side.ts";

const callbackSecrets = await createSecretBox("the key of callback secrets, in the bench");

/** As in the service. */
const READ_POOL = 10;
const JOURNAL_POOL = 4;

type Fetch = (request: Request, bindings: Bindings) => Response | Promise<Response>;

interface Program {
  readonly fetch: Fetch;
  created(): Promise<number>;
  batches(): number;
}

function withInterface(sql: Sql, merchants: Merchants, batches: () => number): Program {
  const registry = new Registry();
  const chain = {
    address: tronAddress,
    addressOf: (event: string) => event,
    eventAddress: (address: string) => address,
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
    deriveAddress: () => HOT_WALLET,
  };
  const api = createApi({
    merchants,
    sql,
    chains: new Map([["TRX", chain]]),
    transactionIdOn,
    addressBook: {
      take: () => Promise.reject(new Error("Cannot issue an address as this bench has no wallet")),
    },
    addresses: { clears: () => Promise.resolve("cleared") },
    fees: emptyFeeBoard(),
    treasury: () => ({ policy: null, status: null }),
    payoutsOpen: () => true,
    rates: fixedRates(() => Date.now()),
    changePlaces: new ChangePlaces(),
    claimPlaces: new ClaimPlaces(),
    pagePlaces: openPagePlaces(sql),
    redeliveryPlaces: openRedeliveryPlaces(sql),
    sessionTokens: createSessionTokens("a secret of the bench, long enough"),
    ingestSecret: "the key of upstream systems, in the bench",
    duties: { fourEyes: "keys", aloneUpTo: amountOf("100000") },
    clock: () => Date.now(),
    newId,
    environment: "development",
    publicUrl: "http://127.0.0.1",
    trustedProxies: [],
    askTimeoutMs: 10_000,
    registry,
    readiness: () => Promise.resolve({ status: "ok", reasons: [] }),
    urlRules: { allowLoopback: true },
    names: new NameLookups(),
    callbackSecrets,
    webhookSender: {
      send: () => Promise.reject(new Error("Cannot deliver as this bench does not")),
    },
    wakeWebhooks: () => {},
  });
  return {
    fetch: (request, bindings) => api.fetch(request, bindings),
    created: async () => {
      const metric = registry.getSingleMetric("engine_http_requests_total");
      if (!(metric instanceof Counter)) throw new Error("Cannot count answers as nothing does");
      const { values } = await metric.get();
      return values.reduce((sum, one) => one.labels["status"] === "201" ? sum + one.value : sum, 0);
    },
    batches,
  };
}

async function open(args: ServeArgs): Promise<Program> {
  if (args.side === "http") return { ...httpCeiling(), batches: () => 0 };
  const sql = connect(args.databaseUrl, { max: READ_POOL, applicationName: "bench-read" });
  switch (args.side) {
    case "journal":
    case "journal_slow_disk": {
      const journalSql = connect(args.databaseUrl, {
        max: JOURNAL_POOL,
        applicationName: "bench-journal",
        looksUpOnly: true,
      });
      const journal = new Journal({
        store: createJournalStore(journalSql),
        now: () => Date.now(),
        usdRate: () => "1",
        onCommitted: () => {},
      });
      await journal.settings();
      return withInterface(sql, journal, () => journal.figures.batches);
    }
    case "row_lock":
    case "stored_function": {
      const own = connect(args.databaseUrl, { max: args.pool, applicationName: "bench-baseline" });
      const merchants = args.side === "row_lock"
        ? rowLockMerchants(own)
        : storedFunctionMerchants(own);
      return withInterface(sql, merchants, () => 0);
    }
    default: {
      const never: never = args.side;
      return never;
    }
  }
}

await showWarnings();
const args: ServeArgs = JSON.parse(Deno.args[0] ?? "null");
const program = await open(args);
let inFlight = 0;
const listen = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
const counted = async (answer: Promise<Response>): Promise<Response> => {
  inFlight++;
  try {
    return await answer;
  } finally {
    inFlight--;
  }
};
// what the interface answers at once is answered at once here as well
const fetchCounted: Fetch = (request, bindings) => {
  const answer = program.fetch(request, bindings);
  return answer instanceof Promise ? counted(answer) : answer;
};

/** The service's listener on a free port; what comes over loopback counts as a proxy's. */
async function openDoor(): Promise<string> {
  const settings = {
    ...{ host: "127.0.0.1", port: 0, publicUrl: null, ops: null, descriptors: 16_384 },
    trustedProxies: ["127.0.0.1"],
    connections: { total: 4_096, perAddress: 256 },
  };
  const serving = await serve(settings, () => ({ merchants: { fetch: fetchCounted }, ops: null }));
  if (!serving.ok) throw new Error(`Cannot listen as ${serving.fault}`);
  return serving.server.baseUrl;
}

/** Deno's own listener. */
function openBare(): string {
  const server = Deno.serve(
    listen,
    (request, { remoteAddr }) => fetchCounted(request, { remoteAddr }),
  );
  return `http://127.0.0.1:${server.addr.port}`;
}
const figures = Deno.serve(listen, async () => {
  const { user, system } = process.cpuUsage();
  const now: Figures = {
    created: await program.created(),
    inFlight,
    cpuUs: user + system,
    batches: program.batches(),
    memory: Deno.memoryUsage().rss,
  };
  return Response.json(now);
});
const serving: Serving = {
  url: args.behindDoor === true ? await openDoor() : openBare(),
  figuresUrl: `http://127.0.0.1:${figures.addr.port}`,
};
// deno-lint-ignore no-console -- the bench reads it
console.log(JSON.stringify(serving));
