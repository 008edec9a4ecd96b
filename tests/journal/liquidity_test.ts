import { assert, assertEquals } from "@std/assert";
import { HotLiquidity } from "../../actors/treasury/liquidity.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  reserveCommand,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("simultaneous withdrawals of several merchants are reserved no more than the hot wallet has", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const funding = openJournal(sql);
  const merchants = await Promise.all(Array.from({ length: 3 }, () => addMerchant(sql)));
  for (const merchantId of merchants) await fund(sql, funding, merchantId, "1000");
  await funding.stop(1_000);

  const board = new HotLiquidity();
  // batches of two: what earlier batches reserved counts as much as what this one does
  const journal = openJournal(sql, {
    batchLimit: 2,
    liquidity: (network, currency) => board.left(network, currency),
    onCommitted: (news) => board.reserved(news.reservations),
  });
  const ask = async (count: number) => {
    const outcomes = await Promise.all(Array.from({ length: count }, (_, n) => {
      const merchantId = merchants[n % merchants.length] ?? "";
      return journal.ask(merchantId, reserveCommand({ amount: amount("10") }), 60_000);
    }));
    const short = outcomes.filter((outcome) =>
      outcome.kind === "refused" && outcome.refusal.code === "treasury_short"
    );
    assertEquals(outcomes.filter(({ kind }) => kind === "done").length + short.length, count);
    return count - short.length;
  };
  assertEquals(await ask(3), 3, "the treasury has not polled yet");
  board.begin("TRX", ["USDT"]);
  board.end("TRX", new Map([["USDT", amount("75")]]));
  assertEquals(await ask(12), 7);
  assertEquals(await ask(3), 0);
  assertEquals(journal.refusedShort.all, [{ network: "TRX", currency: "USDT", count: 8 }]);
  const [row] = await sql`SELECT count(*)::int AS n FROM book.outgoing`;
  assertEquals(row?.n, 10);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

Deno.test("what is reserved while the treasury looks still counts when it has looked", () => {
  const board = new HotLiquidity();
  const reserve = (text: string) =>
    board.reserved([{ network: "TRX", currency: "USDT", amount: amount(text) }]);
  const left = () => board.left("TRX", "USDT");
  const look = (text: string) => board.end("TRX", new Map([["USDT", amount(text)]]));
  assertEquals(left(), null);
  reserve("1");
  board.begin("TRX", ["USDT"]);
  look("100");
  assertEquals(left(), amount("100"), "it saw what was reserved before");
  reserve("10");
  assertEquals(left(), amount("90"));
  board.begin("TRX", ["USDT"]);
  reserve("20");
  assertEquals(left(), amount("70"), "a look that is not over forgets nothing");
  // a look that failed: the next one sees both
  board.begin("TRX", ["USDT"]);
  reserve("5");
  look("70");
  assertEquals(left(), amount("65"));
  assert(board.left("TRX", "USDC") === null);
});
