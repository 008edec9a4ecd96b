import { z } from "zod";
import type { Sql } from "../../ledger/database/connect.ts";
import { ask, control, eventually, expectBody } from "../faults/support/client.ts";
import type { Service } from "../support/service.ts";
import type { AbuseSoakOptions } from "./abuse_options.ts";
import type { OrdinaryMerchant } from "./abuse_traffic.ts";

/** Funds of every merchant at the start, in USDT. */
const FUNDS = "2000";
/** Readers of large lists, each with a key of its own. */
const READERS = 8;
/** Merchants without limits whose requests have bodies that do not arrive. */
const HOLDERS = 10;
/** Rows of those lists, and the metadata of each: more than may be attached today. */
const ROWS = 100;
const METADATA = { note: "x".repeat(58_000) };
/** Deposits by hand that are booked at once; the limit of their category is 100 a minute. */
const UNLIMITED = { balance: 0, deposits: 0, withdrawals: 0, transactions: 0, webhooks: 0 };

/** Everything that a run is about. */
export interface AbuseWorld {
  readonly baseUrl: string;
  readonly sql: Sql;
  /** Merchants that work as usual. */
  readonly merchants: readonly OrdinaryMerchant[];
  /** Merchants that do not, with valid keys. */
  readonly suspects: {
    readonly payer: string;
    readonly readers: readonly string[];
    readonly holders: readonly string[];
    readonly heldId: string;
    readonly heldKey: string;
    /** Destination of all payouts. */
    readonly destination: string;
  };
}

/** Makes merchants, their money and the rows of large lists. */
export async function makeWorld(
  service: Service,
  options: AbuseSoakOptions,
  draw: () => number,
): Promise<AbuseWorld> {
  const merchants: OrdinaryMerchant[] = [];
  for (let i = 0; i < options.merchants; i++) {
    merchants.push({ ...await makeMerchant(service, `Ordinary ${i}`), draw });
  }
  const [reader, held] = [
    await makeMerchant(service, "Reader", UNLIMITED),
    await makeMerchant(service, "Held"),
  ];
  await fund(service, [...merchants, reader, held]);
  await fillLists(service, reader);
  const readers = [];
  for (let i = 0; i < READERS; i++) readers.push(await makeKey(service, reader.id));
  const holders = [];
  for (let i = 0; i < HOLDERS; i++) {
    holders.push((await makeMerchant(service, `Holder ${i}`, UNLIMITED)).apiKey);
  }
  const { baseUrl, chains } = service.credentials;
  return {
    baseUrl,
    sql: service.sql,
    merchants,
    suspects: {
      payer: reader.apiKey,
      readers,
      holders,
      heldId: held.id,
      heldKey: held.apiKey,
      destination: chains.TRX.faucetAddress,
    },
  };
}

/** Holds a merchant's account row as a session of the database does that was forgotten. */
export async function holdRow(
  sql: Sql,
  merchantId: string,
): Promise<{ readonly release: () => Promise<void> }> {
  const released = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await tx`SELECT FROM book.account WHERE merchant_id = ${merchantId} FOR UPDATE`;
    locked.resolve();
    await released.promise;
  });
  await Promise.race([locked.promise, holding]);
  return {
    release: async () => {
      released.resolve();
      await holding;
    },
  };
}

async function makeMerchant(
  service: Service,
  name: string,
  rateLimits: object = {},
): Promise<{ readonly id: string; readonly apiKey: string }> {
  const { admin } = service.credentials;
  const made = await ask(service, "POST", "/api/admin/merchants", { name }, admin.apiKey);
  const { id } = expectBody(z.object({ id: z.string() }), made, 201);
  const limited = { rateLimits };
  await ask(service, "PATCH", `/api/merchants/${id}`, limited, admin.apiKey);
  return { id, apiKey: await makeKey(service, id) };
}

async function makeKey(service: Service, merchantId: string): Promise<string> {
  const { admin } = service.credentials;
  const body = { label: "soak", permissions: ["read", "write", "payout"] };
  const path = `/api/merchants/${merchantId}/api-keys`;
  const made = await ask(service, "POST", path, body, admin.apiKey);
  return expectBody(z.object({ apiKey: z.string() }), made, 201).apiKey;
}

async function fund(
  service: Service,
  merchants: readonly { readonly id: string; readonly apiKey: string }[],
): Promise<void> {
  for (const { apiKey } of merchants) {
    const body = { network: "TRX", identifier: "start" };
    const issued = await ask(service, "POST", "/api/deposit-address", body, apiKey);
    const { address } = expectBody(z.object({ address: z.string() }), issued, 201);
    await control(service, "/dev/transfer", { to: address, amount: FUNDS, currency: "USDT" });
  }
  await eventually("every merchant funded", async () => {
    const rows = await service.sql`
      SELECT FROM book.deposit WHERE status = 'CONFIRMED' AND merchant_id = ANY(${
      merchants.map(({ id }) => id)
    })`;
    return rows.length === merchants.length;
  });
}

async function fillLists(
  service: Service,
  reader: { readonly id: string; readonly apiKey: string },
): Promise<void> {
  const body = { amount: "1", currency: "USDT", network: "TRX", source: "by hand" };
  for (let i = 0; i < ROWS; i++) {
    const made = await ask(service, "POST", "/api/deposits", body, reader.apiKey);
    expectBody(z.object({ id: z.string() }), made, 201);
  }
  const { sql } = service;
  await sql`
    UPDATE book.deposit SET metadata = ${sql.json(METADATA)}
    WHERE merchant_id = ${reader.id} AND source = 'by hand'`;
  // from now on with the published limits
  const { admin } = service.credentials;
  const path = `/api/merchants/${reader.id}`;
  await ask(service, "PATCH", path, { rateLimits: { transactions: null } }, admin.apiKey);
}
