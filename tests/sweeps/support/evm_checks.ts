/** Looks of tests at sweeps on EVM networks: books, chain and costs agree. */

import { assert, assertEquals } from "@std/assert";
import { checkChain } from "../../../actors/reconcile/check_chain.ts";
import { booksFaults } from "../../support/books.ts";
import type { EvmHouse } from "./evm_house.ts";

/** Compares books and chain; the first time the hot wallet's level is taken down. */
export async function assertReconciled(house: EvmHouse): Promise<void> {
  const { sql, chain } = house;
  assertEquals(await booksFaults(sql), []);
  const pause = () => house.mine(1);
  const { rules } = await checkChain({ sql, chain, coldAddress: null, pause });
  const found = rules.filter(({ differences, unchecked }) =>
    differences.length > 0 || unchecked !== null
  );
  assertEquals(found, []);
}

/** Every transfer of the house is over, in its one way, and its cost is counted once. */
export async function assertCosted(house: EvmHouse): Promise<void> {
  const { sql } = house;
  await house.until("the costs", async () => {
    const left = await sql`SELECT FROM book.attempt WHERE fee IS NOT NULL AND costed_at IS NULL`;
    return left.length === 0;
  });
  const [sums] = await sql<{ counted: string; paid: string; unpriced: number }[]>`
    SELECT (SELECT trim_scale(sum(coin))::text FROM book.network_cost) AS counted,
      (SELECT trim_scale(sum(fee))::text FROM book.attempt WHERE purpose = 'pay') AS paid,
      (SELECT sum(unpriced)::int FROM book.network_cost) AS unpriced`;
  assert(sums !== undefined && Number(sums.paid) > 0);
  assertEquals([sums.counted, sums.unpriced], [sums.paid, 0]);
}

/** Each address is empty, and what it was paid is in the hot wallet: once. */
export async function assertSwept(
  house: EvmHouse,
  addresses: readonly string[],
  before: bigint,
  paid: bigint,
): Promise<void> {
  const { chain } = house;
  for (const address of addresses) assertEquals(await house.held(address), 0n);
  assertEquals(await chain.balanceOf(chain.hotWallet, "USDT") - before, paid);
}

/** Until nothing is left to do for any of the addresses. */
export async function untilSwept(house: EvmHouse, addresses: readonly string[]): Promise<void> {
  await house.until("the end", async () => {
    for (const address of addresses) if (await house.reason(address) !== null) return false;
    return true;
  });
}
