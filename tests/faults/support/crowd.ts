import { newId } from "../../../actors/runtime/ids.ts";
import { mintApiKey } from "../../../api/http/key_ring.ts";
import { addMerchant, addTransfer } from "../../support/books.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import type { Service } from "../../support/service.ts";
import { someAddress } from "./chain_audit.ts";
import { type Answer, eventually, send } from "./client.ts";

/** The crowd keeps to a network of its own, so that stories on the other one stay countable. */
const NETWORK = "TRX_SHASTA";

/** A merchant with money, and its key. */
export interface Payer {
  readonly merchantId: string;
  readonly apiKey: string;
}

/** Merchants that each have this much USDT available. */
export async function openPayers(
  service: Service,
  count: number,
  usdt: string,
  network: Network = NETWORK,
): Promise<readonly Payer[]> {
  const { sql, credentials } = service;
  if (credentials.chains[network] === undefined) {
    throw new Error(`Cannot pay on ${network} as the service does not serve it`);
  }
  const payers: Payer[] = [];
  for (let n = 0; n < count; n++) {
    const merchantId = await addMerchant(sql);
    const apiKey = mintApiKey("development");
    await sql`UPDATE book.merchant SET rate_limits = ${sql.json({ withdrawals: 0 })}
      WHERE merchant_id = ${merchantId}`;
    await sql`
      INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
      VALUES (${newId("key")}, sha256(${apiKey}::text::bytea), ${merchantId}, 'MERCHANT',
        '{read,write,payout}', 'test', now())`;
    await addTransfer(sql, merchantId, usdt, {
      txid: crypto.randomUUID().replaceAll("-", "f"),
      network,
    });
    payers.push({ merchantId, apiKey });
  }
  await eventually("every payer funded", async () => {
    const rows = await sql`
      SELECT FROM book.balance WHERE available = ${usdt}::numeric AND network = ${network}`;
    return rows.length >= count;
  });
  return payers;
}

/** One withdrawal that was asked for, and everything that was answered to it. */
export interface Request {
  readonly payer: Payer;
  readonly referenceId: string;
  readonly destination: string;
  /** Id of the withdrawal once it was acknowledged. */
  acknowledged: string | null;
  /** Status of the last answer; 0 when none came. */
  status: number;
}

/** Clients that withdraw 1 USDT again and again until they are told to stop. */
export interface Crowd {
  /** Every request so far. */
  readonly requests: readonly Request[];
  /** Times at which each acknowledgement arrived and its request was sent; `performance.now()`. */
  readonly acknowledged: readonly { readonly sentAt: number; readonly at: number }[];
  /** Answers other than an acknowledgement, by status; 0: none came. */
  readonly others: ReadonlyMap<number, number>;
  /** Lets every client finish the request it is at, whatever becomes of it. */
  stop(): Promise<void>;
}

/**
 * Starts one client per payer.
 *
 * @param name begins every reference
 * @param pauseMs between an answer and the next request
 */
export function startCrowd(
  service: Service,
  payers: readonly Payer[],
  name: string,
  pauseMs: number,
): Crowd {
  const requests: Request[] = [];
  const acknowledged: { sentAt: number; at: number }[] = [];
  const others = new Map<number, number>();
  let stopping = false;
  const client = async (payer: Payer) => {
    for (let n = 1; !stopping; n++) {
      const request: Request = {
        payer,
        referenceId: `${name}-${payer.merchantId}-${n}`,
        destination: someAddress(),
        acknowledged: null,
        status: 0,
      };
      requests.push(request);
      const sentAt = performance.now();
      const answer = await withdrawOnce(service, request);
      request.status = answer.status;
      if (answer.status === 201) {
        request.acknowledged = idOf(answer);
        acknowledged.push({ sentAt, at: performance.now() });
      } else others.set(answer.status, (others.get(answer.status) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const clients = payers.map(client);
  return {
    requests,
    acknowledged,
    others,
    stop: async () => {
      stopping = true;
      await Promise.all(clients);
    },
  };
}

/** Asks for a withdrawal once; status 0 when no answer came. */
export async function withdrawOnce(service: Service, request: Request): Promise<Answer> {
  const { payer, destination, referenceId } = request;
  const body = { amount: "1", currency: "USDT", network: NETWORK, destination, referenceId };
  try {
    const url = `${service.credentials.baseUrl}/api/withdrawals`;
    return await send(url, "POST", body, payer.apiKey);
  } catch {
    return { status: 0, body: null };
  }
}

/** Id of an acknowledged withdrawal. */
export function idOf(answer: Answer): string {
  const { body } = answer;
  if (typeof body !== "object" || body === null || !("withdrawalId" in body)) {
    throw new TypeError(`Cannot find a withdrawal's id in the answer: ${JSON.stringify(body)}`);
  }
  return String(body.withdrawalId);
}

/** Faults of the requests' rows, as sentences; empty when there are none. */
export async function requestFaults(service: Service, crowd: Crowd): Promise<string[]> {
  const rows = await service.sql<
    { id: string; merchant_id: string; reference_id: string; destination: string; amount: string }[]
  >`SELECT id, merchant_id, reference_id, destination, trim_scale(amount)::text AS amount
    FROM book.withdrawal`;
  const byReference = Map.groupBy(rows, (row) => row.reference_id);
  return crowd.requests.flatMap(({ payer, referenceId, destination, acknowledged, status }) => {
    const found = byReference.get(referenceId) ?? [];
    if (found.length > 1) return [`${referenceId} was created ${found.length} times`];
    const [row] = found;
    if (row === undefined) {
      return acknowledged === null ? [] : [`${referenceId} was acknowledged and is gone`];
    }
    if (status === 503) return [`${referenceId} was refused (503) and is there`];
    if (acknowledged !== null && row.id !== acknowledged) return [`${referenceId} has another id`];
    const isExact = row.merchant_id === payer.merchantId && row.destination === destination &&
      row.amount === "1";
    return isExact ? [] : [`${referenceId} differs from what was asked`];
  });
}
