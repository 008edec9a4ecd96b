import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { CurrencyHolds } from "../../actors/treasury/waits.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { SignAnswer, Signer } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { wakeQueued } from "../../ledger/treasury/queue.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const STEP_MS = 3_000;

async function queue(sql: Sql, network: Network, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const id = newId("out");
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      VALUES (${id}, 'mer_1', 'payout', ${`wd_${id}`}, ${network}, 'USDT', 10, ${id}, 'queued', now(), now())`;
  }
}

/** A chain that counts what is asked of its nodes. */
function countingChain(network: Network, replaced: Partial<Chain> = {}) {
  const calls = { all: 0, prices: 0 };
  const counted = <A extends unknown[], R>(call: (...args: A) => R) => (...args: A) => {
    calls.all++;
    return call(...args);
  };
  const chain = paperChain(network, replaced);
  const estimateFee = counted(chain.estimateFee);
  return {
    calls,
    chain: {
      ...chain,
      solid: counted(chain.solid),
      balanceOf: counted(chain.balanceOf),
      estimateFee: (...args: Parameters<Chain["estimateFee"]>) => {
        calls.prices++;
        return estimateFee(...args);
      },
    },
  };
}

/** A signer that refuses all of it. */
function refusing(refused: "over-limit" | "paused", why: string): Signer {
  return {
    sign: (requests) =>
      Promise.resolve(requests.map(({ outgoingIds }): SignAnswer => ({
        outgoingIds,
        refused,
        message: `Cannot sign ${outgoingIds} as ${why}`,
      }))),
  };
}

/** Lets ten minutes pass, a look every three seconds: what a poll and a block each would ask. */
async function tenMinutes(sql: Sql, chain: Chain, signer: Signer): Promise<void> {
  let clock = 0;
  const holds = new CurrencyHolds(() => clock);
  const deps = nodeOf(sql, chain, { signer });
  for (; clock < 600_000; clock += STEP_MS) {
    await signQueued(chain, deps, 100, "merchants", { holds, held: [], silent: new Set() });
    await sql`
      UPDATE book.outgoing SET lease_until = lease_until - make_interval(secs => ${STEP_MS / 1_000})
      WHERE network = ${chain.network} AND status = 'queued'`;
  }
}

const reverting = {
  estimateFee: () => Promise.reject(new ChainUnavailable("reverted", "REVERT")),
};

test("forty payouts that cannot be signed cost a node some calls a minute, whatever the reason", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const cases = [
    ["TRX", {}, refusing("over-limit", "it is more than 15 per day")],
    ["ETH", {}, refusing("over-limit", "it is more than 5 per transaction")],
    ["BNB", reverting, paperSigner()],
    ["SOL", {}, refusing("paused", "signing is paused")],
  ] as const;
  const counted = await Promise.all(cases.map(async ([network, replaced, signer]) => {
    await queue(sql, network, 40);
    const { chain, calls } = countingChain(network, replaced);
    await tenMinutes(sql, chain, signer);
    return { network, ...calls };
  }));
  // each would be 40 prices in each of 200 looks
  for (const { network, prices } of counted) {
    const most = network === "SOL" ? 4 * 200 + 40 : 40 * 9;
    assert(prices > 0 && prices <= most, `${network}: ${prices} of at most ${most}`);
  }
  // what is over the cap of the day is asked for by a few a minute
  const daily = counted.find(({ network }) => network === "TRX");
  assert((daily?.prices ?? 0) <= 40 + 4 * 10, `${daily?.prices}`);
  const reasons = await sql<{ network: string; reason: string; count: number }[]>`
    SELECT network, regexp_replace(reason, 'out_[0-9a-f-]+', 'it') AS reason, count(*)::int AS count
    FROM book.outgoing WHERE status = 'queued' GROUP BY 1, 2 ORDER BY 1`;
  assertEquals(reasons.map((row) => ({ ...row })), [
    { network: "BNB", reason: "the transfer would fail", count: 40 },
    {
      network: "ETH",
      reason: "signer: over-limit: Cannot sign it as it is more than 5 per transaction",
      count: 40,
    },
    { network: "SOL", reason: "signer: paused: Cannot sign it as signing is paused", count: 40 },
    {
      network: "TRX",
      reason: "signer: over-limit: Cannot sign it as it is more than 15 per day",
      count: 40,
    },
  ]);
});

test("what waits for money is tried at once when there is more, and never waits half a minute", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await queue(sql, "TRX", 3);
  let held = amount("1");
  const { chain } = countingChain("TRX", { balanceOf: () => Promise.resolve(held) });
  await tenMinutes(sql, chain, paperSigner());
  const [row] = await sql`
    SELECT max(extract(epoch FROM lease_until - updated_at))::int AS pause, min(reason) AS reason
    FROM book.outgoing WHERE status = 'queued'`;
  assertEquals(row?.reason, "waiting for USDT");
  assert(row?.pause <= 30, `${row?.pause}`);
  held = amount("1000");
  assertEquals(await wakeQueued(sql, "TRX", ["waiting for the chain's coin"]), 0);
  assertEquals(await wakeQueued(sql, "TRX", ["waiting for USDT"]), 3);
  assertEquals((await signQueued(chain, nodeOf(sql, chain))).transactions.length, 3);
});

Deno.test("a currency whose cap of the day is reached rests for a minute, and a few find out whether it is over", () => {
  let clock = 0;
  const holds = new CurrencyHolds(() => clock);
  assertEquals([holds.held, holds.most("USDT")], [[], Infinity]);
  holds.refused("USDT", "capped");
  assertEquals([holds.held, holds.most("USDT"), holds.most("USDC")], [["USDT"], 0, Infinity]);
  clock = 59_999;
  assertEquals(holds.held, ["USDT"]);
  clock = 60_000;
  assertEquals([holds.held, holds.most("USDT")], [[], 4]);
  holds.signed("USDT");
  assertEquals(holds.most("USDT"), Infinity);
  holds.refused("USDC", "closed");
  assertEquals(holds.most("USDC"), 0);
  clock += 3_000;
  assertEquals(holds.most("USDC"), 4);
});
