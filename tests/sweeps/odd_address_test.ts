import { assert, assertEquals, assertRejects } from "@std/assert";
import { sweeperActors } from "../../actors/sweeper/sweeper_actor.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readSweepHealth } from "../../ledger/sweeps/sweep_health.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Addresses with 100 USDT each to be swept, longest waiting first. */
async function addTargets(sql: Sql, addresses: readonly string[]): Promise<void> {
  for (const [index, address] of addresses.entries()) {
    await sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      VALUES (${address}, 'TRX', 'mer_1', ${`adr_${address}`}, ${index})`;
    await sql`
      INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height)
      VALUES ('mer_1', 'TRX', ${`tx_${address}`}, 0, ${address}, 'USDT', 100, 5)`;
    await sql`
      INSERT INTO book.sweep_address (network, address, currency, merchant_id, poll_at)
      VALUES ('TRX', ${address}, 'USDT', 'mer_1', now() - interval '1 hour' + make_interval(secs => ${index}))
      ON CONFLICT (network, address, currency) DO UPDATE SET poll_at = excluded.poll_at`;
  }
}

/** A sweeper on a chain whose balances some addresses do not tell. */
async function sweeperWith(sql: Sql, odd: (address: string) => unknown) {
  let asked = 0;
  const chain: Chain = paperChain("TRX", {
    balanceOf: (address) => {
      asked++;
      const error = odd(address);
      return error === null ? Promise.resolve(amount("100")) : Promise.reject(error);
    },
  });
  const actor = await sweeperActors({
    sql,
    chains: new Map([["TRX", chain]]),
    terms: () => ({ enabled: true, gas: "coin", factor: "1", topUpWaitMs: 0 }),
    pace: () => ({
      staleMs: 60_000,
      retryMs: 1_000,
      failureLimit: 3,
      coolDownMs: 1_000,
      pollMs: 3_000,
    }),
    coinRate: () => "0.3",
    now: Date.now,
    wakeMerchants: () => {},
    onQueued: () => {},
    onStatus: () => {},
  }).activate("TRX");
  return { look: () => actor.receive({ type: "poll" }), asked: () => asked };
}

const swept = async (sql: Sql) =>
  (await sql<
    { wallet: string }[]
  >`SELECT wallet FROM book.outgoing WHERE kind = 'sweep' ORDER BY 1`)
    .map(({ wallet }) => Number(wallet));

test("addresses that are odd, or that nodes do not answer for, keep no other from being swept", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addTargets(sql, ["odd", "silent", "a", "b"]);
  const sweeper = await sweeperWith(sql, (address) => {
    if (address === "odd") return new RangeError("Cannot read a balance of 2^256");
    return address === "silent" ? new ChainUnavailable("server-error", "OTHER_ERROR") : null;
  });
  await sweeper.look();
  assertEquals(await swept(sql), [2, 3]);
  const pauses: (readonly number[])[] = [];
  for (let look = 0; look < 9; look++) {
    await sql`UPDATE book.sweep_address SET poll_at = now() WHERE address IN ('odd', 'silent')`;
    await sweeper.look();
    const rows = await sql<{ pause: number }[]>`
      SELECT ceil(extract(epoch FROM poll_at - now()))::int AS pause FROM book.sweep_address
      WHERE address IN ('odd', 'silent') ORDER BY address`;
    pauses.push(rows.map(({ pause }) => pause));
  }
  const [first] = pauses;
  assert((first?.[0] ?? 0) <= 6 && (first?.[1] ?? 0) <= 6, `${first}`);
  const last = pauses.at(-1) ?? [];
  assert(last.every((pause) => pause > 590 && pause <= 600), `${last}`);
  assertEquals((await readSweepHealth(sql, "TRX")).failing, 2);
});

test("nodes that answer for no address end the look, and cost it one round", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addTargets(sql, Array.from({ length: 60 }, (_, n) => `address-${n}`));
  const away = new ChainUnavailable("timeout", "Cannot read as it took too long");
  const sweeper = await sweeperWith(sql, () => away);
  await assertRejects(() => sweeper.look(), ChainUnavailable);
  assert(sweeper.asked() <= 16, `${sweeper.asked()} of 60 were asked for`);
  const [row] =
    await sql`SELECT count(*)::int AS due FROM book.sweep_address WHERE poll_at <= now()`;
  assert(row?.due >= 44, `${row?.due} are still due`);
});

test("an address whose rows another session holds keeps no other from being swept, and is swept when that ends", async (t) => {
  for (const currency of ["USDT", "USDC"]) {
    await t.step(currency, async () => {
      await using database = await testDatabase();
      const { sql } = database;
      await addTargets(sql, ["held", "a", "b"]);
      await sql`
        INSERT INTO book.sweep_address (network, address, currency, merchant_id, poll_at)
        VALUES ('TRX', 'held', 'USDC', 'mer_1', now() + interval '1 day')`;
      const sweeper = await sweeperWith(sql, () => null);
      const letGo = await holdRows(
        database,
        (tx) =>
          tx`
            SELECT FROM book.sweep_address WHERE address = 'held' AND currency = ${currency} FOR UPDATE`,
      );
      await sweeper.look();
      assertEquals(await swept(sql), [1, 2]);
      await letGo();
      await sql`UPDATE book.sweep_address SET poll_at = now() WHERE currency = 'USDT'`;
      await sweeper.look();
      assertEquals(await swept(sql), [0, 1, 2]);
    });
  }
});
