import { assertEquals } from "@std/assert";
import { Engine } from "../../actors/engine.ts";
import { addMerchant, addTransfer } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { eventually } from "./support/client.ts";
import { bounded, NODE_MS } from "./support/patience.ts";

const test = testNeeding(DATABASE);

test("a node starts while rows that were quarantined cannot be given back, and tries them once they can", async () => {
  await using database = await testDatabase({ max: 4 });
  const { sql } = database;
  const journalSql = database.connect({ max: 4, statementTimeoutMs: 100, looksUpOnly: true });
  const merchantId = await addMerchant(sql);
  await addTransfer(sql, merchantId, "5");
  await sql`UPDATE book.inbox SET quarantine = 'bug: Error: x'`;
  const [isHeld, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.connect({ max: 1 }).begin(async (tx) => {
    await tx`LOCK TABLE book.inbox IN SHARE MODE`;
    isHeld.resolve();
    await letGo.promise;
  });
  await isHeld.promise;
  const engine = new Engine({
    sql,
    journalSql,
    chains: new Map(),
    signer: paperSigner(),
    webhooks: { wake: () => {}, start: () => {}, stop: () => Promise.resolve() },
    pace: () => ({
      pollMs: 1_000,
      leaseMs: 1_000,
      resendMs: 1_000,
      recheckMs: 1_000,
      attemptLimit: 3,
    }),
    missedMs: 50,
    now: () => Date.now(),
    usdRate: () => "1",
  });
  await bounded("the start", engine.start());
  letGo.resolve();
  await holding;
  await eventually("the row that was quarantined tried again", async () => {
    const rows = await sql`SELECT FROM book.inbox WHERE consumed_at IS NULL`;
    return rows.length === 0;
  }, NODE_MS);
  const [row] = await sql`SELECT quarantine FROM book.inbox`;
  assertEquals(row?.quarantine, null);
  await bounded("the end of the node", engine.stop(1_000));
});
