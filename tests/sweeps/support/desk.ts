/**
 * The desk of an operator who settles sweeps: the interface over HTTP on the database and chain of a
 * house, and sweeps that ended unexpected.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { z } from "zod";
import { newId } from "../../../actors/runtime/ids.ts";
import { hashApiKey, mintApiKey } from "../../../api/http/key_ring.ts";
import { admin } from "../../../app/commands/admin.ts";
import { type Called, testApi } from "../../support/api.ts";
import type { House } from "./house.ts";

/** An event of the house's token that moves nothing. */
export interface Event {
  readonly from: string;
  readonly to: string;
  /** In the token's smallest unit. */
  readonly amount: string;
}

/** Actions of an operator. */
export interface Desk extends AsyncDisposable {
  settle(sweepId: string, verdict: string, reason?: string): Promise<Called>;
  /** Writes off what is gone from an address; of USDT on TRX unless told otherwise. */
  writeOff(address: string, amount: string, change?: object): Promise<Called>;
  /** A line of `deno task admin`; answers what it printed. */
  command(...line: readonly string[]): Promise<string>;
  /** Subjects of settlements and write-offs with their refusals and effects, oldest first. */
  audit(): Promise<readonly string[]>;
  /** Verdicts and transfers with the sweeps that list them: what a refusal must not change. */
  standing(): Promise<string>;
}

/** Opens the desk of a house. */
export async function openDesk(house: House): Promise<Desk> {
  const { sql, chain, merchants } = house;
  const api = await testApi({ sql, merchants, chains: new Map([["TRX" as const, chain]]) });
  const key = mintApiKey("development");
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
    VALUES (${newId("key")}, ${
    Buffer.from(hashApiKey(key), "hex")
  }, NULL, 'ADMIN', ARRAY['admin:write'], 'desk', now())`;
  return {
    settle: (sweepId, verdict, reason = "looked at it") =>
      api.call("POST", `/api/admin/sweeps/${sweepId}/settle`, { key, body: { verdict, reason } }),
    writeOff: (address, amount, change = {}) =>
      api.call("POST", "/api/admin/sweeps/write-off", {
        key,
        body: {
          network: "TRX",
          address,
          currency: "USDT",
          amount,
          reason: "looked at it",
          ...change,
        },
      }),
    async command(...line) {
      const lines: string[] = [];
      const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
      const env = { PUBLIC_URL: api.url, ADMIN_API_KEY: key };
      await admin(line, env, { log: say, error: say });
      return lines.join("\n");
    },
    async audit() {
      const rows = await sql<{ line: string }[]>`
        SELECT subject || ' ' || coalesce(refused, after ->> 'verdict', after ->> 'amount') AS line FROM hub.audit
        WHERE action IN ('sweep.settle', 'sweep.write-off') ORDER BY id`;
      return rows.map(({ line }) => line);
    },
    async standing() {
      const rows = await sql`
        SELECT i.txid, i.outgoing_id, i.done, i.write_off, v.verdict FROM book.sweep_item i
        LEFT JOIN book.sweep_verdict v ON v.outgoing_id = i.outgoing_id ORDER BY i.txid`;
      return JSON.stringify(rows);
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

/** The chain tells of transfers that did not take place; the transaction is in the next block. */
export async function tellOf(house: House, ...events: readonly Event[]): Promise<string> {
  const steps = events.map((event) => ({ do: "event", token: house.token, ...event }));
  return z.object({ txid: z.string() }).parse(await house.control("dev/emit", { steps })).txid;
}

/**
 * A sweep of everything noted at an address whose transaction succeeds with these events instead of
 * its transfer. Sweeps are switched off meanwhile, so that the planner plans none.
 *
 * @returns its id
 */
export async function sweepWith(
  house: House,
  address: string,
  ...events: readonly Event[]
): Promise<string> {
  const { sql } = house;
  const id = newId("out");
  const txid = await tellOf(house, ...events);
  await sql.begin(async (tx) => {
    await tx`
      INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, wallet, destination, status, attempts, created_at, updated_at)
      SELECT ${id}, 'mer_platform', 'sweep', 'TRX', 'USDT', sum(i.amount), max(h.wallet_index)::text,
        ${house.chain.hotWallet}, 'signed', 1, now(), now()
      FROM book.sweep_item i JOIN hub.address h ON h.network = i.network AND h.address = i.address
      WHERE i.address = ${address} AND i.outgoing_id IS NULL`;
    await tx`
      INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
      VALUES (${id}, 1, 'mer_platform', 'TRX', ${txid}, '{}', now() + interval '10 minutes',
        extract(epoch FROM now()) * 1000 + 600000, now(), 1)`;
    await tx`
      UPDATE book.sweep_item SET outgoing_id = ${id} WHERE address = ${address} AND outgoing_id IS NULL`;
  });
  await untilUnexpected(house, address);
  const [row] = await sql`SELECT outcome FROM book.attempt WHERE outgoing_id = ${id}`;
  assertEquals(row?.["outcome"], "unexpected");
  return id;
}

/** Until the address waits for its operator. */
export async function untilUnexpected(house: House, address: string): Promise<void> {
  await house.until("the reason", async () => {
    await house.lookNow();
    return await house.reason(address) === "unexpected";
  });
}
