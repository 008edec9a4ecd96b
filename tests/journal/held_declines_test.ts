import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { settlementCommand } from "../support/settlement_command.ts";

const test = testNeeding(DATABASE);
type Journal = ReturnType<typeof openJournal>;

/** Opens a merchant whose withdrawals and settlements of 10 and more wait for approval. */
async function openWaiting(sql: Sql, journal: Journal): Promise<string> {
  await sql`UPDATE book.settlement_threshold SET amount = 10`;
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const at = Date.now();
  const addressId = newId("adr");
  const address = { network: "TRX", address: SOMEWHERE, label: "cold" } as const;
  const commands = [
    { type: "add-settlement-address", at, addressId, ...address },
    { type: "activate-settlement-address", at, addressId, active: true },
  ] as const;
  for (const command of commands) await journal.ask(merchantId, command, 60_000);
  return merchantId;
}

/** Makes a withdrawal and a settlement that wait for approval; each is asked to be given back by what is returned. */
async function makeWaiting(journal: Journal, merchantId: string) {
  const ends = () => ({
    at: Date.now(),
    reason: "Cancelled",
    chargeIds: [newId("chg"), newId("chg")] as const,
    eventIds: [newId("evt"), newId("evt")] as const,
  });
  const pinnedTo = { network: "TRX", address: SOMEWHERE } as const;
  const withdrawal = reserveCommand({ pinnedTo, amount: amount("10") });
  const settlement = settlementCommand();
  for (const command of [withdrawal, settlement]) {
    assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  }
  const { settlementId, withdrawalId } = settlement;
  const to = "REJECTED";
  return [
    () =>
      journal.ask(merchantId, {
        type: "decline-withdrawal",
        withdrawalId: withdrawal.withdrawalId,
        ...ends(),
      }, 60_000),
    () =>
      journal.ask(merchantId, {
        type: "decline-settlement",
        settlementId,
        withdrawalId,
        to,
        ...ends(),
      }, 60_000),
  ];
}

async function statuses(sql: Sql, merchantId: string): Promise<readonly string[]> {
  const rows = await sql<{ status: string }[]>`
    SELECT status FROM book.withdrawal WHERE merchant_id = ${merchantId}
      AND status IN ('PENDING_APPROVAL', 'CANCELLED') ORDER BY seq`;
  return rows.map(({ status }) => status);
}

const [waiting, given] = [
  ["PENDING_APPROVAL", "PENDING_APPROVAL"],
  ["CANCELLED", "CANCELLED"],
];

test("what waits for approval is not given back while signing is stopped, as another history may have paid it, and what came with it is not kept", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = createJournalStore(sql);
  let writes = 0;
  const journal = openJournal(sql, {
    store: {
      ...store,
      writeBatch: (...args) => {
        writes++;
        return store.writeBatch(...args);
      },
    },
  });
  const one = await openWaiting(sql, journal);
  const other = await addMerchant(sql);
  await fund(sql, journal, other, "100");
  const declines = await makeWaiting(journal, one);
  await sql`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
  writes = 0;
  const asked = [
    ...declines.map((decline) => decline()),
    journal.ask(one, reserveCommand(), 60_000),
    journal.ask(other, reserveCommand(), 60_000),
  ];
  const answers = (await Promise.all<{ readonly kind: string }>(asked)).map(({ kind }) => kind);
  assertEquals(answers, ["held", "held", "done", "done"]);
  assertEquals(await statuses(sql, one), waiting);
  assertEquals([journal.figures.quarantined, writes <= 6], [0, true], `${writes} writes`);
  // stopped no more: both are given back
  await sql`UPDATE hub.database_history SET timeline = timeline - 1_000_000`;
  for (const decline of declines) assertEquals((await decline()).kind, "done");
  assertEquals(await statuses(sql, one), given);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("what waits for approval is not given back while this node has yet to read blocks that may have paid it, by its network", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const held = new Set<Network>(["TRX"]);
  const journal = openJournal(sql, {
    holdsRefunds: (network) => Promise.resolve(held.has(network)),
  });
  const merchantId = await openWaiting(sql, journal);
  const declines = await makeWaiting(journal, merchantId);
  const declineAll = async () => {
    const asked = declines.map<Promise<{ readonly kind: string }>>((decline) => decline());
    return (await Promise.all(asked)).map(({ kind }) => kind);
  };
  assertEquals(await declineAll(), ["held", "held"]);
  assertEquals(await statuses(sql, merchantId), waiting);
  held.clear();
  held.add("ETH");
  assertEquals(await declineAll(), ["done", "done"]);
  assertEquals(await statuses(sql, merchantId), given);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
