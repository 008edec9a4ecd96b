import { assertEquals } from "@std/assert";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import { addMerchant, amount, fund, openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a node's one bad answer takes neither the payouts before it along nor those after it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "1000");
  for (let n = 0; n < 5; n++) await journal.ask(merchantId, reserveCommand(), 60_000);
  await journal.stop(5_000);
  let answers = 0;
  const chain = paperChain("TRX", {
    estimateFee: () => {
      if (++answers === 4) {
        return Promise.reject(new ChainUnavailable("server-error", "Cannot estimate as it failed"));
      }
      return Promise.resolve({ fee: amount("1"), limit: amount("2") });
    },
  });
  const { transactions } = await signQueued(chain, {
    sql,
    chains: new Map([["TRX", chain]]),
    signer: paperSigner(),
    now: Date.now,
    node: "node",
    leaseMs: 60_000,
    resendMs: 1_000,
    attemptLimit: 3,
    wakeMerchants: () => {},
    onLook: () => {},
    onLiquidity: () => {},
    onSignerState: () => {},
  });
  assertEquals(transactions.length, 4);
  const rows = await sql<{ status: string; reason: string | null; free: boolean | null }[]>`
    SELECT status, reason, lease_until <= now() AS free FROM book.outgoing ORDER BY id`;
  const signed = { status: "signed", reason: null, free: null };
  const waiting = { status: "queued", reason: "waiting for another try", free: false };
  assertEquals(rows.map((row) => ({ ...row })), [signed, signed, signed, waiting, signed]);
});
