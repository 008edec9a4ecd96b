import { assertEquals } from "@std/assert";
import { subtract } from "../../ledger/money/amount.ts";
import { addressOf } from "../support/api.ts";
import { amount, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

test("what was reserved counts until it has left, and then no more: liquidity is what the chain shows", async () => {
  await using rig = await openTreasuryRig();
  const { engine, chain, sql } = rig;
  const liquidity = () => engine.liquidity("TRX", "USDT");
  const { key } = await rig.merchant("1000");
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  assertEquals(liquidity(), before);
  for (let n = 0; n < 3; n++) await rig.withdraw(key, "10", addressOf(0xa100 + n));
  const reserved = subtract(before, amount("30"));
  await until(() => liquidity() === reserved);
  await rig.mineUntil("all are paid", async () => {
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM book.outgoing WHERE status = 'final'`;
    return row?.count === 3;
  });
  assertEquals(await chain.balanceOf(chain.hotWallet, "USDT"), reserved);
  // looked at again
  await until(() => liquidity() === reserved);
});
