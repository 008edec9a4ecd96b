import { Registry } from "prom-client";
import { AddressGuard } from "../../../actors/addresses/address_guard.ts";
import type { Engine } from "../../../actors/engine.ts";
import type { EngineDeps } from "../../../actors/engine_deps.ts";
import { armCrashPoint } from "../../../actors/runtime/crash_point.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { readMigrations } from "../../../ledger/database/migrate.ts";
import { readCursor } from "../../../ledger/watcher/cursor.ts";
import { registerChainMetrics } from "../../../app/health/chains.ts";
import { registerTreasuryMetrics } from "../../../app/health/treasury.ts";
import { registerWorkMetrics } from "../../../app/health/work.ts";
import { readiness } from "../../../app/health/readiness.ts";
import { type TestApi, testApi } from "../../support/api.ts";
import { emptyFeeBoard } from "../../support/books.ts";
import type { TestDatabase } from "../../support/database.ts";
import { addWallet } from "../../support/wallet_row.ts";
import { eventually } from "./client.ts";
import { bounded } from "./patience.ts";
import { type Life, type LifeParts, openLife } from "./life.ts";
import type { RigFamily } from "./rig_family.ts";
import { rigKeys } from "./rig_keys.ts";
import { openRigNode, type RigNode, SOLID_LAG } from "./rig_node.ts";
import { TRON_RIG } from "./rig_tron.ts";
import type { End } from "../../support/service.ts";

const WALLET_ID = "wal_matrix";
/** Of transactions of the service, by default: none may expire because the machine is slow. */
const LIFETIME_MS = 120_000;
/** Time for which a silent node is waited for; every lane has to get an answer within it. */
const TIMEOUT_MS = 2_000;
/** Speed of the clock that nodes rest by after a fault, see `fastClock`. */
export const CLOCK = 8;
/** Pause between two polls of the chain. */
export const POLL_MS = 80;
/**
 * A node's engine on a database and a development chain of its own, all in this process and at a
 * fast pace: what a cell of the fault matrix is tried on.
 */
export interface Rig extends RigNode, AsyncDisposable {
  readonly family: RigFamily;
  readonly sql: Sql;
  readonly api: TestApi;
  /** The node that lives now. */
  readonly life: Life;
  /** Its engine. */
  readonly engine: Engine;
  readonly hotWallet: string;
  /** Its private key, as hex with `0x`: what another program that has it would do is tried with it. */
  readonly hotKey: string;
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
  /** Closed with the rig; default one on the shared server. */
  readonly database?: TestDatabase;
  /** Default TRON. */
  readonly family?: RigFamily;
  /** False: the hot wallet has tokens and no coin. */
  readonly hasCoin?: boolean;
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
  const { lifetimeMs = LIFETIME_MS, family = TRON_RIG, hasCoin = true } = options;
  const { network } = family;
  await using stack = new AsyncDisposableStack();
  const keys = rigKeys(network, WALLET_ID);
  const { hot } = keys;
  const node = stack.use(await openRigNode(family, hasCoin ? hot.address : null));
  const { mine } = node;
  if (!hasCoin) await node.control("/dev/transfer", { to: hot.address, amount: "1000000" });
  const contracts = { USDT: node.usdt };
  const openChain = (nodeUrl: string) =>
    family.openChain({
      nodeUrls: [nodeUrl],
      contracts,
      deposits: keys.deposits,
      hotWallet: hot.address,
      lifetimeMs,
      requestTimeoutMs: TIMEOUT_MS,
      totalTimeoutMs: 2 * TIMEOUT_MS,
    });
  /** The interface's own. */
  const chain = openChain(node.chainUrl);
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
      ...(options.database === undefined ? {} : { database: options.database }),
      chains: new Map([[network, chain]]),
      registry,
      addressBook: {
        take: (of, id) => orDead(({ engine }) => engine.addressBook.take(of, id)),
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
  await sql`
    UPDATE book.pair SET deposits_enabled = true, withdrawals_enabled = true
    WHERE network = ${network} AND currency = 'USDT' AND NOT deposits_enabled`;
  await addWallet(sql, network, hot.address, WALLET_ID);
  const parts: LifeParts = {
    network,
    databaseUrl: api.databaseUrl,
    chainUrl: node.chainUrl,
    openChain,
    keys: keys.source,
    builders: [family.createBuilder(contracts, lifetimeMs)],
    kept: [],
    pollWebhooksMs: options.pollWebhooksMs ?? 60_000,
    pace: () => ({
      pollMs: POLL_MS,
      leaseMs: 500,
      resendMs: 300,
      recheckMs: 100,
      attemptLimit: 3,
      ...(family.seesHead ? {} : { views: { headMs: null, solidMs: POLL_MS } }),
    }),
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
    registerTreasuryMetrics(registry, born.engine, emptyFeeBoard(), Date.now);
    if (crashAt !== undefined) armCrashPoint(crashAt, dieHere);
    await bounded("the node's start", Promise.race([born.died, born.engine.start()]));
  };
  stack.defer(() => last?.end());

  await mine(SOLID_LAG + 1);
  await start();
  await eventually("the network watched", async () => (await readCursor(sql, network, "solid")));
  const owned = stack.move();
  return {
    ...node,
    family,
    sql,
    api,
    get life() {
      return running();
    },
    get engine() {
      return running().engine;
    },
    hotWallet: hot.address,
    hotKey: `0x${hot.privateKey.toHex()}`,
    setPlanning: async (on) => {
      state.planning = on;
      if (on) await sql`UPDATE book.sweep_address SET poll_at = now()`;
    },
    metric: async (name) => {
      const text = await registry.getSingleMetricAsString(name);
      const match = new RegExp(`^${name}\\{network="${network}"\\} (\\S+)$`, "m").exec(text);
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
