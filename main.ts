/**
 * Composition root of the service: settings, database, chains, actors, HTTP, signals. It wires and
 * does nothing else.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { collectDefaultMetrics, Registry } from "prom-client";
import { Engine } from "./actors/engine.ts";
import { armCrashPoint, crashPoint } from "./actors/runtime/crash_point.ts";
import { newId } from "./actors/runtime/ids.ts";
import { createWebhooks } from "./actors/webhook/webhooks.ts";
import { createApi } from "./api/app.ts";
import { createSessionTokens } from "./api/session_token.ts";
import { signerPermissions } from "./chains/signer/signer_permissions.ts";
import { createWorkerSigner } from "./chains/signer/worker_client.ts";
import { loadConfig } from "./config.ts";
import { createOutbox } from "./ledger/outbox/outbox.ts";
import { usdRate } from "./rates/rates.ts";
import { ensureDemo } from "./setup/demo_accounts.ts";
import { registerMetrics } from "./setup/engine_metrics.ts";
import { ingestSecret } from "./setup/ingest_secret.ts";
import { lockDataDir } from "./setup/lock_data_dir.ts";
import { configureLogging } from "./setup/logging.ts";
import { openChains } from "./setup/open_chains.ts";
import { openDatabase } from "./setup/open_database.ts";
import { openRates } from "./setup/open_rates.ts";
import { openWallet, registerWallets, SUPPORTED_NETWORKS } from "./setup/open_wallet.ts";
import { quickStart } from "./setup/quick_start.ts";
import { readiness } from "./setup/readiness.ts";
import { serve } from "./setup/serve.ts";
import { sessionSecret } from "./setup/session_secret.ts";
import { untilStopped } from "./setup/until_stopped.ts";
import { createSender } from "./webhooks/sender.ts";

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
const crashAt = Deno.env.get("CRASH_POINT");
if (development && crashAt !== undefined) armCrashPoint(crashAt);

const { wallet, walletFile, passphraseFile } = await openWallet(config, SUPPORTED_NETWORKS);
const [database, chains] = await Promise.all([openDatabase(config), openChains(config, wallet)]);
const { sql } = database;
await registerWallets(sql, wallet, chains.chains);

const signerSettings = {
  databaseUrl: database.url,
  walletFile,
  passphraseFile,
  networks: chains.signerNetworks,
};
const signer = createWorkerSigner({
  entry: new URL("./commands/signer_worker.ts", import.meta.url),
  settings: signerSettings,
  permissions: signerPermissions(signerSettings, new URL("./", import.meta.url)),
});
await signer.ready();

const urlRules = { allowLoopback: development };
const now = () => Date.now();
const { rates, close: closeRates } = openRates(config, now);
const sessionTokens = createSessionTokens(await sessionSecret(config));
const ingestKey = await ingestSecret(config);
const sender = createSender({ rules: urlRules });
const webhooks = createWebhooks({
  outbox: createOutbox(sql),
  sender,
  now,
  random: Math.random,
  crashPoint,
});
const engine = new Engine({
  sql,
  journalSql: database.journalSql,
  chains: chains.chains,
  signer,
  webhooks,
  pace: development
    ? { pollMs: 250, leaseMs: 5_000, resendMs: 3_000, recheckMs: 1_000, attemptLimit: 3 }
    : { pollMs: 1_500, leaseMs: 30_000, resendMs: 15_000, recheckMs: 15_000, attemptLimit: 3 },
  now,
  usdRate: (currency) => usdRate(rates, currency),
});

const registry = new Registry();
collectDefaultMetrics({ register: registry });
registerMetrics(registry, engine, webhooks);

const server = serve(config, (baseUrl) =>
  createApi({
    merchants: engine.merchants,
    sql,
    chains: chains.chains,
    addressBook: engine.addressBook,
    liquidity: (network, currency) => engine.liquidity(network, currency),
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
    readiness: () => readiness(sql, engine, now()),
    urlRules,
    webhookSender: sender,
    wakeWebhooks: (merchantId) => webhooks.wake(merchantId),
  }));
const stopped = untilStopped();
await engine.start();
if (development) {
  const credentials = await ensureDemo(sql, config, chains.devNodes, server.baseUrl, ingestKey);
  // deno-lint-ignore no-console -- for the person who started it, not for the log
  console.log(quickStart(credentials, config.dataDir));
}
log.info("serving on {url}", { url: server.baseUrl });

await stopped;
log.info("stopping");
await server.stop(STOP_MS);
await engine.stop(STOP_MS);
await closeRates();
await signer.close();
await chains.close();
await database.close();
log.info("stopped");
Deno.exit(0);
