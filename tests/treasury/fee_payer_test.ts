import { assert, assertEquals, assertRejects } from "@std/assert";
import { planAddress } from "../../actors/sweeper/plan_address.ts";
import { CostMemory, Stake } from "../../actors/sweeper/sweep_terms.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import type { Chain } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { readWalletMoves } from "../../ledger/reconcile/holdings.ts";
import { dueSweepAddresses } from "../../ledger/sweeps/sweep_addresses.ts";
import { sweepPace } from "../../app/open/treasury_policy.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { sparseBlock, sparseChain } from "../support/paper_family.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A chain whose hot wallet sends sweeps itself; its addresses have no coin. */
function sponsoring(coin: string, replaced: Partial<Chain> = {}): Chain {
  return sparseChain("TRX", [sparseBlock(9, 7)], {
    balanceOf: (address, asset) =>
      Promise.resolve(
        asset !== "native" ? amount("500") : address === "hot-wallet" ? amount(coin) : ZERO,
      ),
    ...replaced,
  });
}

/** A queued sweep of 500 USDT from the address of index 1. */
async function addSweep(sql: Sql, feePayer: string) {
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, fee_payer, destination, status, created_at, updated_at)
    VALUES ('out_1', 'mer_platform', 'sweep', 'TRX', 'USDT', 500, '1', ${feePayer}, 'hot-wallet', 'queued', now(), now())`;
}

for (
  const [what, feePayer, coin, status, limit] of [
    ["the hot wallet pays for is signed with its coin, which is promised", "hot", "2", "signed", 2],
    ["the hot wallet pays for waits while that has too little", "hot", "1", "queued", undefined],
    ["its address pays for waits for coin of its own", "wallet", "100", "queued", undefined],
  ] as const
) {
  test(`a sweep that ${what}`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await addSweep(sql, feePayer);
    const chain = sponsoring(coin);
    await signQueued(chain, nodeOf(sql, chain), 9, "internal");
    const [row] = await sql<{ status: string; limit: number | null }[]>`
      SELECT o.status, a.fee_limit::float8 AS limit FROM book.outgoing o
      LEFT JOIN book.attempt a ON a.outgoing_id = o.id`;
    assertEquals([row?.status, row?.limit ?? undefined], [status, limit]);
  });
}

test("two sweeps that one wallet pays for: the second waits for coin that the first may take", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweep(sql, "hot");
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, fee_payer, destination, status, created_at, updated_at)
    VALUES ('out_2', 'mer_platform', 'sweep', 'TRX', 'USDT', 500, '2', 'hot', 'hot-wallet', 'queued', now(), now())`;
  const chain = sponsoring("3");
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  const rows = await sql<{ status: string }[]>`SELECT status FROM book.outgoing ORDER BY id`;
  assertEquals(rows.map(({ status }) => status), ["signed", "queued"]);
});

for (const [feePayer, fees] of [["hot", "3"], ["wallet", "0"]] as const) {
  test(`the hot wallet's coin is explained by fees of sweeps that it pays for: ${feePayer}`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await addSweep(sql, feePayer);
    await sql`
      INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at,
        outcome, height, fee, fee_limit)
      VALUES ('out_1', 1, 'mer_platform', 'TRX', 'a1', '{}', now(), 1, now(), 'paid', 9, 3, 5)`;
    const moves = await readWalletMoves(sql, "TRX", "native", "hot-wallet", {
      after: 1,
      low: 2,
      high: 10,
    });
    const paid = moves.reduce((sum, move) => sum + move.fees, 0n);
    assertEquals(paid, amount(fees));
  });
}

test("whose coin pays is written once, and only sweeps are paid for by another wallet", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweep(sql, "wallet");
  await assertRejects(() => sql`UPDATE book.outgoing SET fee_payer = 'hot'`);
  const payout = () =>
    sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, payment_id, network, currency, amount, fee_payer, destination, status, created_at, updated_at)
    VALUES ('out_9', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 1, 'hot', 'T', 'queued', now(), now())`;
  await assertRejects(payout, Error, "outgoing_fee_payer");
});

test("where addresses need no coin, a planned sweep is paid for by the hot wallet", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES ('address-1', 'TRX', 'mer_1', 'adr_1', 1)`;
  await sql`
    INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height, found_at)
    VALUES ('mer_1', 'TRX', 'paid', 0, 'address-1', 'USDT', 500, 5, now() - interval '1 day')`;
  await sql`
    INSERT INTO book.sweep_address (network, address, currency, merchant_id, poll_at)
    VALUES ('TRX', 'address-1', 'USDT', 'mer_1', now())`;
  const [target] = await dueSweepAddresses(sql, "TRX", 1);
  assert(target !== undefined);
  const look = {
    sql,
    chain: sponsoring("100"),
    terms: { enabled: true, gas: "auto" as const, factor: "2", topUpWaitMs: 60_000 },
    pace: sweepPace("TRX"),
    coinRate: () => "0.3",
    costs: new CostMemory(),
    setup: () => Promise.resolve(null),
    now: Date.now,
    wakeMerchants: () => {},
  };
  await planAddress(look, target, new Stake(ZERO));
  const rows = await sql`SELECT kind, fee_payer, amount::float8 AS amount FROM book.outgoing`;
  assertEquals([...rows], [{ kind: "sweep", fee_payer: "hot", amount: 500 }]);
});
