import { assertEquals, assertRejects } from "@std/assert";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import { type Signer, SignerUnavailable } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addQueued } from "./support/add_queued.ts";

const test = testNeeding(DATABASE);
/** One whole batch and part of a second one. */
const QUEUED = 150;
const BATCH = 100;

/** A treasury whose node answers no broadcast before the signer is asked for a second batch. */
async function openTreasury(sql: Sql, signSecond: Signer["sign"] | null = null) {
  const real = paperSigner();
  const second = Promise.withResolvers<void>();
  const sent: string[] = [];
  const signer: Signer = {
    async sign(requests) {
      if (requests.length !== QUEUED - BATCH) return await real.sign(requests);
      // the second batch ends before any broadcast does
      return await (signSecond ?? real.sign)(requests).finally(() => setTimeout(second.resolve, 1));
    },
  };
  const chain = paperChain("TRX", {
    balanceOf: () => Promise.resolve(amount("1000000")),
    broadcast: async ({ txid }) => {
      await second.promise;
      sent.push(txid);
      return { category: "accepted", retryable: true };
    },
  });
  const treasury = await treasuryActors({
    sql,
    chains: new Map([["TRX", chain]]),
    signer,
    now: Date.now,
    node: "node",
    leaseMs: 60_000,
    resendMs: 60_000,
    attemptLimit: 3,
    wakeMerchants: () => {},
    onLook: () => {},
    onLiquidity: () => {},
    onSignerState: () => {},
  }).activate("TRX");
  return { treasury, sent };
}

async function signedTransactions(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ txid: string }[]>`SELECT txid FROM book.attempt ORDER BY txid`;
  return rows.map(({ txid }) => txid);
}

test("nodes carry out one batch while the signer is at the next, and each is sent once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueued(sql, QUEUED);
  const { treasury, sent } = await openTreasury(sql);
  await treasury.receive({ type: "look" });
  assertEquals(sent.length, QUEUED);
  assertEquals(sent.toSorted(), await signedTransactions(sql));
});

test("a batch that cannot be signed takes nothing from the one before, which is sent before the turn ends", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueued(sql, QUEUED);
  const { treasury, sent } = await openTreasury(
    sql,
    () => Promise.reject(new SignerUnavailable("Cannot sign as it is gone")),
  );
  await assertRejects(() => treasury.receive({ type: "look" }), SignerUnavailable);
  assertEquals(sent.length, BATCH);
  assertEquals(sent.toSorted(), await signedTransactions(sql));
  const [queued] = await sql`SELECT count(*)::int FROM book.outgoing WHERE status = 'queued'`;
  assertEquals(queued?.["count"], QUEUED - BATCH);
});
