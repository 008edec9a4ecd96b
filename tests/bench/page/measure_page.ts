/**
 * Costs of hosted pages: drawing one, and a thousand of them being open.
 *
 * @module
 */

import { createHash, randomBytes } from "node:crypto";
import { newId } from "../../../actors/runtime/ids.ts";
import { addressFromLogHex } from "../../../chains/tron/address.ts";
import { delay } from "../../../ledger/database/delay.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import type { BenchCluster } from "../bench_cluster.ts";
import type { Options } from "../options.ts";
import { serverTimeUs } from "../processor_time.ts";
import { type ServerProcess, startServer } from "../server_process.ts";
import { median } from "../statistics.ts";
import { pollAll } from "./open_pages.ts";

/** Pages that are open at the same time. */
export const OPEN_PAGES = 1_000;

const WARM_UP = 200;
const DRAWN = 300;

/** One round. */
export interface PageMeasurement {
  readonly round: number;
  /** Median time from asking for a page until it is read, one at a time, milliseconds. */
  readonly pageMs: number;
  readonly bytes: number;
  /** Status requests per second of all open pages. */
  readonly pollsPerSecond: number;
  /** Processor time of the open pages, in cores: less what service and database take when idle. */
  readonly serviceCores: number;
  readonly databaseCores: number;
}

/** Measures as many rounds as are wanted. */
export async function measurePages(
  cluster: BenchCluster,
  options: Options,
  note: (text: string) => void,
): Promise<readonly PageMeasurement[]> {
  const { url, sql } = await cluster.database("page");
  const tokens = await openSessions(sql, cluster.seed.hotMerchants[0] ?? "");
  await using server = await startServer({ side: "journal", pool: 0, databaseUrl: url });
  const pages = tokens.map((token) => `${server.url}/deposit/${token}`);
  const statuses = tokens.map((token) => `${server.url}/api/deposit-page/status?token=${token}`);
  for (let i = 0; i < WARM_UP; i++) await draw(pages[i] ?? "");
  await pollAll(statuses, 2_000);
  const measured: PageMeasurement[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    note(`pages, round ${round} of ${options.rounds}`);
    const drawn: { ms: number; bytes: number }[] = [];
    for (let i = 0; i < DRAWN; i++) drawn.push(await draw(pages[i] ?? ""));
    const lengthMs = options.seconds * 5_000;
    const idle = await coresOf(cluster, server, () => delay(lengthMs));
    let polls = 0;
    const polled = await coresOf(cluster, server, async () => {
      polls = await pollAll(statuses, lengthMs);
    });
    measured.push({
      round,
      pageMs: median(drawn.map(({ ms }) => ms)),
      bytes: Math.max(...drawn.map(({ bytes }) => bytes)),
      pollsPerSecond: polls / polled.seconds,
      serviceCores: polled.service - idle.service,
      databaseCores: polled.database - idle.database,
    });
  }
  return measured;
}

/** Processor time that passes while something is done, in cores. */
async function coresOf(cluster: BenchCluster, server: ServerProcess, body: () => Promise<void>) {
  const used = async () => ({
    service: (await server.figures()).cpuUs,
    database: await serverTimeUs(cluster.pid) ?? NaN,
  });
  const before = await used();
  const began = performance.now();
  await body();
  const tookUs = (performance.now() - began) * 1_000;
  const after = await used();
  return {
    seconds: tookUs / 1_000_000,
    service: (after.service - before.service) / tookUs,
    database: (after.database - before.database) / tookUs,
  };
}

async function draw(url: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const began = performance.now();
  const answer = await fetch(url, { headers: { accept: "text/html" } });
  const { byteLength } = await answer.arrayBuffer();
  const ms = performance.now() - began;
  if (answer.status !== 200) throw new Error(`Cannot measure a page as it is ${answer.status}`);
  return { ms, bytes: byteLength };
}

/** Inserts open sessions with a quote; answers their tokens. */
async function openSessions(sql: Sql, merchantId: string): Promise<readonly string[]> {
  const tokens = Array.from({ length: OPEN_PAGES }, () => randomBytes(32).toString("base64url"));
  const hashes = tokens.map((token) => createHash("sha256").update(token).digest("hex"));
  const addresses = tokens.map((_, index) =>
    addressFromLogHex(`a1${(2_000_000 + index).toString(16).padStart(38, "0")}`)
  );
  await sql`
    INSERT INTO hub.session (id, token_hash, nonce, merchant_id, seq, address_id, address, network,
      identifier, reference_id, requested_amount, requested_currency, exchange_rate, currency,
      amount, token, expires_at, created_at)
    SELECT id, decode(hash, 'hex'), 'bench', ${merchantId}, n, 'adr_' || n, address, 'TRX',
      'customer-' || n, 'order-' || n, 100.5, 'EUR', 0.86, 'USDT', 116.86046512, 'USDT',
      now() + interval '1 hour', now()
    FROM unnest(${tokens.map(() => newId("ses"))}::text[], ${hashes}::text[],
      ${addresses}::text[]) WITH ORDINALITY AS s(id, hash, address, n)`;
  await sql`VACUUM ANALYZE hub.session, book.deposit`;
  return tokens;
}
