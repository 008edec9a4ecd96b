/**
 * Composition root of the service: settings, database, chains, actors, HTTP, signals. It wires and
 * does nothing else.
 *
 * @module
 */

import { SERVED_NETWORKS } from "./ledger/money/pair.ts";
import { getLogger } from "@logtape/logtape";
import { AddressGuard } from "./actors/addresses/address_guard.ts";
import { Engine } from "./actors/engine.ts";
import { crashPoint } from "./actors/runtime/crash_point.ts";
import { idsFollow, newId } from "./actors/runtime/ids.ts";
import { FeeBoard } from "./actors/treasury/fee_board.ts";
import { Webhooks } from "./actors/webhook/webhooks.ts";
import { createApi, createOps } from "./api/app.ts";
import type { ApiDeps } from "./api/http/context.ts";
import { MERCHANT_ROUTES, ROUTES, withoutReference } from "./api/routes.ts";
import { createSessionTokens } from "./api/http/session_token.ts";
import { WalletFault } from "./chains/wallet/wallet_fault.ts";
import { loadConfig } from "./app/config/config.ts";
import { storeDuties } from "./ledger/platform_settings.ts";
import { DatabaseClock, readDatabaseTime } from "./ledger/database/database_clock.ts";
import { createOutbox } from "./ledger/outbox/outbox.ts";
import { coinRate } from "./rates/coin_rate.ts";
import { usdRate } from "./rates/rates.ts";
import { addressReasons } from "./app/health/address_health.ts";
import { openCrashPoints } from "./app/development/crash_points.ts";
import { ensureDemo } from "./app/development/demo_accounts.ts";
import { countDescriptors } from "./app/http/descriptors.ts";
import { doorReasons, registerDoorMetrics } from "./app/health/door_health.ts";
import { openCallbackSecrets } from "./app/open/callback_secrets.ts";
import { ingestSecret } from "./app/open/ingest_secret.ts";
import { keepNodes } from "./app/open/keep_nodes.ts";
import { LoopDelay } from "./app/metrics/loop_delay.ts";
import { lockDataDir } from "./app/open/lock_data_dir.ts";
import {
  CALLBACK_DESCRIPTORS,
  callbackConnections,
  descriptorsWanted,
} from "./app/http/connection_bounds.ts";
import { configureLogging } from "./app/open/logging.ts";
import { openChains, UnusableChain } from "./app/open/open_chains.ts";
import { isUnsafeServer, openDatabase } from "./app/open/open_database.ts";
import { openRegistry } from "./app/open/open_registry.ts";
import { openRates } from "./app/open/open_rates.ts";
import { openReconciler } from "./app/open/open_reconciler.ts";
import { deriveOn, openWallet, registerWallets } from "./app/open/open_wallet.ts";
import { nodeName } from "./app/open/node_name.ts";
import { openReadSlots } from "./app/health/pool_health.ts";
import { quickStart } from "./app/development/quick_start.ts";
import { readiness } from "./app/health/readiness.ts";
import { detailReads } from "./app/health/readiness_details.ts";
import { serve } from "./app/http/serve.ts";
import { openServiceSigner } from "./app/open/service_signer.ts";
import { requireApart } from "./app/open/signer_user.ts";
import { sessionSecret } from "./app/open/session_secret.ts";
import { DEV_SWEEP_PACE, SWEEP_PACE, sweepTerms } from "./app/open/sweep_terms.ts";
import { feeTerms, policyOf, treasuryPolicies } from "./app/open/treasury_policy.ts";
import { untilStopped } from "./app/open/until_stopped.ts";
import { Warming } from "./app/http/warming.ts";
import { openAttestation } from "./app/open/wallet_attestation.ts";
import { NameLookups } from "./webhooks/name_lookups.ts";
import { senderPermissions } from "./webhooks/sender_permissions.ts";
import { createWorkerSender } from "./app/workers/worker_sender.ts";

/** Bound of every step of a shutdown. */
const STOP_MS = 30_000;
/** How long the welcome waits for what the first requests need. */
const WELCOME_MS = 3_000;
/** How long a request waits for its merchant's actor. */
const ASK_MS = 10_000;

const answer = loadConfig(Deno.env.toObject());
if (!answer.ok) {
  refuseStart(` as the environment is wrong:\n  ${answer.faults.join("\n  ")}`);
}
const { config } = answer;
// before anything else has descriptors that it could be in the way of
const descriptors = countDescriptors(
  Math.max(descriptorsWanted(config), CALLBACK_DESCRIPTORS),
);
await Deno.mkdir(config.dataDir, { recursive: true });
const lock = await lockDataDir(config.dataDir);
if (!lock.ok) {
  refuseStart(
    ` as another service runs on this data folder (process ${lock.owner}): ${config.dataDir}`,
  );
}
await configureLogging(config);
const log = getLogger(["engine", "main"]);
const development = config.environment === "development";
if (development) openCrashPoints(config.dataDir);

const opened = await openWallet(config, SERVED_NETWORKS).catch(refuse);
const { wallet } = opened;
if (!development && config.signer.socket !== null) {
  const { WALLET_PASSPHRASE_FILE: passphrase } = Deno.env.toObject();
  await requireApart({
    socket: config.signer.socket,
    secrets: [opened.passphraseFile, ...(passphrase === undefined ? [] : [passphrase])],
    user: Deno.uid(),
  }).catch(refuse);
}
const [database, chains] = await Promise.all([
  openDatabase(config).catch((error): never => {
    if (!isUnsafeServer(error)) throw error;
    refuseStart(`: ${error.message}`);
  }),
  openChains(config, wallet).catch(refuse),
]);
const { sql } = database;
await registerWallets(sql, wallet, chains.chains.keys()).catch(refuse);
const keptNodes = await keepNodes(sql, chains.nodes);

const signer = await openServiceSigner(config, opened, database.url, chains.signerNetworks);

// a development wallet was made here, by this very service
const signerWallet = () => development && signer.wallet() === "unknown" ? "same" : signer.wallet();
const attestation = await openAttestation(sql, wallet, [...chains.chains.keys()], signerWallet);
const addresses = new AddressGuard({
  derive: (network, index) => deriveOn(chains.chains, network, index),
  held: () => attestation.held(),
});

const urlRules = { allowLoopback: development };
// what is kept goes by the database's time; no clock of this machine that is set can move it
const clock = new DatabaseClock({ read: () => readDatabaseTime(sql) });
await clock.start();
const now = () => clock.now();
idsFollow(now);
const { rates, close: closeRates } = openRates(config, now);
const sessionTokens = createSessionTokens(await sessionSecret(config));
const ingestKey = await ingestSecret(config);
const secrets = await openCallbackSecrets(config, sql);
const names = new NameLookups();
const sender = createWorkerSender({
  entry: new URL("./app/commands/sender_worker.ts", import.meta.url),
  rules: urlRules,
  permissions: senderPermissions(urlRules),
  names,
  connections: callbackConnections(descriptors),
});
const node = await nodeName(config);
const webhooks = new Webhooks({
  outbox: createOutbox(sql, { node }),
  sender,
  openSecret: (kept, merchantId) => secrets.box.open(kept, merchantId),
  now,
  random: Math.random,
  crashPoint,
  inFlight: Math.min(1_024, callbackConnections(descriptors)),
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
  addressGap: config.addressGap,
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

const { requestSql: requests, readSql: reads, operatorSql: operators } = database;
const details = detailReads(database.detailsSql, engine);
const readSlots = openReadSlots(reads);
const { reconciler, close: closeReconciler } = openReconciler(
  config,
  database.url,
  chains.chains,
);
/** Ends before anything is served from a wallet or nodes that must not be used. */
function refuse(error: unknown): never {
  if (!(error instanceof WalletFault || error instanceof UnusableChain)) throw error;
  refuseStart(`: ${error.message}`);
}

/** Ends before anything is served, for a reason that the person who started it can mend. */
function refuseStart(reason: string): never {
  printRefusal(reason);
  Deno.exit(2);
}

function printRefusal(reason: string): void {
  // deno-lint-ignore no-console -- for the person who started it; there may be no logger yet
  console.error(`Cannot start${reason}`);
}

/** Ends everything but the server. */
async function close(): Promise<void> {
  loopDelay.stop();
  await closeReconciler();
  await engine.stop(STOP_MS);
  await fees.stop();
  await closeRates();
  await keptNodes.close();
  await attestation.close();
  await signer.close();
  await chains.close();
  await clock.stop();
  secrets.close();
  await database.close();
}

const loopDelay = new LoopDelay();
loopDelay.start();
const callbacks = { webhooks, sender, secrets, names };
const registry = openRegistry({
  engine,
  callbacks,
  clock,
  fees,
  database,
  readSlots,
  addresses,
  reconciler,
  loopDelay,
});

const warming = new Warming({
  networks: engine.networks,
  isWatched: (network) => engine.addressBook.isWatched(network),
  hasRates: () => rates.find("USDT", "USD") !== null,
  monotonic: () => performance.now(),
});

// listens for signals before clients can use up the descriptors that it takes
const stopped = untilStopped();
// before anything is served: what was handed out in a lost history must not be handed out again
await engine.history.poll();
if (await storeDuties(sql, config.duties, newId("aud")) === "locked") {
  printRefusal(
    " as another transaction holds the duties or the head of the audit: FOUR_EYES or SECOND_ADMINISTRATOR_ABOVE differs from the database",
  );
  await close();
  Deno.exit(2);
}
let welcome = "";
const serving = await serve({ ...config, descriptors }, async (baseUrl, doors) => {
  registerDoorMetrics(registry, doors, descriptors);
  // before anything is answered: who finds it ready finds the accounts and their file, too
  if (development) {
    const credentials = await ensureDemo(
      sql,
      config,
      chains.devNodes,
      baseUrl,
      ingestKey,
      secrets.box,
    );
    welcome = quickStart(credentials, config.dataDir);
  }
  const deps: ApiDeps = {
    merchants: engine.merchants,
    sql,
    pools: { requests, reads, operators, slots: readSlots },
    chains: chains.chains,
    addressBook: engine.addressBook,
    addresses,
    addressGap: config.addressGap,
    fees,
    treasury: (network) => ({
      policy: policies.get(network) ?? null,
      status: engine.treasuries.get(network) ?? null,
    }),
    payoutsOpen: (network) => engine.signerOpen(network),
    rates,
    sessionTokens,
    ingestSecret: ingestKey,
    duties: config.duties,
    clock: now,
    newId,
    environment: config.environment,
    publicUrl: baseUrl,
    trustedProxies: config.trustedProxies,
    askTimeoutMs: ASK_MS,
    registry,
    readiness: () =>
      readiness({
        others: () => [
          ...addressReasons(addresses, engine.addressBook),
          ...doorReasons(doors, descriptors),
          ...loopDelay.reasons(),
        ],
        starting: () => warming.reasons(),
        sql: database.readinessSql,
        details,
        pools: database.pools,
        migrations: database.migrations,
        engine,
        now: now(),
        clock,
        callbacks,
        signerTrouble: signer.trouble(),
        fees,
        reconciler,
      }),
    scanOf: (network) => {
      const status = engine.watched.get(network) ?? null;
      return { status, nodes: engine.nodes(network) };
    },
    urlRules,
    names,
    callbackSecrets: secrets.box,
    webhookSender: sender,
    wakeWebhooks: (merchantId) => webhooks.wake(merchantId),
  };
  const all = config.ops === null ? ROUTES : MERCHANT_ROUTES;
  return {
    merchants: createApi(deps, config.apiDocs ? all : withoutReference(all)),
    ops: config.ops === null ? null : createOps(deps),
  };
});
if (!serving.ok) {
  printRefusal(` as ${serving.fault}`);
  await close();
  Deno.exit(2);
}
const { server } = serving;
await engine.start();
await reconciler?.start();
warming.begin();
if (development) await warming.wait(WELCOME_MS);
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
