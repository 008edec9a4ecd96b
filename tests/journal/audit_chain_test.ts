import { assert, assertEquals, assertRejects } from "@std/assert";
import { verifyAudit } from "../../ledger/audit_trail.ts";
import { type HubAudit, writeAudit } from "../../ledger/audit.ts";
import type { AnySql, Sql } from "../../ledger/database/connect.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

function line(id: string): HubAudit {
  return {
    id,
    merchantId: null,
    actor: "key_1",
    action: "api-key.create",
    subject: "key_2",
    before: null,
    after: { label: 'a "quoted" label, ü' },
    requestId: "req_1",
  };
}

/** A line of the books' audit, in a session of another time zone. */
async function bookLine(sql: AnySql, id: string): Promise<void> {
  await sql`
    INSERT INTO book.audit (id, merchant_id, actor, action, subject, after, created_at)
    VALUES (${id}, NULL, 'key_1', 'pair.set', 'USDT/TRX', '{"b": 1, "a": 1.50}', now())`;
}

const faultsOf = async (sql: Sql) =>
  (await verifyAudit(sql, null)).faults.map(({ auditId, fault }) => `${auditId} ${fault}`);

/** Does what only an owner of the tables can: changes what is written once. */
async function tamper(sql: Sql, change: (tx: AnySql) => Promise<unknown>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await change(tx);
  });
}

test("the audit is a chain that writers at once extend one after the other", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  const [before] = await sql<{ n: number }[]>`SELECT number::int AS n FROM hub.audit_head`;
  await Promise.all(
    Array.from(
      { length: 40 },
      (_, i) =>
        i % 2 === 0 ? writeAudit(sql, line(`aud_${i}`)) : sql.begin(async (tx) => {
          await tx.unsafe(`SET LOCAL TimeZone = 'Asia/Tokyo'`);
          await bookLine(tx, `aud_${i}`);
          await writeAudit(tx, line(`aud_${i}_too`));
        }),
    ),
  );
  // what is rolled back leaves no gap
  await assertRejects(() =>
    sql.begin(async (tx) => {
      await writeAudit(tx, line("aud_never"));
      throw new Error("rolled back");
    })
  );
  const { head, faults } = await verifyAudit(sql, null);
  assertEquals([head.number, faults], [String((before?.n ?? 0) + 60), []]);
  assertEquals((await verifyAudit(sql, head)).faults, []);
  // a transaction that stays open holds no other audited commit up
  const [free, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const open = sql.begin(async (tx) => {
    await writeAudit(tx, line("aud_open"));
    held.resolve();
    await free.promise;
  });
  await held.promise;
  await writeAudit(sql, line("aud_meanwhile"));
  free.resolve();
  await open;
  assertEquals(await faultsOf(sql), []);
});

test("what was changed, taken out or put in afterwards is found, also when a superuser did it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  for (let i = 1; i <= 5; i++) await writeAudit(sql, line(`aud_${i}`));
  await bookLine(sql, "aud_6");
  const { head } = await verifyAudit(sql, null);
  for (const table of ["book.audit", "hub.audit", "hub.audit_chain", "hub.audit_head"]) {
    for (const statement of [`TRUNCATE ${table}`, `DELETE FROM ${table}`]) {
      await assertRejects(() => sql.unsafe(statement), Error, "Cannot change", statement);
    }
  }
  await tamper(sql, (tx) => tx`UPDATE hub.audit SET actor = 'key_9' WHERE id = 'aud_2'`);
  assertEquals(await faultsOf(sql), ["aud_2 the line, or the link before it, was changed"]);
  await tamper(sql, (tx) => tx`UPDATE hub.audit SET actor = 'key_1' WHERE id = 'aud_2'`);
  assertEquals(await faultsOf(sql), []);
  await tamper(sql, (tx) => tx`DELETE FROM hub.audit WHERE id = 'aud_3'`);
  assertEquals(await faultsOf(sql), ["aud_3 the line is missing"]);
  await tamper(sql, (tx) => tx`DELETE FROM hub.audit_chain WHERE audit_id = 'aud_3'`);
  assertEquals(await faultsOf(sql), [
    "null links are missing",
    "aud_4 the line, or the link before it, was changed",
  ]);
  await tamper(sql, (tx) =>
    tx`
    INSERT INTO book.audit SELECT 'aud_7', merchant_id, actor, action, subject, before, after, request_id, created_at
    FROM book.audit WHERE id = 'aud_6'`);
  assertEquals((await faultsOf(sql)).at(-1), "aud_7 the line is in no link");
  await tamper(sql, async (tx) => {
    await tx`DELETE FROM book.audit`;
    await tx`DELETE FROM hub.audit_chain WHERE audit_id = 'aud_6'`;
  });
  assert((await faultsOf(sql)).includes("null the newest links are missing"));
  // the whole chain written anew holds in itself, and does not pass through what was written down
  const other = { number: head.number, hash: "0".repeat(64) };
  const { faults } = await verifyAudit(sql, other);
  assertEquals(faults[0]?.fault, "the link does not have the hash that was written down");
});
