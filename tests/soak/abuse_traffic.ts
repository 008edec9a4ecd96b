import { delay } from "../../ledger/database/delay.ts";

/** A merchant that works as usual. */
export interface OrdinaryMerchant {
  readonly id: string;
  readonly apiKey: string;
  /** Draws what it asks for next. */
  readonly draw: () => number;
}

/** Answers to ordinary merchants during one phase. */
export interface Heard {
  readonly latencies: number[];
  /** Answers by status, `broken` where there was none. */
  readonly statuses: Map<string, number>;
  /** References of withdrawals that were answered 201. */
  readonly paid: { readonly merchantId: string; readonly referenceId: string }[];
}

/** An empty record of a phase. */
export function nothingHeard(): Heard {
  return { latencies: [], statuses: new Map(), paid: [] };
}

/** A request every so often per merchant: within the published limits of each category. */
const PAUSE_MS = 200;
/** A request without an answer for so long counts as broken. */
const PATIENCE_MS = 30_000;

let made = 0;

/** Lets merchants work for a while; requests are sent by the clock, whatever becomes of the others. */
export async function workFor(
  seconds: number,
  baseUrl: string,
  merchants: readonly OrdinaryMerchant[],
  destination: string,
  heard: Heard,
): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  const asked: Promise<void>[] = [];
  await Promise.all(merchants.map(async (merchant, index) => {
    await delay(index * PAUSE_MS / merchants.length);
    while (performance.now() < end) {
      asked.push(askOnce(baseUrl, merchant, destination, heard));
      await delay(PAUSE_MS);
    }
  }));
  await Promise.all(asked);
}

async function askOnce(
  baseUrl: string,
  merchant: OrdinaryMerchant,
  destination: string,
  heard: Heard,
): Promise<void> {
  const referenceId = `abuse-${++made}`;
  const { method, path, body } = requestOf(merchant.draw(), referenceId, destination);
  const began = performance.now();
  let status = "broken";
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: merchant.apiKey,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.text();
    status = String(response.status);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    status = `broken (${error.message.slice(0, 60)})`;
  }
  heard.latencies.push(performance.now() - began);
  heard.statuses.set(status, (heard.statuses.get(status) ?? 0) + 1);
  if (path === "/api/withdrawals" && status === "201") {
    heard.paid.push({ merchantId: merchant.id, referenceId });
  }
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

function requestOf(drawn: number, referenceId: string, destination: string): Asked {
  if (drawn < 0.1) {
    const body = { amount: "2", currency: "USDT", network: "TRX", destination, referenceId };
    return { method: "POST", path: "/api/withdrawals", body };
  }
  if (drawn < 0.2) {
    const body = { network: "TRX", identifier: referenceId };
    return { method: "POST", path: "/api/deposit-url", body };
  }
  if (drawn < 0.5) return { method: "GET", path: "/api/balance" };
  if (drawn < 0.7) return { method: "GET", path: "/api/withdrawals?limit=20" };
  return { method: "GET", path: "/api/transactions?limit=20" };
}
