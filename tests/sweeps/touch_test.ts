import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { touchSweepAddresses } from "../../ledger/sweeps/sweep_addresses.ts";
import { SOMEWHERE } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("addresses of helpers and sweeps are looked at again, however the database joins", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const swept = SOMEWHERE;
  const given = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
  const ids = [newId("out"), newId("out")];
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${swept}, 'TRX', 'mer_test', 'adr_1', 1), (${given}, 'TRX', 'mer_test', 'adr_2', 2)`;
  await sql`
    INSERT INTO book.sweep_address (network, address, currency, merchant_id)
    VALUES ('TRX', ${swept}, 'USDT', 'mer_test'), ('TRX', ${given}, 'USDT', 'mer_test')`;
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, destination, status, created_at, updated_at)
    VALUES (${
    ids[0] ?? ""
  }, 'mer_platform', 'sweep', 'TRX', 'USDT', 5, '1', 'hot-wallet', 'queued', now(), now()),
      (${
    ids[1] ?? ""
  }, 'mer_platform', 'gas', 'TRX', 'native', 5, 'hot', ${given}, 'queued', now(), now())`;
  for (const join of ["enable_hashjoin", "enable_mergejoin", "enable_nestloop"]) {
    await sql.begin(async (tx) => {
      for (const other of ["enable_hashjoin", "enable_mergejoin", "enable_nestloop"]) {
        if (other !== join) await tx`SELECT set_config(${other}, 'off', true)`;
      }
      await touchSweepAddresses(tx, "TRX", ids);
    });
  }
  const rows = await sql<{ touched: string }[]>`SELECT touched FROM book.sweep_address`;
  assertEquals(rows.map(({ touched }) => Number(touched)), [3, 3]);
});
