import { assertEquals } from "@std/assert";
import { textKey } from "../../chains/text_key.ts";
import { findAddresses } from "../../ledger/watcher/find_addresses.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ISSUED = 20_000;
const ASKED = 10_000;

test("however many receivers are looked up, addresses are read by key, and not the table", async () => {
  await using database = await testDatabase();
  const sql = database.connect({ max: 1 });
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    SELECT 'somebody ' || i, 'TRX', 'mer_1', 'adr_' || i, i FROM generate_series(1, ${ISSUED}::int) i`;
  await sql`ANALYZE hub.address`;
  // as the first few times that a connection asks
  await sql`SET plan_cache_mode = force_custom_plan`;
  const strangers = Array.from({ length: ASKED }, (_, n) => n.toString(16).padStart(40, "a"));
  const found = await findAddresses(sql, "TRX", [...strangers, "somebody 7"].map(textKey));
  assertEquals([...found.values()].map(({ address }) => address), ["somebody 7"]);
  await sql`SELECT pg_stat_force_next_flush()`;
  const [scans] = await sql<{ ofTable: number; byKey: number }[]>`
    SELECT seq_scan::int AS "ofTable", (idx_scan > 0)::int AS "byKey" FROM pg_stat_user_tables
    WHERE relid = 'hub.address'::regclass`;
  assertEquals(scans, { ofTable: 0, byKey: 1 });
});
