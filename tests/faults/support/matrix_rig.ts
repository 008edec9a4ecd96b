import { HDKey } from "@scure/bip32";
import { Registry } from "prom-client";
import { z } from "zod";
import { AddressGuard } from "../../../actors/addresses/address_guard.ts";
import { Engine } from "../../../actors/engine.ts";
import type { EngineDeps } from "../../../actors/engine_deps.ts";
import type { Fault } from "../../../devchain/faults.ts";
import { startDevChain } from "../../../devchain/start.ts";
import { createSigner } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/spending_limits.ts";
import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { createTronTransferBuilder } from "../../../chains/tron/pay/transfer_builder.ts";
import { networkKeys, signingKey, type WalletName } from "../../../chains/wallet/network_keys.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { readMigrations } from "../../../ledger/database/migrate.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { readIntents } from "../../../ledger/treasury/signing.ts";
import { readCursor } from "../../../ledger/watcher/cursor.ts";
import { registerChainMetrics } from "../../../app/health/chains.ts";
import { registerWorkMetrics } from "../../../app/health/work.ts";
import { readiness } from "../../../app/health/readiness.ts";
import { type TestApi, testApi } from "../../support/api.ts";
import { openWebhooks } from "../../support/hooks.ts";
import { addWallet } from "../../support/wallet_row.ts";
import { type Answer, eventually, send, UNDISTURBED_MS } from "./client.ts";

const NETWORK = "TRX";
/** Of our transactions: none may expire because the machine is slow. */
const LIFETIME_MS = 120_000;
/** Time for which a silent node is waited for; every lane has to get an answer within it. */
const TIMEOUT_MS = 2_000;
/** Blocks from head to the solid one. */
export const SOLID_LAG = 3;
/** Far more than a cell uses up: whether a fault happened is seen by what is left of it. */
const TIMES = 1_000;

/** A fault as it is put in force. */
export type RigFault =
  & Pick<Fault, "path" | "kind">
  & Partial<
    Pick<Fault, "late" | "forget" | "perSecond" | "suspendSeconds">
  >;

const Info = z.object({
  head: z.number(),
  solid: z.number(),
  pending: z.number(),
  faults: z.array(z.looseObject({ times: z.number().nullable() })),
});

/**
 * A node's engine on a database and a development chain of its own, all in this process and at a
 * fast pace: what a cell of the fault matrix is tried on.
 */
export interface Rig extends AsyncDisposable {
  readonly sql: Sql;
  readonly api: TestApi;
  readonly engine: Engine;
  readonly chainUrl: string;
  readonly hotWallet: string;
  info(): Promise<z.infer<typeof Info>>;
  control(path: string, body: unknown): Promise<Answer>;
  /** Puts exactly these faults in force. */
  setFaults(faults: readonly RigFault[]): Promise<void>;
  /** Waits until a fault in force has happened. */
  untilHit(): Promise<void>;
  /** Waits until one has happened after this call. */
  untilHitAgain(): Promise<void>;
  mine(blocks: number, intervalMs?: number): Promise<void>;
  /** Switches the planning of sweeps; switching it on makes every address due at once. */
  setPlanning(on: boolean): Promise<void>;
  /** A metric of the network as Prometheus reads it, null where there is none. */
  metric(name: string): Promise<number | null>;
}

/** Sweeps as soon as it pays, by sending coin. */
function sweepsOf(state: { planning: boolean }): NonNullable<EngineDeps["sweeps"]> {
  return {
    terms: () => ({ enabled: state.planning, gas: "coin", factor: "1", topUpWaitMs: 60_000 }),
    pace: { staleMs: 120_000, retryMs: 50, failureLimit: 3, coolDownMs: 600_000, pollMs: 100 },
    coinRate: () => "0.3",
  };
}

/**
 * Starts a rig; its hot wallet is funded and solid.
 *
 * @param options.sweeps whether addresses are swept, all that are paid to
 */
export async function openRig(options: { readonly sweeps: boolean }): Promise<Rig> {
  await using stack = new AsyncDisposableStack();
  const keys = networkKeys(
    HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32))),
    NETWORK,
  );
  const hot = signingKey(keys, NETWORK, "hot");
  const dataDir = await Deno.makeTempDir({ prefix: "engine-matrix-" });
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  const dev = await startDevChain({
    network: NETWORK,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: SOLID_LAG,
    treasury: hot.address,
  });
  stack.defer(() => dev.stop());
  const contracts = { USDT: dev.usdt };
  const chain = createTronChain({
    network: NETWORK,
    nodeUrls: [dev.url],
    contracts,
    depositXpub: keys.deposits.publicExtendedKey,
    hotWallet: hot.address,
    lifetimeMs: LIFETIME_MS,
    requestTimeoutMs: TIMEOUT_MS,
    totalTimeoutMs: 2 * TIMEOUT_MS,
    // one that is asked less after each cell would only slow down the next
    callsPerSecond: 0,
  });
  const registry = new Registry();
  const migrations = await readMigrations();
  const state = { planning: true };
  let engine: Engine | null = null;
  const running = () => {
    if (engine === null) throw new Error("Cannot ask the engine as it is not started");
    return engine;
  };
  const chains = new Map<Network, typeof chain>([[NETWORK, chain]]);
  const api: TestApi = stack.use(
    await testApi({
      chains,
      registry,
      addressBook: { take: (network, id) => running().addressBook.take(network, id) },
      addresses: new AddressGuard({ derive: (_, index) => chain.deriveAddress(index) }),
      readiness: () =>
        readiness({
          sql: api.sql,
          migrations,
          engine: running(),
          now: Date.now(),
          signerTrouble: null,
          fees: null,
          reconciler: null,
          boundMs: 60_000,
        }),
      merchantsOf: () => ({
        ask: (id, command, timeoutMs) => running().merchants.ask(id, command, timeoutMs),
        wake: (id) => running().merchants.wake(id),
      }),
    }),
  );
  const { sql } = api;
  await addWallet(sql, NETWORK, hot.address, "wal_matrix");
  const keyOf = (wallet: WalletName) => signingKey(keys, NETWORK, wallet);
  const webhooks = openWebhooks(sql, { pollMs: 60_000 });
  engine = new Engine({
    sql,
    nodes: () => chain.nodes.states,
    journalSql: sql,
    chains,
    signer: createSigner({
      keys: {
        walletId: "wal_matrix",
        key: (network, wallet) => network === NETWORK ? keyOf(wallet) : null,
        address: (network, wallet) => network === NETWORK ? keyOf(wallet).address : null,
        lock: () => {},
      },
      intents: { read: (ids) => readIntents(sql, ids) },
      builders: [createTronTransferBuilder({
        network: NETWORK,
        contracts,
        longestLifetimeMs: LIFETIME_MS,
        highestFeeLimitSun: 150_000_000,
        clockToleranceMs: null,
      })],
      spending: new SpendingLimits({}),
      now: Date.now,
    }),
    webhooks,
    pace: { pollMs: 80, leaseMs: 500, resendMs: 300, recheckMs: 100, attemptLimit: 3 },
    now: Date.now,
    usdRate: () => "1",
    ...(options.sweeps ? { sweeps: sweepsOf(state) } : {}),
  });
  registerWorkMetrics(registry, engine, webhooks);
  registerChainMetrics(registry, engine);
  stack.defer(() => running().stop(2_000));

  const control = async (path: string, body: unknown) => {
    const answer = await send(dev.url + path, "POST", body);
    if (answer.status !== 200) throw new Error(`The chain refused: ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const info = async () => Info.parse((await send(`${dev.url}/dev/info`, "GET")).body);
  const mine = async (blocks: number, intervalMs = 100) => {
    await control("/dev/mine", { blocks, intervalMs });
  };
  const timesLeft = async () => {
    const { faults } = await info();
    return Math.min(...faults.map(({ times }) => times ?? TIMES));
  };
  const untilFewer = async (times: number) => {
    await eventually("a fault", async () => await timesLeft() < times, UNDISTURBED_MS);
  };
  await mine(SOLID_LAG + 1);
  await engine.start();
  await eventually("the network watched", async () => (await readCursor(sql, NETWORK, "solid")));
  const owned = stack.move();
  return {
    sql,
    api,
    engine,
    chainUrl: dev.url,
    hotWallet: hot.address,
    info,
    control,
    mine,
    setFaults: async (faults) => {
      await control("/dev/config", { faults: faults.map((fault) => ({ ...fault, times: TIMES })) });
    },
    untilHit: () => untilFewer(TIMES),
    untilHitAgain: async () => untilFewer(await timesLeft()),
    setPlanning: async (on) => {
      state.planning = on;
      if (on) await sql`UPDATE book.sweep_address SET poll_at = now()`;
    },
    metric: async (name) => {
      const text = await registry.getSingleMetricAsString(name);
      const match = new RegExp(`^${name}\\{network="${NETWORK}"\\} (\\S+)$`, "m").exec(text);
      return match === null ? null : Number(match[1]);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
