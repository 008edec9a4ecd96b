/**
 * Composition root of the service: settings, database, chains, actors, HTTP, signals. It wires and
 * does nothing else.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { collectDefaultMetrics, Registry } from "prom-client";
import { Engine } from "./actors/engine.ts";
import { crashPoint } from "./actors/runtime/crash_point.ts";
import { newId } from "./actors/runtime/ids.ts";
import { FeeBoard } from "./actors/treasury/fee_board.ts";
import { createWebhooks } from "./actors/webhook/webhooks.ts";
import { createApi, createOps } from "./api/app.ts";
import type { ApiDeps } from "./api/context.ts";
import { MERCHANT_ROUTES } from "./api/routes.ts";
import { createSessionTokens } from "./api/session_token.ts";
import { loadConfig } from "./config.ts";
import { createOutbox } from "./ledger/outbox/outbox.ts";
import { coinRate } from "./rates/coin_rate.ts";
import { usdRate } from "./rates/rates.ts";
import { openCrashPoints } from "./setup/crash_points.ts";
import { ensureDemo } from "./setup/demo_accounts.ts";
import { registerMetrics } from "./setup/engine_metrics.ts";
import { ingestSecret } from "./setup/ingest_secret.ts";
import { keepNodes } from "./setup/keep_nodes.ts";
import { lockDataDir } from "./setup/lock_data_dir.ts";
import { configureLogging } from "./setup/logging.ts";
import { openReading } from "./setup/open_reading.ts";
import { openChains } from "./setup/open_chains.ts";
import { openDatabase } from "./setup/open_database.ts";
import { openRates } from "./setup/open_rates.ts";
import { openReconciler } from "./setup/open_reconciler.ts";
import { openWallet, registerWallets, SUPPORTED_NETWORKS } from "./setup/open_wallet.ts";
import { nodeName } from "./setup/node_name.ts";
import { quickStart } from "./setup/quick_start.ts";
import { readiness } from "./setup/readiness.ts";
import { registerReconcileMetrics } from "./setup/reconcile_metrics.ts";
import { serve } from "./setup/serve.ts";
import { openServiceSigner } from "./setup/service_signer.ts";
import { sessionSecret } from "./setup/session_secret.ts";
import { registerSweepMetrics } from "./setup/sweep_health.ts";
import { DEV_SWEEP_PACE, SWEEP_PACE, sweepTerms } from "./setup/sweep_terms.ts";
import { registerTreasuryMetrics } from "./setup/treasury_metrics.ts";
import { feeTerms, policyOf, treasuryPolicies } from "./setup/treasury_policy.ts";
import { untilStopped } from "./setup/until_stopped.ts";
import { senderPermissions } from "./webhooks/sender_permissions.ts";
import { createWorkerSender } from "./webhooks/worker_sender.ts";

/** Bound of every step of a shutdown. */
const STOP_MS = 30_000;
/** How long a request waits for its merchant's actor. */
const ASK_MS = 10_000;

const answer = loadConfig(Deno.env.toObject());
if (!answer.ok) {
  // deno-lint-ignore no-console -- there is no logger yet
  console.error(`Cannot start as the environment is wrong:\n  ${answer.faults.join("\n  ")}`);
  Deno.exit(2);
}
const { config } = answer;
await Deno.mkdir(config.dataDir, { recursive: true });
const lock = await lockDataDir(config.dataDir);
if (!lock.ok) {
  // deno-lint-ignore no-console -- for the person who started it
  console.error(
    `Cannot start as another service runs on this data folder (process ${lock.owner}): ${config.dataDir}`,
  );
  Deno.exit(2);
}
await configureLogging(config);
const log = getLogger(["engine", "main"]);
const development = config.environment === "development";
if (development) openCrashPoints(config.dataDir);

const opened = await openWallet(config, SUPPORTED_NETWORKS);
const { wallet } = opened;
const reading = openReading(new URL("./commands/reader_worker.ts", import.meta.url));
const [database, chains] = await Promise.all([
  openDatabase(config),
  openChains(config, wallet, reading.readRange),
]);
const { sql } = database;
await registerWallets(sql, wallet, chains.chains);
const keptNodes = await keepNodes(sql, chains.nodes);

const signer = await openServiceSigner(config, opened, database.url, chains.signerNetworks);

const urlRules = { allowLoopback: development };
const now = () => Date.now();
const { rates, close: closeRates } = openRates(config, now);
const sessionTokens = createSessionTokens(await sessionSecret(config));
const ingestKey = await ingestSecret(config);
const sender = createWorkerSender({
  entry: new URL("./commands/sender_worker.ts", import.meta.url),
  rules: urlRules,
  permissions: senderPermissions(urlRules),
});
const node = await nodeName(config);
const webhooks = createWebhooks({
  outbox: createOutbox(sql, { node }),
  sender,
  now,
  random: Math.random,
  crashPoint,
});
const policies = await treasuryPolicies({ ...chains, config, sql, wallet });
const engine = new Engine({
  sql,
  journalSql: database.journalSql,
  chains: chains.chains,
  nodes: (network) => chains.nodes.get(network)?.states ?? [],
  signer: signer.signer,
  node,
  webhooks,
  pace: development
    ? { pollMs: 250, leaseMs: 5_000, resendMs: 3_000, recheckMs: 1_000, attemptLimit: 3 }
    : { pollMs: 1_500, leaseMs: 30_000, resendMs: 15_000, recheckMs: 15_000, attemptLimit: 3 },
  keepDays: config.keepDays,
  now,
  usdRate: (currency) => usdRate(rates, currency),
  sweeps: {
    terms: (network) => sweepTerms(config, network),
    pace: development ? DEV_SWEEP_PACE : SWEEP_PACE,
    coinRate: (network, currency) => coinRate(rates, network, currency)?.rate ?? null,
  },
  treasuryPolicy: (network) => policyOf(policies, network),
  coinRate: (network, currency) => coinRate(rates, network, currency)?.rate ?? null,
});

const fees = new FeeBoard({
  chains: chains.chains,
  coinRate: (network, currency) => coinRate(rates, network, currency),
  terms: (network) => feeTerms(config, network),
  now,
});
fees.start();

const registry = new Registry();
collectDefaultMetrics({ register: registry });
registerMetrics(registry, engine, webhooks);
registerSweepMetrics(registry, engine, now);
registerTreasuryMetrics(registry, engine, fees, now);
const { reconciler, close: closeReconciler } = openReconciler(
  config,
  database.url,
  chains.chains,
  now,
);
if (reconciler !== null) registerReconcileMetrics(registry, reconciler);

/** Ends everything but the server. */
async function close(): Promise<void> {
  await closeReconciler();
  await engine.stop(STOP_MS);
  await fees.stop();
  await closeRates();
  await keptNodes.close();
  await signer.close();
  await chains.close();
  reading.close();
  await database.close();
}

let welcome = "";
const serving = await serve(config, async (baseUrl) => {
  // before anything is answered: who finds it ready finds the accounts and their file, too
  if (development) {
    const credentials = await ensureDemo(sql, config, chains.devNodes, baseUrl, ingestKey);
    welcome = quickStart(credentials, config.dataDir);
  }
  const deps: ApiDeps = {
    merchants: engine.merchants,
    sql,
    chains: chains.chains,
    addressBook: engine.addressBook,
    fees,
    treasury: (network) => ({
      policy: policies.get(network) ?? null,
      status: engine.treasuries.get(network) ?? null,
    }),
    payoutsOpen: (network) => engine.signerOpen(network),
    rates,
    sessionTokens,
    ingestSecret: ingestKey,
    clock: now,
    newId,
    environment: config.environment,
    publicUrl: baseUrl,
    trustedProxies: config.trustedProxies,
    askTimeoutMs: ASK_MS,
    registry,
    readiness: () =>
      readiness({
        sql,
        migrations: database.migrations,
        engine,
        now: now(),
        signerTrouble: signer.trouble(),
        fees,
        reconciler,
      }),
    scanOf: (network) => {
      const status = engine.watched.get(network) ?? null;
      return { status, nodes: engine.nodes(network) };
    },
    urlRules,
    webhookSender: sender,
    wakeWebhooks: (merchantId) => webhooks.wake(merchantId),
  };
  return config.ops === null
    ? { merchants: createApi(deps), ops: null }
    : { merchants: createApi(deps, MERCHANT_ROUTES), ops: createOps(deps) };
});
if (!serving.ok) {
  // deno-lint-ignore no-console -- for the person who started it
  console.error(`Cannot start as ${serving.fault}`);
  await close();
  Deno.exit(2);
}
const { server } = serving;
const stopped = untilStopped();
await engine.start();
await reconciler?.start();
// deno-lint-ignore no-console -- for the person who started it, not for the log
if (development) console.log(welcome);
log.info("serving on {url}", { url: server.baseUrl });
if (server.opsUrl !== null) log.info("health and metrics on {url}", { url: server.opsUrl });

await stopped;
log.info("stopping");
await server.stop(STOP_MS);
await close();
log.info("stopped");
Deno.exit(0);
