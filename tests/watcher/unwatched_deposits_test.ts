import { assertEquals, assertLess } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { readUnwatchedDeposits } from "../../ledger/watcher/pending_deposits.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const BY_HAND = 5_000;
const ON_CHAIN = 20;

/** Pending deposits that merchants made by hand, and some that came in on addresses. */
async function addDeposits(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount, status, source,
      txid, log_index, created_at, updated_at)
    SELECT 'dep_hand_' || i, 'mer_1', i, i, 'USDT', 'TRX', 1, 'PENDING', 'bank', 'named_' || i, -1, now(), now()
    FROM generate_series(1, ${BY_HAND}::int) i`;
  await sql`
    INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount, status, source,
      address_id, address, txid, log_index, expires_at, dies_after, created_at, updated_at)
    SELECT 'dep_chain_' || i, 'mer_2', i, i, 'USDT', 'TRX', 1, 'PENDING', 'onchain', 'adr_' || i, 'T' || i, 'tx_' || i,
      0, now(), 1, now(), now()
    FROM generate_series(1, ${ON_CHAIN}::int) i`;
  await sql`
    INSERT INTO hub.timer (actor, name, due_at) VALUES ('payment/dep_chain_1', 'expiry', now())`;
}

for (const isAnalyzed of [false, true]) {
  const known = isAnalyzed ? "as the statistics know" : "without statistics";
  testNeeding(DATABASE)(
    `deposits whose expiry is not watched are found without those made by hand, ${known}`,
    async () => {
      await using database = await testDatabase({ unused: true });
      await addDeposits(database.sql);
      if (isAnalyzed) await database.sql`ANALYZE book.deposit`;
      const sql = await database.connect({ max: 1, looksUpOnly: true }).reserve();
      await sql`BEGIN`;
      const found = await readUnwatchedDeposits(sql, 1_000);
      const [read] = await sql<{ rows: number }[]>`
        SELECT sum(pg_stat_get_xact_tuples_returned(oid))::int AS rows FROM pg_class
        WHERE oid = 'book.deposit'::regclass
          OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'book.deposit'::regclass)`;
      await sql`COMMIT`;
      sql.release();
      const expected = Array.from({ length: ON_CHAIN - 1 }, (_, i) => `dep_chain_${i + 2}`);
      assertEquals(found.map(({ depositId }) => depositId).toSorted(), expected.toSorted());
      assertLess(read?.rows ?? BY_HAND, 10 * ON_CHAIN);
    },
  );
}
