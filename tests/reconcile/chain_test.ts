import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { checkChain } from "../../actors/reconcile/check_chain.ts";
import type { ReconciledChain } from "../../actors/reconcile/passed_block.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { acknowledgeQuarantined } from "../../ledger/quarantine.ts";
import { recordMisdirected } from "../../ledger/watcher/misdirected.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import { addressOf, EMPTY_CHAIN, HOT_WALLET } from "../support/api.ts";
import {
  addMerchant,
  addTransfer,
  amount,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { eventAddressOf } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { passed } from "./support/moving_chain.ts";

const test = testNeeding(DATABASE);
const TXID = "ab".repeat(32);

/** A chain that holds what a test says, at block 10. */
function chainOf(
  balances: Readonly<Record<string, Amount>>,
  more: Partial<ReconciledChain> = {},
): ReconciledChain {
  return {
    ...EMPTY_CHAIN,
    network: "TRX",
    solid: () =>
      Promise.resolve({
        height: 10,
        parentHeight: 9,
        hash: "h",
        parentHash: "p",
        time: 0,
        tick: 0,
      }),
    balanceOf: (address) => Promise.resolve(balances[address] ?? amount("0")),
    transaction: (txid) =>
      Promise.resolve({
        kind: "found" as const,
        transaction: {
          txid,
          success: true,
          failure: null,
          fee: amount("1"),
          height: 9,
          time: 0,
          transfers: [{
            txid,
            logIndex: 0,
            currency: "USDT" as const,
            eventFrom: eventAddressOf(HOT_WALLET),
            eventTo: eventAddressOf(SOMEWHERE),
            amount: amount("10"),
            diesAfter: 0,
            expiresAt: 0,
          }],
        },
      }),
    ...more,
  };
}

/** A merchant with 100 USDT on two addresses, of which 10 were paid out. */
async function books(sql: Sql) {
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "60");
  await addTransfer(sql, merchantId, "40", { to: addressOf(2) });
  journal.wake(merchantId);
  const command = reserveCommand({ amount: amount("10") });
  await until(async () => (await journal.ask(merchantId, command, 60_000)).kind === "done");
  const { outgoingId } = command;
  await commitSigned(sql, [{
    outgoingId,
    merchantId,
    network: "TRX",
    txid: TXID,
    bytes: "{}",
    expiresAt: Date.now() + 60_000,
  }]);
  const [own] = await findOwnTransactions(sql, "TRX", [TXID]);
  assert(own !== undefined);
  await recordOutcomes(sql, "TRX", [
    { own, result: "paid", reason: null, height: 9, fee: amount("1") },
  ]);
  journal.wake(merchantId);
  await until(async () => {
    const [row] = await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`;
    return row === undefined;
  });
  await journal.stop(1_000);
  await moveCursor(sql, "TRX", "solid", null, {
    height: 10,
    hash: "h",
    time: 0,
    previousTime: 0,
    tick: 0,
    previousTick: 0,
  });
}

const pause = () => Promise.resolve();

const auditOf = (merchantId: string) => ({
  id: "aud_1",
  createdAt: 1,
  actor: "key_1",
  action: "inbox.acknowledge",
  subject: "row",
  merchantId,
  requestId: "req_1",
});

/** Rules that do not hold, with their reported differences. */
async function told(sql: Sql, chain: ReconciledChain): Promise<[string, string][]> {
  const report = await checkChain({ sql, chain, pause, coldAddress: null });
  return report.rules.flatMap(({ rule, differences }) =>
    differences.map(({ subject, detail }): [string, string] => [rule, `${subject}: ${detail}`])
  );
}

test("books and chain are compared as of one block", async (t) => {
  await using database = await testDatabase();
  const { sql } = database;
  await books(sql);
  const [one, two, hot] = [SOMEWHERE, addressOf(2), HOT_WALLET];
  const right = { [one]: amount("60"), [two]: amount("40"), [hot]: amount("5") };

  await t.step("what agrees is told with its sums", async () => {
    const report = await checkChain({ sql, chain: chainOf(right), pause, coldAddress: null });
    assertEquals(report.rules.map(({ differences }) => differences), [[], [], [], []]);
    assertEquals(
      report.holdings.map(({ currency, hotWallet, addresses, owed }) => [
        currency,
        hotWallet,
        addresses,
        owed,
      ]),
      [["USDT", "5", "100", "88"]],
    );
  });
  await t.step("an address that holds less", async () => {
    const [[rule, detail] = ["", ""], ...others] = await told(
      sql,
      chainOf({ ...right, [two]: amount("39") }),
    );
    assertEquals([rule, others.length], ["addresses hold what was paid to them", 0]);
    assertStringIncludes(detail, `${two} USDT: 39 on the chain, 40 by the books`);
  });
  await t.step("a payout that pays something else, or is not there", async () => {
    const missing = chainOf(right, {
      transaction: (txid) => Promise.resolve({ kind: "missing", txid }),
    });
    assertEquals((await told(sql, missing)).map(([rule]) => rule), [
      "payouts that count as paid are on the chain",
    ]);
    await sql`ALTER TABLE book.outgoing DISABLE TRIGGER outgoing_is_kept`;
    await sql`UPDATE book.outgoing SET amount = 11`;
    assertEquals((await told(sql, chainOf(right))).length, 1);
    await sql`UPDATE book.outgoing SET amount = 10`;
  });
  await t.step("wallets that hold less than is owed", async () => {
    await sql`UPDATE book.balance SET available = available + 30`;
    const [[rule, detail] = ["", ""]] = await told(sql, chainOf(right));
    assertEquals(rule, "the wallets hold what merchants are owed");
    assertStringIncludes(detail, "USDT/TRX: 13 are missing");
    await sql`UPDATE book.balance SET available = available - 30`;
  });
  await t.step("what is found is told although something else cannot be read", async () => {
    const reason = "Cannot ask as it is silent";
    let height = 10;
    const mine = async () => {
      await passed(sql, ++height);
    };
    const chain = chainOf({ ...right, [two]: amount("39"), [hot]: amount("4.5") }, {
      solid: () =>
        Promise.resolve({
          height,
          parentHeight: height - 1,
          hash: "h",
          parentHash: "p",
          time: 0,
          tick: 0,
        }),
      transaction: () => Promise.reject(new ChainUnavailable("timeout", reason)),
    });
    const report = await checkChain({ sql, chain, pause: mine, coldAddress: null });
    assertEquals(
      report.rules.map(({ differences, unchecked }) => [differences.length, unchecked]),
      [[1, null], [0, reason], [0, null], [2, null]],
    );
    await passed(sql, 10);
  });
  await t.step("a node that is silent or a scan that stands still: nothing is known", async () => {
    const silence = () =>
      Promise.reject(new ChainUnavailable("timeout", "Cannot ask as it is silent"));
    const silent = chainOf(right, { solid: silence, transaction: silence });
    const reportOf = async (chain: ReconciledChain) => {
      const { rules, holdings } = await checkChain({ sql, chain, pause, coldAddress: null });
      return [rules.map(({ rule, unchecked }) => `${rule}: ${unchecked}`), holdings];
    };
    assertEquals(await reportOf(silent), [
      ["books and chain agree: Cannot ask as it is silent"],
      [],
    ]);
    const ahead = chainOf(right, {
      solid: () =>
        Promise.resolve({
          height: 11,
          parentHeight: 10,
          hash: "h",
          parentHash: "p",
          time: 0,
          tick: 0,
        }),
    });
    assertEquals(await reportOf(ahead), [
      ["books and chain agree: Cannot compare as the service's scan has not passed block 11"],
      [],
    ]);
  });
});

test("money that came in for another network's address hides no shortage, whether it is dealt with or not", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await books(sql);
  const away = addressOf(9);
  const merchantId = await addMerchant(sql);
  const txid = "cd".repeat(32);
  await recordMisdirected(sql, "TRX", [{
    merchantId,
    issuedOn: "TRX_SHASTA",
    txid,
    logIndex: 0,
    currency: "USDT",
    amount: amount("12"),
    from: SOMEWHERE,
    to: away,
    addressId: "adr_9",
    height: 8,
    hash: null,
    diesAfter: 0,
    expiresAt: 0,
  }]);
  const right = {
    [SOMEWHERE]: amount("60"),
    [addressOf(2)]: amount("40"),
    [HOT_WALLET]: amount("5"),
  };
  const withAway = (text: string, hot = "5") =>
    told(sql, chainOf({ ...right, [HOT_WALLET]: amount(hot), [away]: amount(text) }));
  const short = "the wallets hold what merchants are owed";
  const gone = "addresses hold what was paid to them";
  /** 88 are owed and 105 held: one is missing, and the 12 that were set aside would hide it. */
  const owe = (sign: string) =>
    sql.unsafe(`UPDATE book.balance SET available = available ${sign} 18 WHERE network = 'TRX'`);

  assertEquals(await withAway("12"), []);
  assertEquals(
    (await withAway("11")).map(([rule]) => rule),
    [gone],
    "it is still to be dealt with",
  );
  // less than a dollar of it leaves no row
  assertEquals(await withAway("12.9"), []);
  await owe("+");
  assertEquals(await withAway("12"), [[short, "USDT/TRX: 1 are missing"]]);
  const key = { merchantId, network: "TRX", txid, logIndex: 0, phase: "solid" } as const;
  assertEquals(
    await acknowledgeQuarantined(sql, key, "moved by hand", auditOf(merchantId)),
    "done",
  );
  for (const left of ["0", "12"]) {
    assertEquals(await withAway(left), [[short, "USDT/TRX: 1 are missing"]]);
  }
  assertEquals(await withAway("0", "6"), []);
});
