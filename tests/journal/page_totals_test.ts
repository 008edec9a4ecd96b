import { assert, assertEquals, assertLess } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import { decodePayment, paymentOf } from "../../ledger/sessions.ts";
import { addMerchant } from "../support/books.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A merchant's page that asks for USDT, and an address that was handed out by itself. */
async function openPage({ sql }: TestDatabase) {
  const merchantId = await addMerchant(sql);
  await sql`
    INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, identifier, created_at)
    SELECT id, ${merchantId}, 'TRX', 'T' || id, 1, kind, id, now()
    FROM (VALUES ('adr_page', 'session'), ('adr_alice', 'issued')) a(id, kind)`;
  await sql`
    INSERT INTO hub.session (id, token_hash, nonce, merchant_id, seq, address_id, address, network,
      identifier, currency, expires_at, created_at)
    VALUES ('ses_1', sha256('x'), 'x', ${merchantId}, 1, 'adr_page', 'Tadr_page', 'TRX', 'alice',
      'USDT', now() + interval '1 hour', now())`;
  let last = 0;
  return {
    merchantId,
    /** Adds deposits, a transfer each, in one statement. */
    async add(
      status: string,
      amounts: readonly string[],
      { currency = "USDT", addressId = "adr_page" } = {},
    ): Promise<void> {
      const first = last + 1;
      last += amounts.length;
      await sql`
        INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount,
          status, source, address_id, address, txid, log_index, created_at, updated_at, cleared_at)
        SELECT 'dep_' || lpad(n::text, 9, '0'), ${merchantId}, n, n, ${currency}, 'TRX', amount,
          ${status}, 'on_chain', ${addressId}, 'T' || ${addressId}::text, 'tx' || n, 0, now(), now(),
          CASE ${status}::text WHEN 'CONFIRMED' THEN clock_timestamp() END
        FROM (SELECT ${first}::bigint + i - 1 AS n, amount
          FROM unnest(${[...amounts]}::numeric[]) WITH ORDINALITY a(amount, i)) x`;
    },
  };
}

/** The payment of the page, as the service reads it. */
async function shown(sql: Sql) {
  const [row] = await sql`SELECT p.* FROM hub.session s ${paymentOf(sql)}`;
  const payment = decodePayment(row ?? {});
  if (payment === null) return null;
  const { deposit, credited, pending } = payment;
  return [deposit.status, deposit.txid, formatAmount(credited), formatAmount(pending)];
}

/** The same, made of all deposits. */
async function summed(sql: Sql) {
  const [row] = await sql`
    SELECT d.status, d.txid,
      trim_scale(coalesce(sum(d.amount) FILTER (WHERE d.status = 'CONFIRMED' AND d.currency = 'USDT') OVER (), 0)) AS credited,
      trim_scale(coalesce(sum(d.amount) FILTER (WHERE d.status = 'PENDING' AND d.currency = 'USDT') OVER (), 0)) AS pending
    FROM book.deposit d WHERE d.address_id = 'adr_page'
    ORDER BY CASE d.status WHEN 'CONFIRMED' THEN 0 WHEN 'PENDING' THEN 1 ELSE 2 END, d.cleared_at, d.id
    LIMIT 1`;
  return row === undefined ? null : [row.status, row.txid, row.credited, row.pending];
}

/** Random numbers that are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

test("what a page shows are the exact sums of its deposits, however they come and change", async () => {
  const random = numbers(7);
  const seen = new Set<string>();
  for (let round = 0; round < 4; round++) {
    await using database = await testDatabase({ max: 1 });
    const { sql } = database;
    const page = await openPage(database);
    assertEquals(await shown(sql), null);
    for (let step = 0; step < 60; step++) {
      const some = sql`(SELECT id FROM book.deposit WHERE hashtext(id || ${step}::text) % 3 = 0)`;
      // the first credited one comes late in two of the rounds
      const end = round % 2 === 1 || step > 40 ? "CONFIRMED" : "FAILED";
      const steps = [
        () =>
          page.add(
            step > 40 ? "CONFIRMED" : "PENDING",
            Array.from({ length: 1 + random(4) }, () => `0.${1 + random(1_000_000)}`),
            { currency: random(3) === 0 ? "USDC" : "USDT" },
          ),
        () => page.add("PENDING", ["5", "7.000001"]),
        () => page.add("CONFIRMED", ["11"], { addressId: "adr_alice" }),
        // what was seen is replaced by what the solid block has
        () =>
          sql`
            UPDATE book.deposit SET amount = amount + 0.000001,
              currency = CASE currency WHEN 'USDT' THEN 'USDC' ELSE 'USDT' END
            WHERE status = 'PENDING' AND id IN ${some}`,
        () =>
          sql`UPDATE book.deposit SET status = 'FAILED' WHERE status = 'PENDING' AND id IN ${some}`,
        () =>
          sql`
            UPDATE book.deposit SET status = ${end},
              cleared_at = CASE ${end}::text WHEN 'CONFIRMED' THEN clock_timestamp() END
            WHERE status IN ('PENDING', 'FAILED') AND status <> ${end} AND id IN ${some}`,
      ];
      await steps[random(steps.length)]?.();
      const is = await shown(sql);
      seen.add(String(is?.[0]));
      assertEquals(is, await summed(sql), `round ${round}, step ${step}`);
    }
    const [row] =
      await sql`SELECT count(*)::int AS n FROM book.page_total WHERE address_id = 'adr_alice'`;
    assertEquals(row?.n, 0);
  }
  assertEquals([...seen].toSorted(), ["CONFIRMED", "FAILED", "PENDING", "undefined"]);
});

test("a total that differs from the deposits is told by the comparison of the books", async () => {
  await using database = await testDatabase({ max: 1 });
  const { sql } = database;
  const page = await openPage(database);
  await page.add("CONFIRMED", ["1"]);
  const RULE = "totals of hosted pages are what came in for them";
  const told = async () =>
    (await checkBooks(sql)).find(({ rule }) => rule === RULE)?.differences.map(({ detail }) =>
      detail
    );
  assertEquals(await told(), []);
  await sql`UPDATE book.page_total SET credited = credited + 1, pending = 2`;
  assertEquals(await told(), ["kept 2 and 2 pending, came in 1 and 0"]);
  await sql`DELETE FROM book.page_total`;
  assertEquals(await told(), ["kept 0 and 0 pending, came in 1 and 0"]);
});

/** A step of a plan, as EXPLAIN shows it. */
interface Step {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Step[];
}

function stepsOf(step: Step): readonly Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

/** Rows that a read of the page looks at, and pages of the database that it needs for them. */
async function costOf(sql: Sql): Promise<{ readonly rows: number; readonly blocks: number }> {
  const [row] = await sql`
    EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
    SELECT s.*, p.* FROM hub.session s ${paymentOf(sql)} WHERE s.token_hash = sha256('x')`;
  const plan: Step = row?.["QUERY PLAN"][0].Plan;
  const scans = stepsOf(plan).filter((step) => step["Node Type"].includes("Scan"));
  const rows = scans.map((step) =>
    step["Actual Loops"] * (step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0))
  ).reduce((sum, one) => sum + one, 0);
  return { rows, blocks: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] };
}

test("a read of a page costs a few rows, whatever number of deposits its address has", async () => {
  const MANY = Array.from({ length: 5_000 }, () => "0.000001");
  const cases = {
    "all credited": async ({ add }) => await add("CONFIRMED", MANY),
    "all under way": async ({ add }) => await add("PENDING", MANY),
    "all came to nothing": async ({ add }) => await add("FAILED", MANY),
    "one is under way, behind many that came to nothing": async ({ add }) => {
      await add("FAILED", MANY);
      await add("PENDING", ["1"]);
    },
  } satisfies Record<string, (page: Awaited<ReturnType<typeof openPage>>) => Promise<void>>;
  for (const [name, fill] of Object.entries(cases)) {
    await using database = await testDatabase({ max: 1 });
    const { sql } = database;
    await fill(await openPage(database));
    for (const isAnalyzed of [false, true]) {
      if (isAnalyzed) await sql`VACUUM ANALYZE`;
      const { rows, blocks } = await costOf(sql);
      assertLess(rows, 8, `${name}, ${isAnalyzed ? "analyzed" : "unknown"}`);
      assertLess(blocks, 40, name);
    }
    assert(await shown(sql) !== null);
  }
});
