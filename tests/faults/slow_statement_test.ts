import { assertEquals } from "@std/assert";
import postgres from "postgres";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import { addMerchant, amount, booksFaults, fund } from "../support/books.ts";
import { openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { type MovedClock, movedClock } from "../support/moved_clock.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { eventually } from "./support/client.ts";
import { bounded, NODE_MS } from "./support/patience.ts";

const test = testNeeding(DATABASE);
/** Time after which a statement is given up, milliseconds: more than a slow one at least. */
const GIVEN_UP_MS = 1_050;
/** Longer than the journal takes to notice that a sender has left: it looks every 50 ms. */
const LEAVING_MS = 120;
/** Longer than the pause of a merchant that was found, and shorter than its senders wait. */
const PAUSE_MS = 30_000;

/** The server's error for a statement that worked for as long as it may. */
class GivenUp extends postgres.PostgresError {
  override readonly code = "57014";
}

/** A store whose writes are given up after a while where they are slow, with the sizes of those. */
function slowStore(
  sql: Sql,
  clock: MovedClock,
  isSlow: (merchantIds: readonly string[]) => boolean,
): JournalStore & { readonly sizes: number[] } {
  const store = createJournalStore(sql);
  const sizes: number[] = [];
  return {
    ...store,
    sizes,
    async writeBatch(...args) {
      const merchantIds = args[2].map(({ account }) => account.merchantId);
      if (!isSlow(merchantIds)) return await store.writeBatch(...args);
      sizes.push(merchantIds.length);
      clock.advance(GIVEN_UP_MS);
      await new Promise((resolve) => setTimeout(resolve, LEAVING_MS));
      throw new GivenUp("canceling statement due to statement timeout");
    },
  };
}

async function fundedMerchants(sql: Sql, count: number): Promise<readonly string[]> {
  const journal = openJournal(sql);
  const merchants = await Promise.all(Array.from({ length: count }, () => addMerchant(sql)));
  for (const merchantId of merchants) await fund(sql, journal, merchantId, "1000");
  await journal.stop(1_000);
  return merchants;
}

test("a merchant whose statements are given up is found, also when its senders have left before", async (t) => {
  using clock = movedClock();
  await using database = await testDatabase({ max: 12 });
  const { sql } = database;
  const [guilty = "", ...others] = await fundedMerchants(sql, 25);
  const cases = [
    // all merchants and then the one: who left is not among the parts
    { name: "its sender leaves", timeoutMs: 300, sizes: [25, 1] },
    // all merchants, an eighth of them, and then the one
    { name: "its sender waits", timeoutMs: 60_000, sizes: [25, 4, 1] },
  ];
  for (const { name, timeoutMs, sizes } of cases) {
    await t.step(name, async () => {
      let isSlow = true;
      const store = slowStore(sql, clock, (ids) => isSlow && ids.includes(guilty));
      const journal = openJournal(sql, { store });
      const ask = (merchantId: string, ms: number) =>
        journal.ask(merchantId, reserveCommand({ amount: amount("1") }), ms);
      const answersOf = (merchantIds: readonly string[]) =>
        bounded(
          `answers for ${merchantIds.length} merchants`,
          Promise.all(merchantIds.map((merchantId) => ask(merchantId, 60_000))),
        );
      const asked: Promise<{ readonly kind: string }>[] = [];
      for (let round = 0; round < 20 && journal.figures.paused === 0; round++) {
        if (round === 0 || timeoutMs < GIVEN_UP_MS) asked.push(ask(guilty, timeoutMs));
        const outcomes = await answersOf(others);
        assertEquals(outcomes.map(({ kind }) => kind), others.map(() => "done"));
      }
      await eventually(
        "the merchant found",
        () => Promise.resolve(journal.figures.paused === 1),
        NODE_MS,
      );
      assertEquals(store.sizes, sizes);
      // those that were in doubt beside it are decided together again
      await answersOf(others);
      const { batches } = journal.figures;
      await answersOf(others);
      assertEquals(journal.figures.batches, batches + 1);
      isSlow = false;
      clock.advance(PAUSE_MS);
      assertEquals((await answersOf([guilty])).map(({ kind }) => kind), ["done"]);
      const kinds = (await bounded("its answers", Promise.all(asked))).map(({ kind }) =>
        kind === "done"
      );
      assertEquals(kinds, asked.map(() => timeoutMs > GIVEN_UP_MS));
      await journal.stop(1_000);
    });
  }
  assertEquals(await booksFaults(sql), []);
});

test("a database that is slow for all holds no merchant, and none is tried apart for as long as it is", async () => {
  using clock = movedClock();
  await using database = await testDatabase({ max: 12 });
  const { sql } = database;
  const merchants = await fundedMerchants(sql, 25);
  const store: ReturnType<typeof slowStore> = slowStore(sql, clock, () => store.sizes.length < 5);
  const journal = openJournal(sql, { store });
  const outcomes = await bounded(
    "an answer for each",
    Promise.all(merchants.map((merchantId) => journal.ask(merchantId, reserveCommand(), 60_000))),
  );
  assertEquals(outcomes.map(({ kind }) => kind), merchants.map(() => "done"));
  // of seven parts two are tried; then all wait for their turns
  assertEquals(store.sizes, [25, 4, 4, 1, 1]);
  assertEquals([journal.figures.paused, journal.figures.givenUp], [0, 0]);
  await journal.stop(1_000);
});
