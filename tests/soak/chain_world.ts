import { z } from "zod";
import { PROFILES } from "../../chains/profiles.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { ask, eventually, expectBody } from "../faults/support/client.ts";
import { seeded } from "../faults/support/seeded.ts";
import { type Service, withService } from "../support/service.ts";
import { kindOf } from "./chain_kinds.ts";
import type { ChainSoakOptions } from "./chain_options.ts";
import { type ChainProcess, startChain } from "./chain_process.ts";
import { openSoakReceiver, type SoakReceiver } from "./chain_receiver.ts";

/** Blocks from head to the solid one: a reorganisation may take back one less. */
export const SOLID_LAG = 5;
/** Funds of every merchant at the start, in USDT: a deposit like any other. */
const START_FUNDS = "2000";
/** Percentages of deposits that merchants pay, one after the other. */
const RATES = ["0", "0.01", "0.0125", "0.003"] as const;

/** A merchant of the run. */
export interface SoakMerchant {
  readonly id: string;
  readonly apiKey: string;
  /** Commission on deposits, a decimal fraction. */
  readonly rate: string;
}

/** An address that was issued, and whom a payment to it belongs to. */
export interface IssuedAddress {
  readonly address: string;
  readonly merchant: SoakMerchant;
}

/** A payout that was asked for. */
export interface AskedPayout {
  readonly merchant: SoakMerchant;
  readonly referenceId: string;
  readonly destination: string;
  readonly amount: string;
  readonly withdrawalId: string;
}

/** Everything that a run is about. */
export interface SoakWorld {
  readonly options: ChainSoakOptions;
  readonly service: Service;
  readonly chain: ChainProcess;
  readonly receiver: SoakReceiver;
  readonly merchants: readonly SoakMerchant[];
  readonly addresses: IssuedAddress[];
  readonly payouts: AskedPayout[];
  /** A generator of its own for each part, so that one part's pace does not change another's draws. */
  readonly draws: (part: string) => () => number;
}

/** Runs a function with the service, its chain, its merchants and their endpoints. */
export async function withWorld<T>(
  options: ChainSoakOptions,
  body: (world: SoakWorld) => Promise<T>,
): Promise<T> {
  await using chain = await startChain(options.network, {
    blockMs: options.blockMs,
    solidLag: SOLID_LAG,
  });
  await using receiver = openSoakReceiver();
  const env = { [`${options.network}_NODE_URLS`]: chain.url, DEV_CHAIN_BLOCK_MS: "1000" };
  return await withService(async (service) => {
    await service.start();
    await openPair(service, options.network);
    await fundHotWallet(service, chain, options.network);
    const world: SoakWorld = {
      options,
      service,
      chain,
      receiver,
      merchants: await Promise.all(
        Array.from({ length: options.merchants }, (_, n) => makeMerchant(service, receiver, n)),
      ),
      addresses: [],
      payouts: [],
      draws: (part) => seeded(seedOf(options.seed, part)),
    };
    await fundMerchants(world);
    return await body(world);
  }, { env });
}

/** Asks for a deposit address until it is there; asking again answers the same one. */
export async function issueAddress(
  world: SoakWorld,
  merchant: SoakMerchant,
  identifier: string,
): Promise<IssuedAddress> {
  const body = { network: world.options.network, identifier, referenceId: identifier };
  const answer = await ask(
    world.service,
    "POST",
    "/api/deposit-address",
    body,
    merchant.apiKey,
  );
  const { address } = expectBody(z.object({ address: z.string() }), answer, 201);
  const issued = { address, merchant };
  world.addresses.push(issued);
  return issued;
}

/** Networks besides the first of a kind are closed until an administrator opens them. */
async function openPair(service: Service, network: Network): Promise<void> {
  const pair = { currency: "USDT", network, depositsEnabled: true, withdrawalsEnabled: true };
  const { apiKey } = service.credentials.admin;
  const opened = await ask(service, "PUT", "/api/admin/pairs", pair, apiKey);
  expectBody(z.object({}), opened, 200);
}

/** Far more coin than thousands of payouts burn: running dry is another test's matter. */
async function fundHotWallet(
  service: Service,
  chain: ChainProcess,
  network: Network,
): Promise<void> {
  const [wallet] = await service.sql<{ hot_wallet: string }[]>`
    SELECT hot_wallet FROM hub.wallet WHERE network = ${network}`;
  await chain.control("/dev/transfer", {
    to: wallet?.hot_wallet,
    amount: kindOf(network).coin,
    currency: PROFILES[network].coin.symbol,
  });
}

async function makeMerchant(
  service: Service,
  receiver: SoakReceiver,
  number: number,
): Promise<SoakMerchant> {
  const asAdmin = (method: string, path: string, body: unknown) =>
    ask(service, method, path, body, service.credentials.admin.apiKey);
  const rate = RATES[number % RATES.length] ?? "0";
  const made = await asAdmin("POST", "/api/admin/merchants", {
    name: `Soak ${number}`,
    depositCommissionRate: rate,
    rateLimits: { balance: 0, deposits: 0, withdrawals: 0, transactions: 0, webhooks: 0 },
  });
  const { id, webhookSecret } = expectBody(
    z.object({ id: z.string(), webhookSecret: z.string() }),
    made,
    201,
  );
  receiver.secrets.set(id, webhookSecret);
  const patched = await asAdmin("PATCH", `/api/merchants/${id}`, {
    webhookUrl: `${receiver.url}/${id}`,
    webhookEnabled: true,
    webhookTimeout: 2_000,
    webhookRetryCount: 20,
  });
  expectBody(z.object({ id: z.literal(id) }), patched, 200);
  const key = await asAdmin("POST", `/api/merchants/${id}/api-keys`, {
    label: "soak",
    permissions: ["read", "write", "payout"],
  });
  const { apiKey } = expectBody(z.object({ apiKey: z.string() }), key, 201);
  return { id, apiKey, rate };
}

/** Payouts need something to be paid from. */
async function fundMerchants(world: SoakWorld): Promise<void> {
  const { service, chain, merchants } = world;
  for (const merchant of merchants) {
    const { address } = await issueAddress(world, merchant, "start");
    await chain.control("/dev/transfer", { to: address, amount: START_FUNDS, currency: "USDT" });
  }
  await eventually("every merchant funded", async () => {
    const rows = await service.sql`
      SELECT FROM book.deposit WHERE status = 'CONFIRMED' AND merchant_id = ANY(${
      merchants.map(({ id }) => id)
    })`;
    return rows.length === merchants.length;
  });
}

function seedOf(seed: number, part: string): number {
  let mixed = seed >>> 0;
  for (const letter of part) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return mixed;
}
