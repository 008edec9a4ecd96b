/**
 * The other side of the page: a merchant that asks for payments, and chains whose blocks are made
 * on demand, so that every run passes the same points in the same order.
 *
 * @module
 */

import { z } from "zod";
import { delay } from "../../../ledger/database/delay.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import type { Service } from "../../support/service.ts";

const BOUND_MS = 120_000;

/** A payment that a merchant asked for. */
export interface Bill {
  readonly url: string;
  readonly token: string;
  readonly address: string;
  /** Amount that the customer has to send. */
  readonly amount: string;
}

/** Asks for payments and pays them. */
export interface Till {
  /** A new page, for any amount or a price, in US dollars by default; its time can be shortened. */
  ask(fields?: AskFields): Promise<Bill>;
  pay(bill: Bill, amount: string, options?: PayOptions): Promise<string>;
  /** Makes blocks; `apartMs`: how far their times lie apart. */
  mine(blocks: number, options?: { network?: TestNetwork; apartMs?: number }): Promise<void>;
  /** Takes the newest block back and forgets what was in it. */
  drop(network: TestNetwork): Promise<void>;
  /** Changes the merchant's profile. */
  profile(fields: object): Promise<void>;
}

/** Networks with a chain to control. */
export type TestNetwork = "TRX" | "TRX_SHASTA";

interface AskFields {
  readonly price?: string;
  readonly currency?: string;
  readonly network?: Network;
  readonly secondsLeft?: number;
}

interface PayOptions {
  readonly network?: TestNetwork;
  /** Time within which the transaction can be put into a block, by the chain's clock. */
  readonly expiresInMs?: number;
}

const CreatedPage = z.object({
  url: z.string(),
  sessionToken: z.string(),
  address: z.string(),
  amount: z.string().optional(),
});

/** Opens the till of the demo merchant of a service that runs. */
export async function openTill(service: Service): Promise<Till> {
  const { baseUrl, merchant, chains } = service.credentials;
  const urlOf = (network: TestNetwork) => {
    const chain = chains[network];
    if (chain === undefined) throw new Error(`Cannot go on as there is no chain of ${network}`);
    return chain.url;
  };
  for (const network of ["TRX", "TRX_SHASTA"] as const) {
    await send(`${urlOf(network)}/dev/config`, { blockMs: 0 });
  }

  async function send(url: string, body: object, method = "POST"): Promise<unknown> {
    const response = await fetch(url, {
      method,
      headers: { "content-type": "application/json", authorization: merchant.apiKey },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(BOUND_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot go on as ${url} answers ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  async function solidIsRead(network: TestNetwork, height: number): Promise<void> {
    const end = Date.now() + BOUND_MS;
    for (;;) {
      const [cursor] = await service.sql<{ height: string }[]>`
        SELECT height FROM hub.cursor WHERE network = ${network} AND view = 'solid'`;
      if (cursor !== undefined && Number(cursor.height) >= height) return;
      if (Date.now() > end) throw new Error(`Cannot go on as block ${height} is not read`);
      await delay(20);
    }
  }

  return {
    ask: async ({ price, currency = "USD", network = "TRX", secondsLeft } = {}) => {
      const created = CreatedPage.parse(
        await send(`${baseUrl}/api/deposit-url`, {
          network,
          identifier: "customer-1",
          referenceId: "order-1001",
          ...(price === undefined ? {} : { requestedAmount: price, requestedCurrency: currency }),
        }),
      );
      if (secondsLeft !== undefined) {
        await service.sql`
          UPDATE hub.session SET expires_at = now() + ${secondsLeft} * interval '1 second'
          WHERE address = ${created.address}`;
      }
      const { url, sessionToken: token, address, amount = "0" } = created;
      return { url, token, address, amount };
    },
    pay: async (bill, amount, { network = "TRX", expiresInMs } = {}) => {
      const sent = await send(`${urlOf(network)}/dev/transfer`, {
        to: bill.address,
        amount,
        currency: "USDT",
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
      });
      return z.object({ txid: z.string() }).parse(sent).txid;
    },
    mine: async (blocks, { network = "TRX", apartMs = 100 } = {}) => {
      const mined = await send(`${urlOf(network)}/dev/mine`, { blocks, intervalMs: apartMs });
      const { solid } = z.object({ solid: z.number() }).parse(mined);
      await solidIsRead(network, solid);
    },
    drop: async (network) => {
      await send(`${urlOf(network)}/dev/reorg`, { depth: 1, drop: true });
    },
    profile: async (fields) => {
      await send(`${baseUrl}/api/merchants/${merchant.id}`, fields, "PATCH");
    },
  };
}
