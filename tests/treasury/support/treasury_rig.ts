/**
 * A whole house for tests of the treasury, in this process: a real development chain over HTTP that
 * makes blocks on demand, a real database, the real engine, a signer with keys of its own, and the
 * interface.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import { z } from "zod";
import { AddressGuard } from "../../../actors/addresses/address_guard.ts";
import { Engine } from "../../../actors/engine.ts";
import { FeeBoard } from "../../../actors/treasury/fee_board.ts";
import type { TreasuryPolicy } from "../../../actors/treasury/treasury_deps.ts";
import type { Chain } from "../../../chains/chain.ts";
import type { Fault } from "../../../devchain/faults.ts";
import { startDevChain } from "../../../devchain/start.ts";
import { createSigner } from "../../../chains/signer/create_signer.ts";
import { type Limits, SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { createTronTransferBuilder } from "../../../chains/tron/pay/transfer_builder.ts";
import {
  type NetworkKeys,
  networkKeys,
  publicAddresses,
  signingKey,
} from "../../../chains/wallet/network_keys.ts";
import type { OpenChain } from "../../../chains/family.ts";
import { storeColdWallet } from "../../../ledger/addresses/wallets.ts";
import { type Amount, subtract, ZERO } from "../../../ledger/money/amount.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { readIntents } from "../../../ledger/treasury/intents.ts";
import { readUsedNonces } from "../../../ledger/treasury/used_nonces.ts";
import { readCursor } from "../../../ledger/watcher/cursor.ts";
import { type TestApi, testApi } from "../../support/api.ts";
import { blindChain } from "../../support/blind_chain.ts";
import { amount, until } from "../../support/books.ts";
import { addWallet } from "../../support/wallet_row.ts";

const NETWORK = "TRX";
const LIFETIME_MS = 30_000;
/** Blocks that anything is waited for at most. */
const MOST_BLOCKS = 60;

/** A policy that raises no alarm and moves nothing. */
export const CALM: TreasuryPolicy = {
  second: null,
  low: { native: ZERO, USDT: ZERO, USDC: ZERO },
  cold: null,
};

/** Parts of a rig before its engine runs. */
export interface RigParts {
  /** The network as a node of its own tells it. */
  chainAt(url: string): OpenChain;
  readonly chainUrl: string;
}

/** Differences of a rig from the usual one. */
export interface RigOptions {
  readonly policy?: (parts: RigParts) => TreasuryPolicy;
  /** True when the signer signs for the network; read at every request. */
  readonly signs?: () => boolean;
  /** True: it reports what it signed before; default true. */
  readonly remembers?: boolean;
  readonly coldAddress?: string;
  /** Coin that the hot wallet has left; default 100,000. */
  readonly coin?: string;
  /** True: nodes report neither events of simulations nor switches of tokens; default false. */
  readonly isBlind?: boolean;
  /** The signer's caps; default none. */
  readonly limits?: Limits;
  /** Blocks from the head to the last final one; default 2. */
  readonly solidLag?: number;
  /** Address of a node in front of the true one, which the service asks instead; default none. */
  readonly through?: (url: string) => string;
}

/** A payout as the database has it. */
export interface PayoutState {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  /** Of its attempts, in order; `open` while the chain has not decided. */
  readonly outcomes: readonly string[];
  readonly evidence: Readonly<Record<string, unknown>> | null;
}

/** A rig as tests use it. */
export interface TreasuryRig extends AsyncDisposable {
  readonly sql: Sql;
  readonly api: TestApi;
  /** The one that runs, or ran last. */
  readonly engine: Engine;
  readonly chain: Chain;
  readonly chainUrl: string;
  readonly fees: FeeBoard;
  /** A signer of another node: the same keys, and a memory of its own. */
  readonly otherSigner: ReturnType<typeof signerOf>;
  /** A merchant with money, and its key. */
  merchant(funds: string): Promise<{ readonly id: string; readonly key: string }>;
  /** Asks for a payout; answers its id. @throws where it is refused */
  withdraw(key: string, amount: string, destination: string): Promise<string>;
  payout(withdrawalId: string): Promise<PayoutState>;
  /** Makes blocks and waits until the engine has read what became final. */
  mine(blocks: number, intervalMs?: number): Promise<void>;
  /** Makes blocks until something is true. */
  mineUntil(what: string, condition: () => boolean | Promise<boolean>): Promise<void>;
  setFaults(faults: readonly Partial<Fault>[]): Promise<void>;
  /** Ends the engine. */
  halt(): Promise<void>;
  /** Starts another one, with a signer that remembers nothing. */
  restart(): Promise<void>;
  control(path: string, body: unknown): Promise<unknown>;
}

const Info = z.object({ solid: z.number() });

/** Opens a rig; its hot wallet is funded and solid. */
export async function openTreasuryRig(options: RigOptions = {}): Promise<TreasuryRig> {
  await using stack = new AsyncDisposableStack();
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const keys = networkKeys(HDKey.fromMasterSeed(seed), NETWORK);
  const hot = signingKey(keys, NETWORK, "hot");
  const dataDir = await Deno.makeTempDir({ prefix: "engine-treasury-" });
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  const dev = await startDevChain({
    network: NETWORK,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: options.solidLag ?? 2,
    treasury: hot.address,
  });
  stack.defer(() => dev.stop());
  const contracts = { USDT: dev.usdt };
  const chainAt = (url: string) =>
    createTronChain({
      network: NETWORK,
      nodeUrls: [url],
      contracts,
      deposits: publicAddresses(NETWORK, { depositXpub: keys.deposits.publicExtendedKey }),
      hotWallet: hot.address,
      lifetimeMs: LIFETIME_MS,
      requestTimeoutMs: 10_000,
    });
  const own = options.through?.(dev.url) ?? dev.url;
  const chain = options.isBlind === true ? blindChain(chainAt(own)) : chainAt(own);
  const policy = options.policy?.({ chainAt, chainUrl: dev.url }) ?? CALM;
  const fees = new FeeBoard({
    chains: new Map<Network, Chain>([[NETWORK, chain]]),
    coinRate: () => ({ rate: "0.3", at: Date.now() }),
    terms: () => ({ receiver: "new", margin: "0.1", floor: amount("0.1"), cap: amount("150") }),
    now: Date.now,
  });
  let engine: Engine | null = null;
  const running = () => {
    if (engine === null) throw new Error("Cannot ask the engine as it is not started");
    return engine;
  };
  const chains = new Map<Network, OpenChain>([[NETWORK, chain]]);
  const api = stack.use(
    await testApi({
      chains,
      fees,
      addressBook: { take: (network, id) => running().addressBook.take(network, id) },
      addresses: new AddressGuard({ derive: (_, index) => chain.deriveAddress(index) }),
      payoutsOpen: (network) => running().signerOpen(network),
      treasury: (network) => ({ policy, status: running().treasuries.get(network) ?? null }),
      merchantsOf: () => ({
        ask: (id, command, timeoutMs) => running().merchants.ask(id, command, timeoutMs),
        wake: (id) => running().merchants.wake(id),
      }),
    }),
  );
  const { sql } = api;
  await addWallet(sql, NETWORK, hot.address, "wal_treasury");
  await storeColdWallet(sql, NETWORK, options.coldAddress ?? null);
  const make = () =>
    new Engine({
      sql,
      journalSql: sql,
      chains,
      signer: signerOf(sql, keys, contracts, options),
      webhooks: { wake: () => {}, start: () => {}, stop: () => Promise.resolve() },
      pace: () => ({ pollMs: 40, leaseMs: 1_000, resendMs: 200, recheckMs: 200, attemptLimit: 2 }),
      now: Date.now,
      usdRate: () => "1",
      treasuryPolicy: () => policy,
      coinRate: () => "0.3",
    });
  engine = make();
  stack.defer(() => running().stop(5_000));
  const control = async (path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(dev.url + path, { method: "POST", body: JSON.stringify(body) });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    throw new Error(`Cannot control the chain as it refused: ${JSON.stringify(answer)}`);
  };
  const settling = { blocks: 4 + (options.solidLag ?? 0) };
  await control("/dev/mine", settling);
  if (options.coin !== undefined) {
    const spare = subtract(await chain.balanceOf(hot.address, "native"), amount(options.coin));
    await sendCoin(chain, hot, dev.faucetAddress, spare);
    await control("/dev/mine", settling);
  }
  await engine.start();
  const mine = async (blocks: number, intervalMs = 1_000) => {
    await control("/dev/mine", { blocks, intervalMs });
    const { solid } = Info.parse(await control("/dev/config", {}));
    await until(async () => (await readCursor(sql, NETWORK, "solid"))?.height === solid);
  };
  await mine(1);
  await until(() => (running().liquidity(NETWORK, "USDT") ?? 0n) > 0n);
  const owned = stack.move();
  return {
    sql,
    api,
    get engine() {
      return running();
    },
    chain,
    chainUrl: dev.url,
    fees,
    otherSigner: signerOf(sql, keys, contracts, {}),
    control,
    mine,
    merchant: (funds) => api.addMerchant(funds),
    async withdraw(key, text, destination) {
      const { status, body } = await api.call("POST", "/api/withdrawals", {
        key,
        body: { amount: text, currency: "USDT", network: NETWORK, destination },
      });
      if (status !== 201) throw new Error(`Cannot withdraw: ${JSON.stringify(body)}`);
      return body.withdrawalId;
    },
    async payout(withdrawalId) {
      const [row] = await sql<PayoutState[]>`
        SELECT o.id, o.status, o.reason,
          ARRAY(SELECT coalesce(a.outcome, 'open') FROM book.attempt a
                WHERE a.outgoing_id = o.id ORDER BY a.number) AS outcomes,
          (SELECT a.evidence FROM book.attempt a WHERE a.outgoing_id = o.id
           ORDER BY a.number LIMIT 1) AS evidence
        FROM book.outgoing o WHERE o.payment_id = ${withdrawalId}`;
      if (row === undefined) throw new Error(`Cannot find the payout of ${withdrawalId}`);
      return row;
    },
    async mineUntil(what, condition) {
      for (let i = 0; i < MOST_BLOCKS; i++) {
        if (await condition()) return;
        await mine(1);
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      throw new Error(`Cannot go on as it did not come true: ${what}`);
    },
    halt: () => running().stop(5_000),
    async restart() {
      engine = make();
      await engine.start();
    },
    async setFaults(faults) {
      await control("/dev/config", {
        faults: faults.map((fault) => ({ times: 1_000, ...fault })),
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const builder = (contracts: { readonly USDT?: string }) =>
  createTronTransferBuilder({
    network: NETWORK,
    contracts,
    longestLifetimeMs: LIFETIME_MS,
    highestFeeLimitSun: 150_000_000,
    clockToleranceMs: null,
  });

/** Sends coin of the hot wallet as its owner can, past the service. */
async function sendCoin(
  chain: Chain,
  key: ReturnType<typeof signingKey>,
  destination: string,
  coin: Amount,
): Promise<void> {
  const envelope = chain.envelope(await chain.solid(), { fee: ZERO, limit: ZERO }, null);
  const signed = builder({}).sign(
    [{
      outgoingId: "out_by_hand",
      kind: "gas",
      network: NETWORK,
      currency: "native",
      amount: coin,
      destination,
      destinationIndex: null,
      isDestinationClosed: false,
      wallet: "hot",
      payer: "hot",
      status: "queued",
      nonce: null,
      usedNonces: [],
    }],
    envelope,
    () => key,
    "by hand",
  );
  const { category } = await chain.broadcast(signed);
  if (category !== "accepted") throw new Error(`Cannot send coin as it was not taken: ${category}`);
}

/** A signer in this process, with keys of a test. */
export function signerOf(
  sql: Sql,
  own: NetworkKeys,
  contracts: { readonly USDT: string },
  { signs = () => true, remembers = true, coldAddress, limits = {} }: RigOptions,
) {
  const keyOf = (network: string, wallet: "hot" | number) =>
    network === NETWORK ? signingKey(own, NETWORK, wallet) : null;
  const make = (isOpen: boolean) =>
    createSigner({
      keys: {
        walletId: "wal_treasury",
        key: keyOf,
        address: (network, wallet) => keyOf(network, wallet)?.address ?? null,
        lock: () => {},
      },
      intents: {
        read: (ids) => readIntents(sql, ids),
        readUsed: (places) => readUsedNonces(sql, places),
      },
      builders: isOpen ? [builder(contracts)] : [],
      ...(coldAddress === undefined ? {} : { coldAddresses: { [NETWORK]: coldAddress } }),
      spending: new SpendingLimits(limits),
      now: Date.now,
    });
  const [open, closed] = [make(true), make(false)];
  return {
    sign: (requests: Parameters<typeof open.sign>[0]) => (signs() ? open : closed).sign(requests),
    live: (outgoingIds: readonly string[]) => open.live(remembers ? outgoingIds : []),
  };
}
