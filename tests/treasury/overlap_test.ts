import { assertEquals, assertRejects } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import { type Signer, SignerUnavailable } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { PLATFORM_ACCOUNT } from "../../ledger/treasury/platform_account.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addQueued } from "./support/add_queued.ts";

const test = testNeeding(DATABASE);
/** One whole batch and part of a second one. */
const QUEUED = 150;
const BATCH = 100;

/** Of the house: coin for deposit addresses. */
const GAS = 5;

async function addQueuedAll(sql: Sql): Promise<void> {
  await addQueued(sql, QUEUED);
  const ids = Array.from({ length: GAS }, () => newId("out"));
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
    SELECT id, ${PLATFORM_ACCOUNT}, 'gas', 'TRX', 'native', 1, id, 'queued', now(), now()
    FROM unnest(${ids}::text[]) AS id`;
}

interface Failing {
  /** Signs the second batch of merchants. */
  readonly second?: Signer["sign"];
  /** Called before each broadcast, with how many there were before. */
  readonly broadcast?: (before: number) => void;
}

/** A treasury whose node answers no broadcast before the signer is asked for a second batch. */
async function openTreasury(sql: Sql, failing: Failing = {}) {
  const asked = Promise.withResolvers<void>();
  const real = paperSigner();
  const second = failing.second ?? ((requests) => real.sign(requests));
  const sent: string[] = [];
  let begun = 0;
  const signer: Signer = {
    async sign(requests) {
      if (requests.length !== QUEUED - BATCH) return await real.sign(requests);
      // the second batch ends before any broadcast does
      return await second(requests).finally(() => setTimeout(asked.resolve, 1));
    },
  };
  const chain = paperChain("TRX", {
    broadcast: async ({ txid }) => {
      failing.broadcast?.(begun++);
      await asked.promise;
      sent.push(txid);
      return { category: "accepted", retryable: true };
    },
  });
  const treasury = await treasuryActors(nodeOf(sql, chain, { signer })).activate("TRX");
  return { look: () => treasury.receive({ type: "look" }), sent };
}

/** Transactions that were signed, of payouts in the order of their queue, or of the house. */
async function signed(sql: Sql, kind: "payout" | "gas"): Promise<readonly string[]> {
  const rows = await sql<{ txid: string }[]>`
    SELECT a.txid FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id
    WHERE o.kind = ${kind} ORDER BY o.id`;
  return rows.map(({ txid }) => txid);
}

const gone = () => Promise.reject(new SignerUnavailable("Cannot sign as it is gone"));

test("nodes carry out one batch while the signer is at the next; each is sent once, merchants first", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueuedAll(sql);
  const { look, sent } = await openTreasury(sql);
  await look();
  const [payouts, gas] = [await signed(sql, "payout"), await signed(sql, "gas")];
  assertEquals([payouts.length, gas.length], [QUEUED, GAS]);
  const parts = [
    sent.slice(0, BATCH),
    sent.slice(BATCH, BATCH + GAS),
    sent.slice(BATCH + GAS),
  ].map((part) => part.toSorted());
  const expected = [payouts.slice(0, BATCH), gas, payouts.slice(BATCH)];
  assertEquals(parts, expected.map((part) => part.toSorted()));
});

test("a batch that cannot be signed takes nothing from those before, which are sent before the turn ends", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueuedAll(sql);
  const { look, sent } = await openTreasury(sql, { second: gone });
  await assertRejects(look, SignerUnavailable);
  const all = [...await signed(sql, "payout"), ...await signed(sql, "gas")];
  assertEquals(all.length, BATCH + GAS);
  assertEquals(sent.toSorted(), all.toSorted());
});

test("a broadcast that breaks is told, and takes nothing from what is signed meanwhile", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueuedAll(sql);
  const broadcast = (before: number) => {
    if (before === 0) throw new TypeError("broken");
  };
  const { look, sent } = await openTreasury(sql, { broadcast });
  await assertRejects(look, TypeError, "broken");
  const all = [...await signed(sql, "payout"), ...await signed(sql, "gas")];
  assertEquals(all.length, QUEUED + GAS);
  assertEquals(sent.length, all.length - 1);
});

test("where signing and sending both fail, the turn fails as the signing did", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueuedAll(sql);
  const broadcast = () => {
    throw new TypeError("broken");
  };
  const { look } = await openTreasury(sql, { second: gone, broadcast });
  await assertRejects(look, SignerUnavailable);
});
