import { HDKey } from "@scure/bip32";
import { Registry } from "prom-client";
import { z } from "zod";
import { AddressGuard } from "../../../actors/addresses/address_guard.ts";
import type { Engine } from "../../../actors/engine.ts";
import type { EngineDeps } from "../../../actors/engine_deps.ts";
import type { Fault } from "../../../devchain/faults.ts";
import { startDevChain } from "../../../devchain/start.ts";
import { armCrashPoint } from "../../../actors/runtime/crash_point.ts";
import { SignedMemory } from "../../../chains/signer/signed_memory.ts";
import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { createTronTransferBuilder } from "../../../chains/tron/pay/transfer_builder.ts";
import {
  networkKeys,
  publicAddresses,
  signingKey,
  type WalletName,
} from "../../../chains/wallet/network_keys.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { readMigrations } from "../../../ledger/database/migrate.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { readCursor } from "../../../ledger/watcher/cursor.ts";
import { registerChainMetrics } from "../../../app/health/chains.ts";
import { registerWorkMetrics } from "../../../app/health/work.ts";
import { readiness } from "../../../app/health/readiness.ts";
import { type TestApi, testApi } from "../../support/api.ts";
import { addWallet } from "../../support/wallet_row.ts";
import { type Answer, eventually, send } from "./client.ts";
import { bounded, NODE_MS } from "./patience.ts";
import { type Life, type LifeParts, openLife } from "./life.ts";
import type { End } from "../../support/service.ts";

const NETWORK = "TRX";
/** Of transactions of the service, by default: none may expire because the machine is slow. */
const LIFETIME_MS = 120_000;
/** Time for which a silent node is waited for; every lane has to get an answer within it. */
const TIMEOUT_MS = 2_000;
/** Speed of the clock that nodes rest by after a fault, see `fastClock`. */
export const CLOCK = 8;
/** Pause between two polls of the chain. */
export const POLL_MS = 80;
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
  /** The node that lives now. */
  readonly life: Life;
  /** Its engine. */
  readonly engine: Engine;
  readonly chainUrl: string;
  /** The token's contract. */
  readonly usdt: string;
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
  /**
   * Starts the node again after its death; resolves when it runs, or has died at the crash point that is
   * armed from its first moment on.
   */
  start(crashAt?: string): Promise<void>;
  /** Arms a crash point of the node that lives, `name` or `name@n`. */
  arm(crashAt: string): void;
  /** Kills the node that lives; returns when nothing of it runs any more. */
  kill9(): Promise<void>;
  /** The end of the life that was started last. */
  readonly ended: Promise<End>;
}

/** Sweeps as soon as it pays, by sending coin. */
function sweepsOf(
  state: { planning: boolean },
  staleMs: number,
): NonNullable<EngineDeps["sweeps"]> {
  return {
    terms: () => ({ enabled: state.planning, gas: "coin", factor: "1", topUpWaitMs: 60_000 }),
    pace: () => ({ staleMs, retryMs: 50, failureLimit: 3, coolDownMs: 600_000, pollMs: 100 }),
    coinRate: () => "0.3",
  };
}

/** Differences of a rig from the usual one. */
export interface RigOptions {
  /** True if addresses are swept, all that are paid to. */
  readonly sweeps: boolean;
  /** Lifetime of the service's transactions in block time, milliseconds. */
  readonly lifetimeMs?: number;
  /** Time within which a node may lag behind what was noted, milliseconds. */
  readonly staleMs?: number;
  /** Pause between two looks for events that nothing told of, milliseconds. */
  readonly pollWebhooksMs?: number;
}

/** Starts a rig; its hot wallet is funded and solid. */
export async function openRig(options: RigOptions): Promise<Rig> {
  const { lifetimeMs = LIFETIME_MS } = options;
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
  const openChain = (nodeUrl: string) =>
    createTronChain({
      network: NETWORK,
      nodeUrls: [nodeUrl],
      contracts,
      deposits: publicAddresses(NETWORK, { depositXpub: keys.deposits.publicExtendedKey }),
      hotWallet: hot.address,
      lifetimeMs,
      requestTimeoutMs: TIMEOUT_MS,
      totalTimeoutMs: 2 * TIMEOUT_MS,
      // one that is asked less after each cell would only slow down the next
      callsPerSecond: 0,
    });
  /** The interface's own. */
  const chain = openChain(dev.url);
  const registry = new Registry();
  const migrations = await readMigrations();
  const state = { planning: true };
  let life: Life | null = null;
  let ended = Promise.withResolvers<End>();
  const running = () => {
    if (life === null) throw new Error("Cannot ask the node as none lives");
    return life;
  };
  /** A client of a node that dies while it is asked gets no answer that says anything. */
  const orDead = <T>(work: (life: Life) => Promise<T>): Promise<T> => {
    const asked = running();
    return Promise.race([
      work(asked),
      asked.died.then(() => Promise.reject(new Error("The node died"))),
    ]);
  };
  const api: TestApi = stack.use(
    await testApi({
      chains: new Map([[NETWORK, chain]]),
      registry,
      addressBook: {
        take: (network, id) => orDead(({ engine }) => engine.addressBook.take(network, id)),
      },
      addresses: new AddressGuard({ derive: (_, index) => chain.deriveAddress(index) }),
      readiness: () =>
        readiness({
          sql: api.sql,
          migrations,
          engine: running().engine,
          now: Date.now(),
          signerTrouble: null,
          fees: null,
          reconciler: null,
          boundMs: 60_000,
        }),
      merchantsOf: () => ({
        ask: (id, command, timeoutMs) =>
          orDead(({ engine }) => engine.merchants.ask(id, command, timeoutMs)),
        wake: (id) => running().engine.merchants.wake(id),
      }),
    }),
  );
  const { sql } = api;
  await addWallet(sql, NETWORK, hot.address, "wal_matrix");
  const keyOf = (wallet: WalletName) => signingKey(keys, NETWORK, wallet);
  const parts: LifeParts = {
    network: NETWORK,
    databaseUrl: api.databaseUrl,
    chainUrl: dev.url,
    openChain,
    keys: {
      walletId: "wal_matrix",
      key: (network: Network, wallet: WalletName) => network === NETWORK ? keyOf(wallet) : null,
      address: (network: Network, wallet: WalletName) =>
        network === NETWORK ? keyOf(wallet).address : null,
      lock: () => {},
    },
    builders: [createTronTransferBuilder({
      network: NETWORK,
      contracts,
      longestLifetimeMs: lifetimeMs,
      highestFeeLimitSun: 150_000_000,
      clockToleranceMs: null,
    })],
    memory: new SignedMemory(),
    pollWebhooksMs: options.pollWebhooksMs ?? 60_000,
    pace: () => ({ pollMs: POLL_MS, leaseMs: 500, resendMs: 300, recheckMs: 100, attemptLimit: 3 }),
    now: Date.now,
    ...(options.sweeps ? { sweeps: sweepsOf(state, options.staleMs ?? 120_000) } : {}),
  };
  const die = () => {
    const dying = running();
    life = null;
    dying.die();
    ended.resolve({ code: 137, signal: "SIGKILL" });
  };
  const dieHere = () => {
    die();
    throw new Error("The node is dead");
  };
  let last: Life | null = null;
  const start = async (crashAt?: string) => {
    // a crash point is armed for the whole process: what is left of the life before must not pass it
    await last?.isOver;
    ended = Promise.withResolvers<End>();
    const born = life = last = openLife(parts);
    registry.clear();
    registerWorkMetrics(registry, born.engine);
    registerChainMetrics(registry, born.engine, Date.now);
    if (crashAt !== undefined) armCrashPoint(crashAt, dieHere);
    await bounded("the node's start", Promise.race([born.died, born.engine.start()]));
  };
  stack.defer(() => last?.end());

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
    await eventually("a fault", async () => await timesLeft() < times, NODE_MS);
  };
  await mine(SOLID_LAG + 1);
  await start();
  await eventually("the network watched", async () => (await readCursor(sql, NETWORK, "solid")));
  const owned = stack.move();
  return {
    sql,
    api,
    get life() {
      return running();
    },
    get engine() {
      return running().engine;
    },
    chainUrl: dev.url,
    usdt: dev.usdt,
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
    start,
    arm: (crashAt) => armCrashPoint(crashAt, dieHere),
    kill9: async () => {
      const killed = last;
      die();
      await killed?.isOver;
    },
    get ended() {
      return ended.promise;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
