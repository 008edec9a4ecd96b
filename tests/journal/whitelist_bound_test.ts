import { assertEquals, assertLess, assertRejects } from "@std/assert";
import { recordNeeds } from "../../actors/journal/open_batch.ts";
import type { MerchantMessage } from "../../actors/merchant/decision.ts";
import type { AddSettlementAddress } from "../../actors/merchant/messages.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { listWhitelist } from "../../ledger/approvals.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import type { Journal } from "../../actors/journal/journal.ts";
import { addMerchant, openJournal } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { settlementCommand } from "../support/settlement_command.ts";

const test = testNeeding(DATABASE);

/** The n-th of addresses that were put on a whitelist by {@linkcode fill}, and some beyond them. */
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

function addCommand(n: number): AddSettlementAddress {
  return {
    type: "add-settlement-address",
    at: Date.now(),
    addressId: newId("adr"),
    network: "ETH",
    address: addressOf(n),
    label: "cold",
  };
}

/** Puts addresses on a whitelist as versions did that had no bound. */
async function fill(sql: Sql, merchantId: string, count: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`
      INSERT INTO book.settlement_address (id, merchant_id, network, address, label, created_at)
      SELECT 'adr_' || ${merchantId}::text || i, ${merchantId}, 'ETH', '0x' || lpad(to_hex(i), 40, '0'), 'old', now()
      FROM generate_series(1, ${count}::int) i`;
  });
}

/** Kinds of the outcomes, refusals by their code. */
async function outcomes(
  journal: Journal,
  merchantId: string,
  messages: readonly MerchantMessage[],
) {
  const all = await Promise.all(
    messages.map((message) => journal.ask(merchantId, message as AddSettlementAddress, 60_000)),
  );
  return all.map((outcome) => outcome.kind === "refused" ? outcome.refusal.code : outcome.kind);
}

test("a merchant has 200 settlement addresses at most, however many come at once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const [merchantId, other] = [await addMerchant(sql), await addMerchant(sql)];
  const commands = Array.from({ length: 210 }, (_, n) => addCommand(n + 1));
  const told = await outcomes(journal, merchantId, commands);
  assertEquals(told, [
    ...Array(200).fill("done"),
    ...Array(10).fill("too_many_settlement_addresses"),
  ]);
  assertEquals(await outcomes(journal, other, [addCommand(1)]), ["done"]);
  const remove = {
    type: "remove-settlement-address",
    at: Date.now(),
    addressId: commands[0]?.addressId ?? "",
  } as const;
  const again = await outcomes(journal, merchantId, [remove, addCommand(300), addCommand(301)]);
  assertEquals(again, ["done", "done", "too_many_settlement_addresses"]);
  // and the database says so to who does not count
  const insert = () =>
    sql`
      INSERT INTO book.settlement_address (id, merchant_id, network, address, label, created_at)
      VALUES ('adr_more', ${merchantId}, 'ETH', ${addressOf(302)}, 'x', now())`;
  await assertRejects(insert, Error, "200 settlement addresses at most");
  const revive = () =>
    sql`UPDATE book.settlement_address SET removed_at = NULL WHERE id = ${remove.addressId}`;
  await assertRejects(revive, Error, "200 settlement addresses at most");
  await journal.stop(1_000);
});

test("a whitelist that is longer since an earlier version is kept, and gets no longer", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fill(sql, merchantId, 250);
  const idOf = (n: number) => `adr_${merchantId}${n}`;
  const at = Date.now();
  const told = await outcomes(journal, merchantId, [
    addCommand(1),
    addCommand(1_000),
    { type: "activate-settlement-address", at, addressId: idOf(7), active: true },
    { type: "remove-settlement-address", at, addressId: idOf(8) },
    addCommand(1_000),
  ]);
  const full = "too_many_settlement_addresses";
  assertEquals(told, ["settlement_address_exists", full, "done", "done", full]);
  const { total, rows } = await listWhitelist(sql, { merchantId }, { page: 3, limit: 100 });
  assertEquals([total, rows.length], [249, 49]);
  await journal.stop(1_000);
});

test("a message reads the settlement address that it names, however long the whitelist is", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [merchantId, other] = [await addMerchant(sql), await addMerchant(sql)];
  await fill(sql, merchantId, 20_000);
  await sql`VACUUM ANALYZE book.settlement_address`;
  const one = database.connect({ max: 1 });
  const store = createJournalStore(one);
  const addressId = `adr_${merchantId}7`;
  const rows = async () => {
    await one`SELECT pg_stat_force_next_flush()`;
    const [row] = await one<{ n: number }[]>`
      SELECT (t.seq_tup_read + sum(i.idx_tup_read))::int AS n
      FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid)
      WHERE t.schemaname = 'book' AND t.relname = 'settlement_address' GROUP BY t.seq_tup_read`;
    return row?.n ?? NaN;
  };
  const at = Date.now();
  const cases: readonly (readonly [string, MerchantMessage, number, number])[] = [
    [merchantId, addCommand(7), 1, 1_300],
    [merchantId, addCommand(30_000), 0, 1_300],
    [other, addCommand(7), 0, 10],
    [merchantId, { type: "remove-settlement-address", at, addressId }, 1, 10],
    [merchantId, { type: "activate-settlement-address", at, addressId, active: true }, 1, 10],
    [merchantId, settlementCommand({ network: "ETH", destination: addressOf(7) }), 1, 10],
    [other, settlementCommand({ network: "ETH", destination: addressOf(7) }), 0, 10],
  ];
  for (const [asking, message, found, most] of cases) {
    const before = await rows();
    const { whitelist } = await store.readRecords(recordNeeds([{ merchantId: asking, message }]));
    assertEquals(whitelist.length, found, message.type);
    assertLess(await rows() - before, most, message.type);
  }
});
