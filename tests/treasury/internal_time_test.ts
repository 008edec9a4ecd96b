/** Internal transfers ask nodes in a bounded time: what is slow for them holds up payouts of their network for no longer. */

import { assert, assertEquals } from "@std/assert";
import { InternalTime } from "../../actors/treasury/internal_time.ts";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain, paperGas } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet, calmLane, numberedChain, numberedSigner } from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);

/** Bounds that a test ends itself. */
function testBounds() {
  let controller = new AbortController();
  const boundOf = () => {
    controller = new AbortController();
    const { signal } = controller;
    return {
      signal,
      get isOver() {
        return signal.aborted;
      },
    };
  };
  return { boundOf, end: () => controller.abort() };
}

/** A node that accepts a question and answers it never: it ends with the time of its asker. */
function silence(signal: AbortSignal | undefined): Promise<never> {
  assert(signal !== undefined, "what an internal transfer asks has an end");
  const error = new ChainUnavailable("timeout", "Cannot read from a node as it is silent");
  return new Promise((_, reject) => {
    if (signal.aborted) reject(error);
    signal.addEventListener("abort", () => reject(error));
  });
}

async function addSweeps(sql: Sql, network: string, count: number): Promise<void> {
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, wallet, destination, status, created_at, updated_at)
    SELECT 'out_sweep' || i, 'mer_platform', 'sweep', ${network}, 'USDT', 1, i::text, 'hot-wallet', 'queued', now(), now()
    FROM generate_series(1, ${count}::int) i`;
}

async function addPayout(sql: Sql, merchantId: string, id: string): Promise<void> {
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES (${id}, ${merchantId}, 'payout', ${`wd_${id}`}, 'TRX', 'USDT', 1, 'somewhere', 'queued', now(), now())`;
}

async function signedOf(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM book.outgoing WHERE status = 'signed' ORDER BY id`;
  return rows.map(({ id }) => id);
}

/** The treasury of a network, with a clock that a test moves. */
async function treasuryOf(sql: Sql, chain: Chain, replaced: Parameters<typeof nodeOf>[2] = {}) {
  let now = 0;
  const deps = nodeOf(sql, chain, { monotonic: () => now, ...replaced });
  const actor = await treasuryActors(deps).activate(chain.network);
  return { poll: () => actor.receive({ type: "poll" }), pass: (ms: number) => now += ms };
}

/** Makes what waits in the queue due. */
async function endPauses(sql: Sql): Promise<void> {
  await sql`UPDATE book.outgoing SET lease_until = NULL WHERE status = 'queued'`;
}

test("sweeps whose nodes are silent end with their time, rest, and hold up no payout that comes meanwhile", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await addSweeps(sql, "TRX", 60);
  const { boundOf, end } = testBounds();
  const asked: string[] = [];
  const chain = paperChain("TRX", {
    balanceOf: (address, _, signal) => {
      if (address === "hot-wallet") return Promise.resolve(amount("1000"));
      const answer = silence(signal);
      if (asked.push(address) % 8 === 0) end();
      return answer;
    },
  });
  const { poll, pass } = await treasuryOf(sql, chain, { boundOf });
  await poll();
  // eight at once, and none after them
  assertEquals(asked.length, 8);
  await addPayout(sql, merchantId, "out_a");
  await endPauses(sql);
  await poll();
  assertEquals([await signedOf(sql), asked.length], [["out_a"], 8]);
  pass(18_001);
  await endPauses(sql);
  await poll();
  assertEquals(new Set(asked).size, 16, "those that were not asked for come first");
});

test("of a batch whose time is over, what was answered for is signed, and the others wait a little", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, "TRX", 12);
  const { boundOf, end } = testBounds();
  const costs = paperGas();
  let priced = 0;
  const chain = paperChain("TRX", {
    gas: paperGas({
      sweepCosts: (transfer) => {
        if (++priced === 11) end();
        return costs.sweepCosts(transfer);
      },
    }),
    balanceOf: (address, _, signal) =>
      address === "address-3" ? silence(signal) : Promise.resolve(amount("10")),
  });
  const { poll } = await treasuryOf(sql, chain, { boundOf });
  await poll();
  const signed = await signedOf(sql);
  assertEquals([signed.length, signed.includes("out_sweep3")], [11, false]);
  const [left] = await sql`
    SELECT reason, lease_until < now() + interval '10 s' AS soon FROM book.outgoing WHERE id = 'out_sweep3'`;
  assertEquals({ ...left }, { reason: "waiting for another try", soon: true });
});

test("a first nonce that no node tells has an end as well", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  await addSweeps(sql, "ETH", 3);
  const { boundOf, end } = testBounds();
  const lane = calmLane({
    next: (address, _, signal) => {
      if (address !== "address-2") return Promise.resolve(0);
      const answer = silence(signal);
      end();
      return answer;
    },
  });
  const chain = numberedChain(lane, {
    gas: paperGas(),
    balanceOf: () => Promise.resolve(amount("10")),
  });
  const { poll } = await treasuryOf(sql, chain, { signer: numberedSigner(), boundOf });
  await poll();
  assertEquals(await signedOf(sql), ["out_sweep1", "out_sweep3"]);
});

Deno.test("nodes that are merely slow get more time for internal transfers, after a rest", () => {
  let now = 0;
  const { boundOf } = testBounds();
  const given: number[] = [];
  const time = new InternalTime(() => now, (ms) => {
    given.push(ms);
    return boundOf();
  });
  assert(time.begin() !== null);
  for (const restMs of [18_000, 36_000, 72_000]) {
    time.end(true, false);
    now += restMs - 1;
    assertEquals(time.begin(), null);
    now += 1;
    assert(time.begin() !== null);
  }
  time.end(true, true);
  assert(time.begin() !== null, "what moved goes on at once");
  assertEquals(given, [6_000, 12_000, 24_000, 24_000, 6_000]);
});
