/**
 * The service as `deno task start` runs it, with its own development chains of Ethereum and BNB Smart Chain: its start, deposits,
 * addresses, payouts, and one that fees have left behind. The load is on the same cores.
 *
 * @module
 */

import { z } from "zod";
import { delay } from "../../../ledger/database/delay.ts";
import { ask, eventually, expectBody, send } from "../../faults/support/client.ts";
import { openPayers, type Payer } from "../../faults/support/crowd.ts";
import { booksFaults } from "../../support/books.ts";
import { type Service, withService } from "../../support/service.ts";
import { type LifeReceiver, openLifeReceiver } from "../life/receiver.ts";
import { median } from "../statistics.ts";
import type { EvmMeasurement } from "./evm_report.ts";
import { issueAddresses } from "./issue_addresses.ts";
import { payMany } from "./pay_many.ts";
import { timeStuckPayout } from "./stuck_payout.ts";

const BLOCK_MS = 1_000;
const PAYERS = 20;
const DEPOSITS = 12;
/** Starts of each kind, in turns: one differs from the next by more than the chain costs. */
const STARTS = 3;
/** Time after which memory is looked at. */
const REST_MS = 3_000;
const DEFAULT_CHAINS = "TRX,TRX_SHASTA";

/** Measures all of it. @param seconds of payouts, after a warm-up. @param found takes the figures as they come */
export async function measureEvmService(
  seconds: number,
  note: (text: string) => void,
  found: EvmMeasurement[],
): Promise<void> {
  await using receiver = openLifeReceiver();
  const env = { LOG_LEVEL: "error", DEV_CHAIN_BLOCK_MS: String(BLOCK_MS) };
  await withService(async (service) => {
    note("evm: starts with and without the chain");
    found.push(...await measureStarts(service));
    await service.kill9();
    await service.start({ env: { DEV_CHAINS: `${DEFAULT_CHAINS},ETH,BNB` } });
    const { apiKey } = service.credentials.admin;
    for (const network of ["ETH", "BNB", "TRX_SHASTA"]) {
      const pair = { currency: "USDT", network, depositsEnabled: true, withdrawalsEnabled: true };
      expectBody(z.object({}), await ask(service, "PUT", "/api/admin/pairs", pair, apiKey), 200);
    }
    note("evm: deposits");
    found.push(...await timesOfDeposits(service));
    note("evm: addresses");
    found.push(...await measureAddresses(service, seconds));
    note("evm: a payout that fees have left behind");
    found.push(await timeStuckPayout(service, BLOCK_MS));
    for (const [network, depth] of [["ETH", 12], ["BNB", 48]] as const) {
      note(`evm: payouts on ${network}`);
      const payers = await openPaidPayers(service, receiver, network);
      found.push({
        name: `payouts until their callback, per s, depth ${depth}`,
        value: await payMany(service, network, payers, receiver, { depth, seconds }),
        asked: depth === 48 ? { least: 40 } : null,
      });
    }
    const faults = await booksFaults(service.sql);
    if (faults.length > 0) throw new Error(`Cannot trust the figures as ${faults[0]}`);
  }, { env });
}

/** Time and memory of a start with a chain beyond those of one without. */
async function measureStarts(service: Service): Promise<readonly EvmMeasurement[]> {
  const found = { without: [] as Start[], beside: [] as Start[] };
  let anvil = NaN;
  // the first starts of both make what later ones find
  for (let n = 0; n <= STARTS; n++) {
    const without = await started(service, DEFAULT_CHAINS, n === 0);
    const beside = await started(service, `${DEFAULT_CHAINS},ETH`, false);
    anvil = await anvilMb(service, "ETH");
    if (n === 0) continue;
    found.without.push(without);
    found.beside.push(beside);
  }
  const more = (of: (one: Start) => number) =>
    median(found.beside.map(of)) - median(found.without.map(of));
  return [
    { name: "start with ETH longer by, ms", value: more(({ ms }) => ms), asked: { most: 500 } },
    {
      name: "memory of the service more by, MB",
      value: more(({ mb }) => mb),
      asked: { most: 10 },
    },
    { name: "memory of anvil, MB", value: anvil, asked: { most: 60 } },
  ];
}

interface Start {
  readonly ms: number;
  readonly mb: number;
}

/** Starts the service anew. @returns its time, and its memory once it is at rest */
async function started(service: Service, chains: string, isFirst: boolean): Promise<Start> {
  if (!isFirst) await service.kill9();
  const ms = await service.start({ env: { DEV_CHAINS: chains } });
  await delay(REST_MS);
  return { ms, mb: await memoryMb(service.pid) };
}

/** Resident memory of a process. */
async function memoryMb(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? NaN) / 1_024;
}

async function anvilMb({ dataDir }: Service, network: string): Promise<number> {
  const text = await Deno.readTextFile(`${dataDir}/dev-chain-${network}/anvil.port`);
  return await memoryMb(z.object({ pid: z.number() }).parse(JSON.parse(text)).pid);
}

/** Medians of deposits, one after the other. */
async function timesOfDeposits(service: Service): Promise<readonly EvmMeasurement[]> {
  const { sql, credentials } = service;
  const chain = credentials.chains["ETH"];
  if (chain === undefined) throw new Error("Cannot measure as there is no chain of Ethereum");
  const times = { received: [] as number[], completed: [] as number[] };
  for (let n = 0; n < DEPOSITS; n++) {
    const wanted = { network: "ETH", identifier: `deposit-${n}`, referenceId: `deposit-${n}` };
    const answer = await ask(service, "POST", "/api/deposit-address", wanted);
    const { address } = expectBody(z.object({ address: z.string() }), answer, 201);
    const began = performance.now();
    const paid = { to: address, amount: "5", currency: "USDT" };
    const { txid } = z.object({ txid: z.string() })
      .parse((await send(`${chain.url}/dev/transfer`, "POST", paid)).body);
    const until = (statuses: readonly string[]) =>
      eventually(`a deposit ${statuses[0]}`, async () => {
        const rows = await sql`
          SELECT FROM book.deposit WHERE txid = ${txid} AND status = ANY(${[...statuses]})`;
        return rows.length > 0;
      });
    await until(["PENDING", "CONFIRMED"]);
    times.received.push(performance.now() - began);
    await until(["CONFIRMED"]);
    times.completed.push(performance.now() - began);
  }
  const { received, completed } = times;
  return [
    {
      name: "deposit on the development chain received after, ms",
      value: median(received),
      asked: { most: 1_500 },
    },
    { name: "and completed after, ms", value: median(completed), asked: { most: 4_000 } },
  ];
}

async function measureAddresses(
  service: Service,
  seconds: number,
): Promise<readonly EvmMeasurement[]> {
  const of = (network: string) => issueAddresses(service, network, seconds / 2);
  const [ethereum, tron] = [await of("ETH"), await of("TRX_SHASTA")];
  return [
    { name: "deposit addresses over HTTP, per s", value: ethereum, asked: { least: 1_500 } },
    { name: "the same on TRON", value: tron, asked: null },
  ];
}

async function openPaidPayers(
  service: Service,
  receiver: LifeReceiver,
  network: "ETH" | "BNB",
): Promise<readonly Payer[]> {
  const payers = await openPayers(service, PAYERS, "1000000", network);
  for (const { merchantId, apiKey } of payers) {
    const settings = { webhookUrl: receiver.url, webhookEnabled: true };
    await ask(service, "PATCH", `/api/merchants/${merchantId}`, settings, apiKey);
  }
  return payers;
}
