/**
 * The real service far behind a node as public providers run them: so many calls per second, then nothing
 * for half a minute, which only the body of an answer tells.
 *
 * @module
 */

import { z } from "zod";
import { ask, eventually, expectBody, send } from "../faults/support/client.ts";
import { withService } from "../support/service.ts";
import type { PublicNodeOptions } from "./chain_options.ts";
import { startChain } from "./chain_process.ts";

const BLOCK_MS = 3_000;
const SOLID_LAG = 19;
/** Faults count down from it: how many calls were refused is what is missing. */
const TIMES = 1_000_000;
const NOTE_MS = 5_000;
const LONGEST_MS = 30 * 60_000;

const Faults = z.object({ faults: z.array(z.looseObject({ times: z.number() })) });

/** Findings of a run. */
export interface CaughtUp {
  readonly faults: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

/** Runs it to its end. @param note told how it goes */
export async function runPublicNode(
  options: PublicNodeOptions,
  note: (text: string) => void,
): Promise<CaughtUp> {
  await using chain = await startChain("TRX", { blockMs: BLOCK_MS, solidLag: SOLID_LAG });
  const env = {
    TRX_NODE_URLS: chain.url,
    TRX_CALLS_PER_SECOND: String(options.callsPerSecond),
    DEV_CHAIN_BLOCK_MS: "600000",
  };
  return await withService(async (service) => {
    await service.start();
    const { sql } = service;
    const body = { network: "TRX", identifier: "soak", referenceId: "soak" };
    const issued = await ask(
      service,
      "POST",
      "/api/deposit-address",
      body,
      service.credentials.merchant.apiKey,
    );
    const { address } = expectBody(z.object({ address: z.string() }), issued, 201);
    const heightOf = async () => {
      const [row] = await sql<{ height: string }[]>`
        SELECT height FROM hub.cursor WHERE network = 'TRX' AND view = 'solid'`;
      return Number(row?.height ?? 0);
    };
    await eventually("the network watched", async () => (await heightOf()) > 0);
    await service.kill9();
    for (let i = 0; i < options.behind; i++) {
      await chain.control("/dev/transfer", { to: address, amount: "1", currency: "USDT" });
      await chain.control("/dev/mine", { blocks: 1, intervalMs: BLOCK_MS });
    }
    await chain.control("/dev/mine", { blocks: SOLID_LAG, intervalMs: BLOCK_MS });
    const { solid } = await chain.info();
    const from = await heightOf();
    note(`${solid - from} blocks behind, a transfer of ours in each`);
    await chain.control("/dev/config", {
      faults: [{
        path: "*",
        kind: "limit-per-second",
        perSecond: options.perSecond,
        suspendSeconds: options.suspendSeconds,
        times: TIMES,
      }],
    });
    const callsBefore = await callsOf(sql);
    const began = performance.now();
    await service.start();
    let told = performance.now();
    let height = from;
    while (height < solid && performance.now() - began < LONGEST_MS) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      height = await heightOf();
      if (performance.now() - told < NOTE_MS) continue;
      told = performance.now();
      note(`block ${height} of ${solid}`);
    }
    const seconds = (performance.now() - began) / 1_000;
    await eventually("every deposit confirmed", async () => {
      const rows = await sql`SELECT FROM book.deposit WHERE status = 'CONFIRMED'`;
      return rows.length >= options.behind;
    });
    const deposits = await sql`SELECT txid FROM book.deposit WHERE status = 'CONFIRMED'`;
    const { faults } = Faults.parse((await send(`${chain.url}/dev/info`, "GET")).body);
    // counts are kept every ten seconds
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    const wrong = [
      ...(height < solid ? [`not caught up: block ${height} of ${solid}`] : []),
      ...(deposits.length === options.behind ? [] : [`${deposits.length} deposits`]),
    ];
    return {
      faults: wrong,
      figures: {
        "blocks read": height - from,
        "seconds until caught up": Math.round(seconds),
        "calls, until ten seconds after": await callsOf(sql) - callsBefore,
        "calls refused": TIMES - (faults[0]?.times ?? TIMES),
        "deposits credited": deposits.length,
      },
    };
  }, { env });
}

async function callsOf(sql: Parameters<Parameters<typeof withService>[0]>[0]["sql"]) {
  const [row] = await sql<{ calls: string }[]>`
    SELECT coalesce(sum(calls), 0)::text AS calls FROM hub.node_calls WHERE network = 'TRX'`;
  return Number(row?.calls ?? 0);
}
