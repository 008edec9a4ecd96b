/**
 * Composition root of the service: settings, database, chains, actors, HTTP, signals. It wires and
 * does nothing else.
 *
 * @module
 */

import { logEvent } from "./log/log_event.ts";
import { openTraces } from "./log/traces.ts";
import { AddressGuard } from "./actors/addresses/address_guard.ts";
import { idsFollow, newId } from "./actors/runtime/ids.ts";
import { createApi, createOps } from "./api/app.ts";
import { ChangePlaces } from "./api/http/change_places.ts";
import { ClaimPlaces } from "./api/http/claim_places.ts";
import type { ApiDeps } from "./api/http/context.ts";
import { createSessionTokens } from "./api/http/session_token.ts";
import { MERCHANT_ROUTES, ROUTES, withoutReference } from "./api/routes.ts";
import { VERSION } from "./api/http/version.ts";
import { loadConfig } from "./app/config/config.ts";
import { blocksFollow } from "./chains/block_clock.ts";
import { openCrashPoints } from "./app/development/crash_points.ts";
import { closedNetworks, ensureDemo, quickStart } from "./app/development/demo_accounts.ts";
import { openHealth } from "./app/health/health.ts";
import { openPagePlaces, openReadSlots, openRedeliveryPlaces } from "./app/health/pools.ts";
import { LoopDelay } from "./app/health/process.ts";
import { CALLBACK_DESCRIPTORS, descriptorsWanted } from "./app/http/connection_bounds.ts";
import { countDescriptors } from "./app/http/descriptors.ts";
import { Drain } from "./app/http/drain.ts";
import { serve } from "./app/http/serve.ts";
import { Warming } from "./app/http/warming.ts";
import { ingestSecret, lockDataDir, nodeName, sessionSecret } from "./app/open/data_folder.ts";
import { storeNodes } from "./app/open/store_nodes.ts";
import { configureLogging } from "./app/open/logging.ts";
import { openCallbacks } from "./app/open/open_callbacks.ts";
import { openChains, openedNetworks } from "./app/open/open_chains.ts";
import { openDatabase } from "./app/open/open_database.ts";
import { openEngine } from "./app/open/open_engine.ts";
import { openReconciler } from "./app/open/open_reconciler.ts";
import { deriveOn, openWallet, registerWallets } from "./app/open/open_wallet.ts";
import { openServiceSigner } from "./app/open/service_signer.ts";
import { requireOwnUser } from "./app/open/signer_user.ts";
import { refuse, refuseOpened, refuseStart, untilStopped } from "./app/open/start.ts";
import { openAttestation } from "./app/open/wallet_attestation.ts";
import { DatabaseClock, readDatabaseTime } from "./ledger/database/database_clock.ts";
import { storeDuties } from "./ledger/duties.ts";

/** Bound of every step of a shutdown. */
const STOP_MS = 30_000;
/** Bound of the wait of the welcome for what the first requests need. */
const WELCOME_MS = 3_000;
/** Bound of the wait of a request for its merchant's actor. */
const ASK_MS = 10_000;

const loaded = loadConfig(Deno.env.toObject());
if (!loaded.ok) refuseStart(` as the environment is wrong:\n  ${loaded.faults.join("\n  ")}`);
const { config } = loaded;
// before anything else has descriptors that it could be in the way of
const descriptors = countDescriptors(Math.max(descriptorsWanted(config), CALLBACK_DESCRIPTORS));
await Deno.mkdir(config.dataDir, { recursive: true });
const lock = await lockDataDir(config.dataDir);
if (!lock.ok) {
  refuseStart(
    ` as another service runs on this data folder (process ${lock.owner}): ${config.dataDir}`,
  );
}
await configureLogging(config);
if (config.isTraced) openTraces();
const development = config.environment === "development";
if (development) openCrashPoints(config.dataDir);

const opened = await openWallet(config, openedNetworks(config)).catch((error) => refuse(error));
const { wallet, passphraseFile } = opened;
await requireOwnUser(config, passphraseFile).catch((error) => refuse(error));
const openingDatabase = openDatabase(config);
/** Refuses the start, with no embedded server left behind. */
const refuseAll = (error: unknown) =>
  refuse(error, () => openingDatabase.then((open) => open.close(), () => {}));
const [database, chains] = await Promise.all([
  openingDatabase.catch(refuseAll),
  openChains(config, wallet).catch(refuseAll),
]);
const { sql } = database;
const signer = openServiceSigner(config, opened, database.url, chains.signerNetworks);
await registerWallets(sql, wallet, chains.chains.keys()).catch(refuseAll);
const storedNodes = await storeNodes(sql, chains.nodes, !development).catch(refuseAll);

// everything goes by the database's time; no clock of this machine that is set can move it
const clock = new DatabaseClock({ read: () => readDatabaseTime(sql) });
await clock.start();
const now = () => clock.now();
idsFollow(now);
blocksFollow(now);
const sessionTokens = createSessionTokens(await sessionSecret(config));
const ingestKey = await ingestSecret(config);
const node = await nodeName(config);
const callbacks = await openCallbacks(config, sql, { node, now, descriptors });
const { webhooks, secrets } = callbacks;
const parts = { database, chains, signer: signer.signer, webhooks, node, now };
const opening = await openEngine(config, parts);
const { engine, rates, fees } = opening;
const readSlots = openReadSlots(database.readSql);
const reconciliation = openReconciler(config, database.url, chains.chains);
const loopDelay = new LoopDelay();
loopDelay.start();
/** Ends everything but the server. */
async function close(): Promise<void> {
  loopDelay.stop();
  await reconciliation.close();
  await engine.stop(STOP_MS);
  await opening.close();
  await storedNodes.close();
  await attestation.close();
  await signer.close();
  await chains.close();
  await clock.stop();
  secrets.close();
  await database.close();
}

const warming = new Warming({
  networks: engine.networks,
  isWatched: (network) => engine.addressBook.isWatched(network),
  hasRates: () => rates.find("USDT", "USD") !== null,
  monotonic: () => performance.now(),
});

// listens for signals before clients can use up the descriptors that it takes
const stopped = untilStopped();
const drain = new Drain();
// before anything is served: what was handed out in a lost history must not be handed out again
await engine.history.poll();
await signer.ready();
const networks = [...chains.chains.keys()];
const attestation = await openAttestation(sql, wallet, networks, () => signer.wallet());
const addresses = new AddressGuard({
  derive: (network, index) => deriveOn(chains.chains, network, index),
  held: () => attestation.held(),
});
if (await storeDuties(sql, config.duties, newId("aud")) === "locked") {
  await refuseOpened(
    " as another transaction holds the duties or the head of the audit: FOUR_EYES or SECOND_ADMINISTRATOR_ABOVE differs from the database",
    close,
  );
}
let welcome = "";
const serving = await serve({ ...config, descriptors }, async (baseUrl, doors) => {
  // before anything is answered: a client that finds it ready finds the accounts and their file, too
  if (development) {
    const { devNodes } = chains;
    const credentials = await ensureDemo(sql, config, devNodes, baseUrl, ingestKey, secrets.box);
    welcome = quickStart(credentials, config.dataDir, await closedNetworks(sql, devNodes.keys()));
  }
  const changePlaces = new ChangePlaces();
  const claimPlaces = new ClaimPlaces();
  const pagePlaces = openPagePlaces(database.pageSql);
  const redeliveryPlaces = openRedeliveryPlaces(database.requestSql);
  const health = openHealth({
    engine,
    changePlaces,
    claimPlaces,
    shared: { pages: pagePlaces, redeliveries: redeliveryPlaces },
    callbacks,
    clock,
    fees,
    database,
    readSlots,
    addresses,
    reconciler: reconciliation.reconciler,
    loopDelay,
    warming,
    rates,
    signerTrouble: () => signer.trouble(),
    descriptors,
  }, doors);
  const deps: ApiDeps = {
    ...health,
    readiness: () => drain.readiness(health.readiness),
    ...opening.forApi,
    ...callbacks.forApi,
    changePlaces,
    claimPlaces,
    pagePlaces,
    redeliveryPlaces,
    sql,
    pools: {
      requests: database.requestSql,
      pages: database.pageSql,
      reads: database.readSql,
      operators: database.operatorSql,
      slots: readSlots,
    },
    addresses,
    addressGap: config.addressGap,
    sessionTokens,
    ingestSecret: ingestKey,
    duties: config.duties,
    clock: now,
    newId,
    environment: config.environment,
    publicUrl: baseUrl,
    trustedProxies: config.trustedProxies,
    askTimeoutMs: ASK_MS,
  };
  const all = config.ops === null ? ROUTES : MERCHANT_ROUTES;
  return {
    merchants: createApi(deps, config.apiDocs ? all : withoutReference(all)),
    ops: config.ops === null ? null : createOps(deps),
  };
});
if (!serving.ok) throw await refuseOpened(` as ${serving.fault}`, close);
const { server } = serving;
await engine.start();
await reconciliation.reconciler?.start();
warming.begin();
if (development) await warming.wait(WELCOME_MS);
// deno-lint-ignore no-console -- for the person who started it, not for the log
if (development) console.log(welcome);
logEvent("service.serving", { version: VERSION, url: server.baseUrl });
if (server.opsUrl !== null) logEvent("service.serving_operators", { url: server.opsUrl });

await stopped;
logEvent("service.draining", { seconds: config.drainMs / 1_000 });
await drain.run(config.drainMs);
logEvent("service.stopping");
await server.stop(STOP_MS);
await close();
logEvent("service.stopped");
Deno.exit(0);
