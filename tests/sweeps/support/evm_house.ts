/**
 * A house of an EVM network for tests of sweeps: the development chain in front of anvil, a real database, the real
 * engine and a signer with keys of its own. Blocks are made when a test says so.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import { z } from "zod";
import type { SweepTerms } from "../../../actors/sweeper/sweep_terms.ts";
import { armCrashPoint } from "../../../actors/runtime/crash_point.ts";
import type { Chain } from "../../../chains/chain.ts";
import { addressOfPublicKey } from "../../../chains/evm/address.ts";
import { chainIdOf } from "../../../chains/evm/chain_id.ts";
import { createEvmChain } from "../../../chains/evm/evm_chain.ts";
import { weiAmount } from "../../../chains/evm/pay/envelope.ts";
import { createEvmTransferBuilder } from "../../../chains/evm/pay/transfer_builder.ts";
import type { SweepBy } from "../../../chains/profiles.ts";
import type { Signer, SigningKey } from "../../../chains/signer.ts";
import { createSigner } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import { startEvmDevChain } from "../../../devchain/evm/start.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { amountOf, formatAmount } from "../../../ledger/money/amount.ts";
import { readIntents } from "../../../ledger/treasury/intents.ts";
import { readUsedNonces } from "../../../ledger/treasury/used_nonces.ts";
import { readCursor } from "../../../ledger/watcher/cursor.ts";
import { addMerchant } from "../../support/books.ts";
import { testDatabase } from "../../support/database.ts";
import { addWallet } from "../../support/wallet_row.ts";
import { engineOf, pause, readsOf, type StepRow } from "./house.ts";

/** Index of the hot wallet in the tree of keys; no deposit address comes so far. */
const HOT = 2 ** 31 - 1;
/** Blocks that anything is waited for at most. */
const MOST_BLOCKS = 150;
/** Bound of a wait in time, however quickly blocks are made, milliseconds. */
const LEAST_WAIT_MS = 60_000;
/** Time within which a block has to be read. */
const READ_MS = 120_000;

const Sent = z.object({ txid: z.string() });
const Used = z.object({ gasUsed: z.string(), effectiveGasPrice: z.string() }).loose();
const Listed = z.object({ authorizationList: z.array(z.unknown()).optional() }).loose();
const Info = z.object({ solid: z.number(), head: z.number() }).loose();

/** Differences of a house. */
export interface EvmHouseOptions {
  readonly network: "ETH" | "BNB";
  readonly sweepBy: SweepBy;
  readonly sweepsAtOnce?: number;
  readonly terms?: Partial<SweepTerms>;
  /** Time after which a step that shows nowhere is looked into; default two minutes. */
  readonly staleMs?: number;
  /** True where the hot wallet begins with nothing. */
  readonly isPoor?: boolean;
}

/** Costs of a transaction that is in a block. */
export interface Receipt {
  readonly gas: number;
  readonly fee: string;
  readonly authorised: number;
}

/** A house as tests use it. */
export interface EvmHouse extends AsyncDisposable, ReturnType<typeof readsOf> {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly merchantId: string;
  /** Address of the control routes. */
  readonly url: string;
  /** Switches sweeps on or off. */
  setSweeping(enabled: boolean): void;
  /** An address of the merchant: a customer's, or its own. */
  address(kind: "issued" | "top_up", identifier?: string): Promise<string>;
  /** The private key of a deposit address, as another program that has it would use it. */
  keyOf(address: string): Promise<string>;
  /** Pays to an address from outside; returns the transaction's id. */
  pay(to: string, amount: string, currency?: "USDT" | "USDC" | "coin"): Promise<string>;
  /** A control route of the chain. */
  control(command: string, body: unknown): Promise<unknown>;
  /** A method of the node. */
  rpc(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** Makes blocks and waits until the engine has read what became final. */
  mine(blocks: number): Promise<void>;
  /** Makes blocks until something is true. */
  until(what: string, condition: () => Promise<boolean>): Promise<void>;
  /** Waits without a block until something is true. */
  when(what: string, condition: () => Promise<boolean>): Promise<void>;
  /** The transfers of the house as `kind status`. */
  told(): Promise<readonly string[]>;
  /** Keeps anything from being signed, as while another node has the turn, or ends that. */
  holdSigning(isHeld: boolean): Promise<void>;
  /** Gas that a transaction has used, its fee in coin, and the number of addresses that authorise in it. */
  receipt(txid: string): Promise<Receipt>;
  /** The next time that a point is passed the node dies there. */
  dieAt(point: string): void;
  /** True once it has died. */
  readonly isDead: boolean;
  /** Stops the engine where it stands and starts another one with another signer, as after a death of both. */
  restart(): Promise<void>;
}

/** Opens a house; dispose of it in any case. */
export async function openEvmHouse(options: EvmHouseOptions): Promise<EvmHouse> {
  const stack = new AsyncDisposableStack();
  try {
    return await furnish(stack, options);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function keyAt(tree: HDKey, index: number): SigningKey {
  const { privateKey, publicKey } = tree.deriveChild(index);
  if (privateKey === null || publicKey === null) throw new Error("Cannot derive a key");
  return { address: addressOfPublicKey(publicKey), privateKey };
}

async function furnish(stack: AsyncDisposableStack, options: EvmHouseOptions): Promise<EvmHouse> {
  const { network, sweepBy, sweepsAtOnce } = options;
  const database = stack.use(await testDatabase());
  const { sql } = database;
  const journalSql = database.connect({ max: 4, looksUpOnly: true });
  const tree = HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32)));
  const hot = keyAt(tree, HOT);
  const dataDir = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  const dev = await startEvmDevChain({
    network,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: 2,
    ...(options.isPoor === true ? {} : { treasury: hot.address }),
  });
  stack.defer(() => dev.stop());
  const contracts = { USDT: dev.usdt, USDC: dev.usdc ?? "" };
  const feeCap = amountOf(network === "ETH" ? "0.02" : "0.005");
  const chain = createEvmChain({
    network,
    nodeUrls: [dev.url],
    contracts,
    deposits: { address: (index) => keyAt(tree, index).address },
    hotWallet: hot.address,
    blockMs: 1_000,
    isDevelopment: true,
    feeCap,
    sweepBy,
    sweepsAtOnce,
  });
  const control = async (command: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`${dev.url}/dev/${command}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    throw new Error(`Cannot ${command} as the chain refused: ${JSON.stringify(answer)}`);
  };
  await addWallet(sql, network, hot.address, "wal_test");
  await sql`UPDATE book.pair SET deposits_enabled = true, withdrawals_enabled = true WHERE network = ${network}`;
  const merchantId = await addMerchant(sql);
  const terms: { -readonly [Name in keyof SweepTerms]: SweepTerms[Name] } = {
    enabled: true,
    gas: "auto",
    factor: "2",
    topUpWaitMs: 22 * 3_600_000,
    ...options.terms,
  };
  const signerOf = (): Signer => {
    const keyOf = (name: string, wallet: "hot" | number) =>
      name === network ? keyAt(tree, wallet === "hot" ? HOT : wallet) : null;
    return createSigner({
      keys: {
        walletId: "wal_test",
        key: keyOf,
        address: (name, wallet) => keyOf(name, wallet)?.address ?? null,
        lock: () => {},
      },
      intents: {
        read: (ids) => readIntents(sql, ids),
        readUsed: (places) => readUsedNonces(sql, places),
      },
      builders: [createEvmTransferBuilder({
        network,
        chainId: chainIdOf(network, true),
        contracts,
        feeCap,
        sweepBy,
      })],
      spending: new SpendingLimits({}),
      now: Date.now,
    });
  };
  // dollars per coin as on an ordinary day
  const coinRate = network === "ETH" ? "2450" : "900";
  const { staleMs = 120_000 } = options;
  const parts = { sql, journalSql, chain, terms, coinRate, staleMs };
  const open = () => engineOf({ ...parts, signer: signerOf() });
  let engine = open();
  let isDead = false;
  await control("mine", { blocks: 4 });
  await engine.start();
  stack.defer(() => engine.stop(5_000));
  const house: EvmHouse = {
    ...readsOf(sql, chain, merchantId),
    sql,
    chain,
    merchantId,
    url: dev.url,
    setSweeping(enabled) {
      terms.enabled = enabled;
    },
    control,
    async rpc(method, ...params) {
      const response = await fetch(dev.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      const { result, error } = await response.json();
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result;
    },
    async address(kind, identifier = "customer") {
      const fresh = await engine.addressBook.take(network, merchantId);
      const outcome = await engine.merchants.ask(merchantId, {
        type: "issue-address",
        kind,
        at: Date.now(),
        network,
        identifier: kind === "issued" ? identifier : null,
        referenceId: null,
        createOnly: false,
        fresh,
      }, 60_000);
      if (outcome.kind !== "done") throw new Error(`Cannot go on: ${JSON.stringify(outcome)}`);
      return outcome.value.address;
    },
    async keyOf(address) {
      const [row] = await sql<{ index: number }[]>`
        SELECT wallet_index AS index FROM hub.address WHERE address = ${address} AND network = ${network}`;
      return `0x${keyAt(tree, row?.index ?? -1).privateKey.toHex()}`;
    },
    async pay(to, amount, currency = "USDT") {
      return Sent.parse(await control("transfer", { to, amount, currency })).txid;
    },
    async mine(blocks) {
      await control("mine", { blocks, intervalMs: 1_000 });
      const { solid } = Info.parse(await control("config", {}));
      const end = Date.now() + READ_MS;
      while (!isDead && ((await readCursor(sql, network, "solid"))?.height ?? -1) < solid) {
        if (Date.now() > end) throw new Error(`Cannot go on as block ${solid} was not read`);
        await pause(25);
      }
    },
    async until(what, condition) {
      // a quick machine makes its blocks long before what waits by the clock is due
      const least = Date.now() + LEAST_WAIT_MS;
      for (let i = 0; i < MOST_BLOCKS || Date.now() < least; i++) {
        if (await condition()) return;
        await house.mine(1);
        await pause(40);
      }
      const lanes =
        await sql`SELECT payer, nonce, used_by FROM book.lane_nonce ORDER BY payer, nonce`;
      const waiting = await sql`SELECT address, reason, detail FROM book.sweep_address`;
      const steps = await house.steps();
      throw new Error(
        `Cannot go on as ${what} did not come true: ${JSON.stringify({ steps, lanes, waiting })}`,
      );
    },
    async when(what, condition) {
      const end = Date.now() + READ_MS;
      while (!await condition()) {
        if (Date.now() > end) throw new Error(`Cannot go on as ${what} did not come true`);
        await pause(20);
      }
    },
    async holdSigning(isHeld) {
      // a turn of more than ten minutes is taken back as one of a wrong clock, once a minute
      const until = isHeld ? sql`now() + interval '9 minutes'` : sql`now()`;
      await sql`
        INSERT INTO book.signing_turn AS t (network, node, until) VALUES (${network}, 'another', ${until})
        ON CONFLICT (network) DO UPDATE SET node = 'another', until = excluded.until`;
    },
    async receipt(txid) {
      const used = Used.parse(await house.rpc("eth_getTransactionReceipt", txid));
      const gas = BigInt(used.gasUsed);
      const fee = weiAmount(gas * BigInt(used.effectiveGasPrice));
      const { authorizationList } = Listed.parse(
        await house.rpc("eth_getTransactionByHash", txid),
      );
      const authorised = authorizationList?.length ?? 0;
      return { gas: Number(gas), fee: formatAmount(fee), authorised };
    },
    async told() {
      const steps: readonly StepRow[] = await house.steps();
      return steps.map(({ kind, status }) => `${kind} ${status}`);
    },
    dieAt(point) {
      isDead = false;
      armCrashPoint(point, () => {
        isDead = true;
        throw new Error("The node is dead");
      });
    },
    get isDead() {
      return isDead;
    },
    async restart() {
      await engine.stop(0);
      isDead = false;
      engine = open();
      await engine.start();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  await house.mine(1);
  return house;
}
