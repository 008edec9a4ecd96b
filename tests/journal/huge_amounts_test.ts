import { assertEquals, assertRejects } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { testApi } from "../support/api.ts";
import { addTransfer, amount, booksFaults, openJournal, until } from "../support/books.ts";
import { addMerchant, fund, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("after the largest deposits by hand what comes over the chain is still credited", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const book = (text: string) =>
    journal.ask(merchantId, {
      type: "create-deposit",
      at: Date.now(),
      depositId: newId("dep"),
      transactionId: newId("txn"),
      currency: "USDT",
      network: "TRX",
      amount: amount(text),
      source: "bank",
      description: null,
      metadata: {},
      depositAddressId: null,
      txid: null,
      usdRate: "1",
    }, 60_000);
  for (let n = 0; n < 3; n++) assertEquals((await book("1000000000000")).kind, "done");
  const refused = await book("99999999999999999999");
  assertEquals(refused.kind === "refused" && refused.refusal.code, "balance_too_large");
  await addTransfer(sql, merchantId, "250", { phase: "seen" });
  await fund(sql, journal, merchantId, "999999999999");
  assertEquals(
    (await journal.ask(merchantId, reserveCommand({ amount: amount("100000000000") }), 60_000))
      .kind,
    "done",
  );
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a transfer of an absurd amount is quarantined alone, whatever number of digits it has", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const [merchantId, other] = [await addMerchant(sql), await addMerchant(sql)];
  const absurd = [
    "1000000000000.000001",
    "99999999999999999999",
    `${2n ** 256n}`,
    "9".repeat(5_000),
  ];
  const quarantined: string[] = [];
  for (const text of absurd) {
    for (const phase of ["seen", "solid"] as const) {
      quarantined.push(await addTransfer(sql, merchantId, text, { phase }));
    }
  }
  await addTransfer(sql, merchantId, "5");
  journal.wake(merchantId);
  await fund(sql, journal, other, "7");
  await until(async () => {
    const rows =
      await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`;
    return rows.length === 0;
  });
  const rows = await sql<{ txid: string; quarantine: string }[]>`
    SELECT txid, quarantine FROM book.inbox WHERE quarantine IS NOT NULL`;
  assertEquals(rows.map(({ txid }) => txid).sort(), quarantined.sort());
  assertEquals(rows.every(({ quarantine }) => quarantine.startsWith("unreadable:")), true);
  assertEquals(journal.figures.quarantined, absurd.length * 2);
  const balances = await sql`SELECT trim_scale(available)::text AS a FROM book.balance ORDER BY 1`;
  assertEquals(balances.map((row) => row["a"]), ["5", "7"]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("the database has no deposit, fee or limit above 10^12 either", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const above = "1000000000000.000000000000000001";
  for (
    const change of [
      () => sql`UPDATE book.setting SET base_fee = ${above}`,
      () => sql`UPDATE book.pair SET network_fee = ${above}`,
      () => sql`UPDATE book.pair SET min_withdrawal = ${above}`,
      () => sql`UPDATE book.settlement_threshold SET amount = ${above}`,
      () =>
        sql`UPDATE book.merchant SET direct_deposit_fee = ${above} WHERE merchant_id = ${merchantId}`,
    ]
  ) await assertRejects(change, Error, "check constraint");
});

test("a fee or limit above 10^12 is refused with 400 and changes nothing", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const { id } = await api.addMerchant();
  const above = "1000000000001";
  const asked: readonly [string, string, Record<string, unknown>][] = [
    ["POST", "/api/admin/withdrawal-fees", { baseFee: above }],
    ["PUT", "/api/admin/pairs", { currency: "USDT", network: "TRX", networkFee: above }],
    ["PUT", "/api/admin/pairs", { currency: "USDT", network: "TRX", minWithdrawal: above }],
    ["PATCH", `/api/merchants/${id}`, { directDepositFee: above }],
  ];
  const settings = () => api.sql`SELECT epoch FROM book.setting`;
  const before = await settings();
  for (const [method, path, body] of asked) {
    const answer = await api.call(method, path, { key: admin, body });
    assertEquals([answer.status, answer.body.error], [400, "Invalid request data"], path);
  }
  assertEquals([...await settings()], [...before]);
});
