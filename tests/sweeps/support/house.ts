/**
 * A whole house in this process for tests of sweeps: a real development chain over HTTP that makes
 * blocks on demand, a real database, the real engine and a signer with keys of its own.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import { z } from "zod";
import { Engine } from "../../../actors/engine.ts";
import type { Merchants } from "../../../actors/merchant/merchants.ts";
import type { SweepTerms } from "../../../actors/sweeper/sweep_terms.ts";
import type { Chain } from "../../../chains/chain.ts";
import { startDevChain } from "../../../devchain/start.ts";
import type { Signer } from "../../../chains/signer.ts";
import { createSigner } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import { addressToHex } from "../../../chains/tron/address.ts";
import { signTransactionId } from "../../../chains/tron/pay/transfer_transaction.ts";
import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { createTronTransferBuilder } from "../../../chains/tron/pay/transfer_builder.ts";
import {
  type NetworkKeys,
  networkKeys,
  publicAddresses,
  signingKey,
} from "../../../chains/wallet/network_keys.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { readIntents } from "../../../ledger/treasury/intents.ts";
import { readUsedNonces } from "../../../ledger/treasury/used_nonces.ts";
import { readCursor } from "../../../ledger/watcher/cursor.ts";
import { addMerchant } from "../../support/books.ts";
import { blindChain } from "../../support/blind_chain.ts";
import { testDatabase } from "../../support/database.ts";
import { addWallet } from "../../support/wallet_row.ts";

const NETWORK = "TRX";
const LIFETIME_MS = 120_000;
/** Blocks that anything is waited for at most. */
const MOST_BLOCKS = 150;
/** Time within which a block has to be read. */
const READ_MS = 120_000;

const Sent = z.object({ txid: z.string() });
const Info = z.object({ solid: z.number(), head: z.number() });
const Token = z.object({ address: z.string() });
const Built = z.object({ txID: z.string() }).loose();

/** Differences of a house from the usual one. */
export interface HouseOptions {
  readonly terms?: Partial<SweepTerms>;
  /** TRX that the hot wallet stakes for energy before anything else. */
  readonly stake?: number;
  /** True: a second node works on the same database. */
  readonly second?: boolean;
  /** Part of each transfer that the token keeps, in 1/10,000; then it is another token than USDT. */
  readonly tokenFee?: number;
}

/** A transfer of the house, as the database has it. */
export interface StepRow {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly reason: string | null;
  readonly amount: string;
  readonly attempts: number;
  readonly fees: string[];
}

/** A house as tests use it. */
export interface House extends AsyncDisposable {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly merchantId: string;
  readonly terms: SweepTerms;
  /** The merchants of the engine that works now. */
  readonly merchants: Merchants;
  /** The contract of the currency that is swept. */
  readonly token: string;
  /** Switches sweeps on or off. */
  setSweeping(enabled: boolean): void;
  /** An address of the merchant: a customer's, or its own. */
  address(kind: "issued" | "top_up", identifier?: string): Promise<string>;
  /** Pays to an address from outside; returns the transaction's id. */
  pay(to: string, amount: string, currency?: "USDT" | "TRX"): Promise<string>;
  control(command: string, body: unknown): Promise<unknown>;
  /** Makes blocks and waits until the engine has read what became final. */
  mine(blocks: number, intervalMs?: number): Promise<void>;
  /** Makes blocks until something is true. */
  until(what: string, condition: () => Promise<boolean>): Promise<void>;
  steps(): Promise<readonly StepRow[]>;
  /** Status, flat fee and what was made available of a deposit, by its transaction. */
  deposit(txid: string): Promise<string>;
  /** `available/pending` of the merchant. */
  balance(): Promise<string>;
  /** Reason and detail of an address that is not swept, null where nothing is left to do. */
  reason(address: string): Promise<string | null>;
  /** Tokens on an address, in solid blocks. */
  held(address: string): Promise<bigint>;
  /** Looks at every address at once instead of when it is due. */
  lookNow(): Promise<void>;
  /** Stops the engine where it stands and starts another one, as after a death. */
  restart(): Promise<void>;
}

/** Opens a house; dispose of it in any case. */
export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const stack = new AsyncDisposableStack();
  try {
    return await furnish(stack, options);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function furnish(stack: AsyncDisposableStack, options: HouseOptions): Promise<House> {
  const database = stack.use(await testDatabase());
  const { sql } = database;
  const journalSql = database.connect({ max: 4, looksUpOnly: true });
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const keys = networkKeys(HDKey.fromMasterSeed(seed), NETWORK);
  const hot = signingKey(keys, NETWORK, "hot");
  const dataDir = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  const dev = await startDevChain({
    network: NETWORK,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: 2,
    treasury: hot.address,
  });
  stack.defer(() => dev.stop());
  const control = async (command: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`${dev.url}/${command}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    throw new Error(`Cannot ${command} as the chain refused: ${JSON.stringify(answer)}`);
  };
  const token = options.tokenFee === undefined ? dev.usdt : Token.parse(
    await control("dev/token", { symbol: "USDT", feeBasisPoints: options.tokenFee }),
  ).address;
  const contracts = { USDT: token };
  const seeing = createTronChain({
    network: NETWORK,
    nodeUrls: [dev.url],
    contracts,
    deposits: publicAddresses(NETWORK, { depositXpub: keys.deposits.publicExtendedKey }),
    hotWallet: hot.address,
    lifetimeMs: LIFETIME_MS,
  });
  const chain = options.tokenFee === undefined ? seeing : blindChain(seeing);
  await addWallet(sql, NETWORK, hot.address, "wal_test");
  const merchantId = await addMerchant(sql);
  const signer = signerOf(sql, keys, contracts);
  const terms = {
    enabled: true,
    gas: "auto" as const,
    factor: "2",
    topUpWaitMs: 22 * 3_600_000,
    ...options.terms,
  };
  await control("dev/mine", { blocks: 4 });
  if (options.stake !== undefined) {
    const built = Built.parse(
      await control("wallet/freezebalancev2", {
        owner_address: addressToHex(hot.address),
        frozen_balance: options.stake * 1_000_000,
        resource: "ENERGY",
      }),
    );
    const signature = [signTransactionId(built.txID, hot.privateKey)];
    await control("wallet/broadcasttransaction", { ...built, signature });
    await control("dev/mine", { blocks: 4 });
  }
  const open = () => engineOf({ sql, journalSql, chain, signer, terms });
  let engine = open();
  await engine.start();
  stack.defer(() => engine.stop(5_000));
  if (options.second === true) {
    const second = open();
    await second.start();
    stack.defer(() => second.stop(5_000));
  }
  const house: House = {
    ...readsOf(sql, chain, merchantId),
    sql,
    chain,
    merchantId,
    terms,
    get merchants() {
      return engine.merchants;
    },
    token,
    setSweeping(enabled) {
      terms.enabled = enabled;
    },
    control,
    async address(kind, identifier = "customer") {
      const fresh = await engine.addressBook.take(NETWORK, merchantId);
      const outcome = await engine.merchants.ask(merchantId, {
        type: "issue-address",
        kind,
        at: Date.now(),
        network: NETWORK,
        identifier: kind === "issued" ? identifier : null,
        referenceId: null,
        createOnly: false,
        fresh,
      }, 60_000);
      if (outcome.kind !== "done") throw new Error(`Cannot go on: ${JSON.stringify(outcome)}`);
      return outcome.value.address;
    },
    async pay(to, amount, currency = "USDT") {
      const asset = currency === "USDT" ? token : currency;
      return Sent.parse(await control("dev/transfer", { to, amount, currency: asset })).txid;
    },
    async mine(blocks, intervalMs = 1_000) {
      await control("dev/mine", { blocks, intervalMs });
      const { solid } = Info.parse(await control("dev/config", {}));
      const end = Date.now() + READ_MS;
      while ((await readCursor(sql, NETWORK, "solid"))?.height !== solid) {
        if (Date.now() > end) throw new Error(`Cannot go on as block ${solid} was not read`);
        await pause(25);
      }
    },
    async until(what, condition) {
      for (let i = 0; i < MOST_BLOCKS; i++) {
        if (await condition()) return;
        await house.mine(1);
        await pause(40);
      }
      throw new Error(
        `Cannot go on as ${what} did not come true: ${JSON.stringify(await house.steps())}`,
      );
    },
    async restart() {
      await engine.stop(0);
      engine = open();
      await engine.start();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  await house.mine(1);
  return house;
}

/** A pause. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function signerOf(
  sql: Sql,
  own: NetworkKeys,
  contracts: { readonly USDT: string },
): Signer {
  const keyOf = (network: string, wallet: "hot" | number) =>
    network === NETWORK ? signingKey(own, NETWORK, wallet) : null;
  return createSigner({
    keys: {
      walletId: "wal_test",
      key: keyOf,
      address: (network, wallet) => keyOf(network, wallet)?.address ?? null,
      lock: () => {},
    },
    intents: {
      read: (ids) => readIntents(sql, ids),
      readUsed: (places) => readUsedNonces(sql, places),
    },
    builders: [createTronTransferBuilder({
      network: NETWORK,
      contracts,
      longestLifetimeMs: LIFETIME_MS,
      highestFeeLimitSun: 150_000_000,
      clockToleranceMs: null,
    })],
    spending: new SpendingLimits({}),
    now: Date.now,
  });
}

/** An engine of one network, whose sweeps are planned as fast as blocks are made. */
export function engineOf({
  sql,
  journalSql,
  chain,
  signer,
  terms,
  coinRate = "0.3",
  staleMs = 20_000,
}: {
  readonly sql: Sql;
  readonly journalSql: Sql;
  readonly chain: Chain;
  readonly signer: Signer;
  readonly terms: SweepTerms;
  /** Units of a currency per coin. */
  readonly coinRate?: string;
  /** Time after which a step that shows nowhere is looked into. */
  readonly staleMs?: number;
}): Engine {
  return new Engine({
    sql,
    journalSql,
    chains: new Map([[chain.network, chain]]),
    signer,
    webhooks: { wake: () => {}, start: () => {}, stop: () => Promise.resolve() },
    pace: () => ({ pollMs: 100, leaseMs: 2_000, resendMs: 200, recheckMs: 200, attemptLimit: 2 }),
    now: Date.now,
    usdRate: () => "1",
    coinRate: () => coinRate,
    sweeps: {
      terms: () => terms,
      pace: () => ({
        staleMs,
        retryMs: 50,
        failureLimit: 3,
        coolDownMs: 600_000,
        pollMs: 100,
      }),
      coinRate: () => coinRate,
    },
  });
}

/** Reads of a house. */
export function readsOf(sql: Sql, chain: Chain, merchantId: string) {
  return {
    async steps(): Promise<readonly StepRow[]> {
      return await sql<StepRow[]>`
        SELECT o.id, o.kind, o.status, o.reason, trim_scale(o.amount)::text AS amount, o.attempts,
          ARRAY(SELECT coalesce(trim_scale(a.fee)::text, a.outcome, 'open') FROM book.attempt a
                WHERE a.outgoing_id = o.id ORDER BY a.number) AS fees
        FROM book.outgoing o WHERE o.merchant_id = 'mer_platform' ORDER BY o.id`;
    },
    async deposit(txid: string): Promise<string> {
      const [row] = await sql<{ line: string }[]>`
        SELECT d.status || ' ' || trim_scale(d.amount) || ' fee ' || trim_scale(d.fixed_fee)
          || ' effect ' || trim_scale(t.effect) AS line
        FROM book.deposit d JOIN book.transaction t ON t.merchant_id = d.merchant_id AND t.seq = d.transaction_seq
        WHERE d.txid = ${txid}`;
      return row?.line ?? "none";
    },
    async balance(): Promise<string> {
      const [row] = await sql<{ line: string }[]>`
        SELECT trim_scale(available) || '/' || trim_scale(pending) AS line FROM book.balance
        WHERE merchant_id = ${merchantId}`;
      return row?.line ?? "none";
    },
    async reason(address: string): Promise<string | null> {
      const [row] = await sql<{ reason: string | null }[]>`
        SELECT reason FROM book.sweep_address WHERE address = ${address}`;
      return row === undefined ? null : row.reason ?? "not looked at yet";
    },
    held: (address: string): Promise<bigint> => chain.balanceOf(address, "USDT"),
    async lookNow(): Promise<void> {
      await sql`UPDATE book.sweep_address SET poll_at = now()`;
    },
  };
}
