import { assertEquals } from "@std/assert";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import { proveTransfer, readAwaitedProof } from "../../ledger/watcher/deposit_proofs.ts";
import type { TransferFinding } from "../../ledger/watcher/findings.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { addMerchant, amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { transferFinding } from "./support/transfer_finding.ts";

const test = testNeeding(DATABASE);

test("what is proven of a large transfer is what is credited, where two readings replace it at once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await setDepositProofRule(sql, "TRX", amount("50"));
  const found = (txid: string, text: string) =>
    transferFinding(merchantId, txid, { amount: amount(text) });
  const record = (...findings: readonly TransferFinding[]) =>
    recordTransfers(sql, "TRX", "solid", findings);
  await record(found("one", "700"), found("two", "700"));
  // a reading that replaces what is known of `two` stands between its statements until another one of `one` has ended
  await sql.unsafe(`
    CREATE TABLE public.passed (at timestamptz);
    CREATE FUNCTION public.stand() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      WHILE NOT EXISTS (SELECT FROM public.passed) LOOP
        PERFORM pg_sleep(0.01);
      END LOOP;
      RETURN NULL;
    END $$;
    CREATE TRIGGER stand AFTER UPDATE ON book.deposit_proof FOR EACH ROW WHEN (NEW.txid = 'two') EXECUTE FUNCTION public.stand()`);
  const first = record(found("one", "700"), found("two", "600"));
  await until(async () =>
    (await sql`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`)
      .length > 0
  );
  await record(found("one", "500"));
  await sql`INSERT INTO public.passed VALUES (now())`;
  await first;
  const evidence = { node: "second", height: 5, hash: "block 5", askedAt: Date.now() };
  for (const txid of ["one", "two"]) {
    const awaited = await readAwaitedProof(sql, { merchantId, network: "TRX", txid, logIndex: 0 });
    if (awaited === null) throw new Error(`Cannot prove what does not wait: ${txid}`);
    await proveTransfer(sql, "TRX", awaited, evidence);
  }
  const rows = await sql<{ proven: string; credited: string; quarantine: string | null }[]>`
    SELECT trim_scale(p.amount)::text AS proven, i.data ->> 'amount' AS credited, i.quarantine
    FROM book.deposit_proof p JOIN book.inbox i ON i.txid = p.txid AND i.phase = 'solid' ORDER BY p.txid`;
  assertEquals(rows.map(({ proven, credited, quarantine }) => [proven, credited, quarantine]), [
    ["700", "700", null],
    ["600", "600", null],
  ]);
});
