/**
 * The whole life of withdrawals: reserved over HTTP, signed, broadcast, final, settled, and their
 * callback acknowledged, by the service as `deno task start` runs it. Its development chain and the
 * load are on the same cores.
 *
 * @module
 */

import { delay } from "../../../ledger/database/delay.ts";
import { someAddress } from "../../faults/support/chain_audit.ts";
import { ask, eventually } from "../../faults/support/client.ts";
import { openPayers, type Payer } from "../../faults/support/crowd.ts";
import { booksFaults } from "../../support/books.ts";
import { type Service, TWO_NETWORKS, withService } from "../../support/service.ts";
import { cpuUsOf } from "../processor_time.ts";
import { measureSigning } from "./measure_signing.ts";
import { openLifeReceiver } from "./receiver.ts";

/** Figures of a run. */
export interface LifeMeasurement {
  readonly seconds: number;
  /** Withdrawals whose confirmation was acknowledged within the time, each second. */
  readonly perSecond: number;
  /** From the request to the acknowledged callback, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time of the service with its development chain, per withdrawal; null: unknown. */
  readonly serviceUs: number | null;
  /** Signing alone, per second of processor time. */
  readonly signatures: number;
}

const PAYERS = 50;
const CLIENTS = 8;
/** Withdrawals that are under way at the same time: more than are settled in a life of 6 seconds. */
const UNDER_WAY = 1_500;
/** Destinations that are paid to; an address that holds USDT already costs half. */
const DESTINATIONS = 500;
const WARM_UP_S = 10;
const SIGNATURES = 2_000;
/** Time for what is under way when the load ends, where the host leaves a tenth of the cores. */
const SETTLE_MS = 300_000;

/**
 * Measures for a while.
 *
 * @param seconds after a warm-up
 * @throws when a withdrawal was refused, is lost, or the books are wrong afterwards
 */
export async function measureLife(
  seconds: number,
  note: (text: string) => void,
): Promise<LifeMeasurement> {
  const signatures = await measureSigning(SIGNATURES);
  await using receiver = openLifeReceiver();
  const env = { LOG_LEVEL: "error", ...TWO_NETWORKS };
  return await withService(async (service) => {
    note("life: starting the service");
    await service.start();
    const payers = await openPayers(service, PAYERS, "1000000");
    for (const { merchantId, apiKey } of payers) {
      const settings = { webhookUrl: receiver.url, webhookEnabled: true };
      await ask(service, "PATCH", `/api/merchants/${merchantId}`, settings, apiKey);
    }
    const asked = new Map<string, number>();
    const load = startLoad(service, payers, asked, () => asked.size - receiver.confirmed.size);
    note(`life: ${WARM_UP_S} s of warm-up, ${seconds} s measured`);
    await delay(WARM_UP_S * 1_000);
    const [began, before] = [performance.now(), await cpuUsOf(service.pid)];
    const alreadyConfirmed = receiver.confirmed.size;
    await delay(seconds * 1_000);
    const [ended, after] = [performance.now(), await cpuUsOf(service.pid)];
    const confirmed = receiver.confirmed.size - alreadyConfirmed;
    await load.stop();
    await eventually("every withdrawal settled", () => {
      if (asked.size === receiver.confirmed.size) return Promise.resolve(true);
      return Promise.reject(new Error(`${receiver.confirmed.size} of ${asked.size}`));
    }, SETTLE_MS);
    const faults = await booksFaults(service.sql);
    if (faults.length > 0) throw new Error(`Cannot trust the figures as ${faults[0]}`);
    const lives = [...receiver.confirmed].filter(([, at]) => at >= began && at < ended)
      .map(([id, at]) => at - (asked.get(id) ?? at)).sort((a, b) => a - b);
    return {
      seconds: (ended - began) / 1_000,
      perSecond: confirmed / (ended - began) * 1_000,
      p50: lives[Math.floor(lives.length * 0.5)] ?? NaN,
      p99: lives[Math.floor(lives.length * 0.99)] ?? NaN,
      serviceUs: before === null || after === null ? null : (after - before) / confirmed,
      signatures,
    };
  }, { env });
}

/** Clients that keep a number of withdrawals under way. */
function startLoad(
  service: Service,
  payers: readonly Payer[],
  asked: Map<string, number>,
  underWay: () => number,
): { stop(): Promise<void> } {
  const destinations = Array.from({ length: DESTINATIONS }, () => someAddress());
  let stopping = false;
  let next = 0;
  const client = async () => {
    while (!stopping) {
      if (underWay() >= UNDER_WAY) {
        await delay(10);
        continue;
      }
      const number = next++;
      const payer = payers[number % payers.length] as Payer;
      const sentAt = performance.now();
      const body = {
        amount: "1",
        currency: "USDT",
        network: "TRX_SHASTA",
        destination: destinations[number % DESTINATIONS],
        referenceId: `life-${number}`,
      };
      const answer = await ask(service, "POST", "/api/withdrawals", body, payer.apiKey);
      const id = idIn(answer.body);
      if (answer.status !== 201 || id === null) {
        throw new Error(`Cannot measure as a withdrawal was refused: ${answer.status}`);
      }
      asked.set(id, sentAt);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  return {
    stop: async () => {
      stopping = true;
      await Promise.all(clients);
    },
  };
}

function idIn(body: unknown): string | null {
  return typeof body === "object" && body !== null && "withdrawalId" in body
    ? String(body.withdrawalId)
    : null;
}
