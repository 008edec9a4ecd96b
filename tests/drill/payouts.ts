/**
 * Payouts of a drill: a merchant that withdraws without a pause, and what the chain shows of it.
 *
 * @module
 */

import { z } from "zod";
import { fromBase58 } from "../../devchain/address.ts";
import { delay } from "../../ledger/database/delay.ts";
import { someAddress } from "../faults/support/chain_audit.ts";
import { eventually, fetchStatus, type Installation, type ServiceProcess } from "./installation.ts";

/** The topic of a transfer of a token. */
const TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const Receipts = z.array(z.object({
  id: z.string(),
  log: z.array(z.object({ address: z.string(), topics: z.array(z.string()) })).optional(),
}));
const Made = z.object({ withdrawalId: z.string() });

/** A withdrawal that a merchant wants paid once. */
export interface Order {
  readonly referenceId: string;
  readonly destination: string;
  /** Time of its last acknowledgement, `performance.now()`. */
  acknowledgedAt: number;
  withdrawalId: string;
}

/** Gives the demo merchant money to pay out of, by a deposit as any other. */
export async function fund(installation: Installation, service: ServiceProcess): Promise<void> {
  const { merchant } = installation.credentials;
  const limits = "withdrawals=0,balance=0,transactions=0,deposits=0";
  await installation.admin(service, "merchants", "set", merchant.id, "--limit", limits);
  const made = await installation.call(service, "POST", "/api/deposit-address", {
    network: "TRX",
    identifier: "drill",
  });
  const { address } = z.object({ address: z.string() }).parse(await made.json());
  await control(installation, "transfer", { to: address, amount: "100000", currency: "USDT" });
  await eventually("money of the merchant", async () => {
    const text = await (await installation.call(service, "GET", "/api/balance")).text();
    return /"available":"9\d{4}|"available":"100000/.test(text);
  });
}

/** Asks for one withdrawal. Answers null where it was not acknowledged, and tells `refused` why. */
export async function withdraw(
  installation: Installation,
  service: ServiceProcess,
  { referenceId, destination }: Pick<Order, "referenceId" | "destination">,
  refused: (why: string) => void = () => {},
): Promise<Order | null> {
  const body = { amount: "1", currency: "USDT", network: "TRX", destination, referenceId };
  const answer = await installation.call(service, "POST", "/api/withdrawals", body);
  const text = await answer.text();
  if (answer.status !== 201) {
    refused(`${referenceId} was refused: ${answer.status} ${text}`);
    return null;
  }
  const { withdrawalId } = Made.parse(JSON.parse(text));
  return { referenceId, destination, withdrawalId, acknowledgedAt: performance.now() };
}

/** A merchant that goes on withdrawing. */
export interface Load {
  readonly orders: readonly Order[];
  /** Requests that were refused or not answered, in words. */
  readonly failures: readonly string[];
  stop(): Promise<readonly Order[]>;
}

/**
 * Withdraws without an end through whichever service is ready, as a load balancer chooses it.
 *
 * @param services the running ones, as of each request
 */
export function startLoad(
  installation: Installation,
  services: () => readonly ServiceProcess[],
  pauseMs: number,
): Load {
  const orders: Order[] = [];
  const failures: string[] = [];
  let isStopped = false;
  const client = async (name: string) => {
    for (let n = 1; !isStopped; n++) {
      const wanted = { referenceId: `${name}-${n}`, destination: someAddress() };
      const service = await firstReady(services());
      if (service === null) failures.push("no service is ready");
      else {
        try {
          const order = await withdraw(installation, service, wanted, (why) => failures.push(why));
          if (order !== null) orders.push(order);
        } catch (error) {
          failures.push(String(error));
        }
      }
      await delay(pauseMs);
    }
  };
  const clients = ["a", "b"].map((name) => client(`${name}-${crypto.randomUUID().slice(0, 8)}`));
  return {
    orders,
    failures,
    stop: async () => {
      isStopped = true;
      await Promise.all(clients);
      return orders;
    },
  };
}

async function firstReady(services: readonly ServiceProcess[]): Promise<ServiceProcess | null> {
  for (const service of services) {
    if (await fetchStatus(`${service.url}/readyz`).catch(() => 0) === 200) return service;
  }
  return null;
}

/** Controls the development chain. */
export async function control(
  { chain }: Installation,
  verb: string,
  body: unknown,
): Promise<void> {
  const answer = await fetch(`${chain.url}/dev/${verb}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Cannot control the chain: ${text}`);
}

/** Number of payments to each destination, by the blocks of the chain alone. */
export async function paidTimes(
  { chain }: Installation,
  orders: readonly Order[],
): Promise<ReadonlyMap<Order, number>> {
  const info = z.object({ head: z.number() })
    .parse(await (await fetch(`${chain.url}/dev/info`)).json());
  const times = new Map<string, number>();
  for (let num = 1; num <= info.head; num++) {
    const answer = await fetch(`${chain.url}/wallet/gettransactioninfobyblocknum`, {
      method: "POST",
      body: JSON.stringify({ num }),
    });
    for (const { log = [] } of Receipts.parse(await answer.json())) {
      for (const { topics } of log) {
        const to = topics[0] === TRANSFER ? topics[2]?.slice(-40) ?? "" : "";
        times.set(to, (times.get(to) ?? 0) + 1);
      }
    }
  }
  return new Map(orders.map((order) => {
    const hex = fromBase58(order.destination)?.slice(2) ?? "";
    return [order, times.get(hex) ?? 0];
  }));
}

/** Faults where an order was not paid exactly once, or as often as `wanted`. */
export async function paymentFaults(
  installation: Installation,
  orders: readonly Order[],
  wanted = 1,
): Promise<readonly string[]> {
  return [...await paidTimes(installation, orders)].filter(([, times]) => times !== wanted)
    .map(([order, times]) =>
      `${order.referenceId} (${order.withdrawalId}) was paid ${times} times`
    );
}
