import { assert, assertEquals } from "@std/assert";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import { commitSigned } from "../support/commit_signed.ts";
import {
  addMerchant,
  addTransfer,
  amount,
  booksFaults,
  fund,
  openJournal,
  refundCommand,
  reserveCommand,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("of refunding and signing one withdrawal exactly one wins, whatever the timing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "2000");
  const commands = Array.from({ length: 40 }, () => reserveCommand());
  for (
    const outcome of await Promise.all(commands.map((c) => journal.ask(merchantId, c, 60_000)))
  ) {
    assertEquals(outcome.kind, "done");
  }
  const results = await Promise.all(commands.map(async (command, n) => {
    const sign = () =>
      commitSigned(sql, [{
        outgoingId: command.outgoingId,
        merchantId,
        network: "TRX",
        txid: n.toString(16).padStart(64, "a"),
        bytes: "{}",
        expiresAt: Date.now() + 60_000,
      }]);
    const release = async () => {
      while (true) {
        const answer = await journal.ask(merchantId, refundCommand(command.withdrawalId), 60_000);
        // it collided with signatures too often: asked again, as by any client
        if (answer.kind !== "overloaded") return answer;
      }
    };
    const [signed, released] = n % 2 === 0
      ? await Promise.all([sign(), release()])
      : await Promise.all([release(), sign()]).then(([b, a]) => [a, b] as const);
    return { signed: signed.size === 1, released };
  }));
  for (const { signed, released } of results) {
    assertEquals(signed, released.kind !== "done");
    if (released.kind !== "done") {
      assert(released.kind === "refused" && released.refusal.code === "already_sent");
    }
  }
  const [row] = await sql`
    SELECT count(*) FILTER (WHERE w.status = 'FAILED' AND o.status = 'void') AS refunded,
           count(*) FILTER (WHERE w.status = 'PENDING' AND o.status = 'signed') AS sent
    FROM book.withdrawal w JOIN book.outgoing o ON o.id = w.outgoing_id`;
  assertEquals(Number(row?.["refunded"]) + Number(row?.["sent"]), 40);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a refund gives back exactly what was reserved and charged and frees the reference", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`UPDATE book.setting SET base_fee = 0.7, markup_rate = 0.013`;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const command = reserveCommand({ amount: amount("33.333333"), referenceId: "again" });
  assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  const released = await journal.ask(merchantId, refundCommand(command.withdrawalId), 60_000);
  assertEquals(released.kind, "done");
  const [balance] = await sql`SELECT trim_scale(available)::text AS a, reserved FROM book.balance`;
  assertEquals([balance?.["a"], Number(balance?.["reserved"])], ["100", 0]);
  const [charged] = await sql`SELECT sum(amount) AS sum, count(*) FROM book.charge`;
  assertEquals([Number(charged?.["sum"]), charged?.["count"]], [0, "4"]);
  const again = reserveCommand({ referenceId: "again" });
  assertEquals((await journal.ask(merchantId, again, 60_000)).kind, "done");
  const second = await journal.ask(merchantId, refundCommand(command.withdrawalId), 60_000);
  assertEquals(second, { kind: "done", value: { status: "FAILED", changed: false } });
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("one poisoned message among 500 is quarantined alone and disturbs no other", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchants = await Promise.all(Array.from({ length: 10 }, () => addMerchant(sql)));
  for (const merchantId of merchants) await fund(sql, journal, merchantId, "10000");
  // the database refuses this one row, whatever the code thinks of it
  await sql`ALTER TABLE book.withdrawal ADD CHECK (description IS DISTINCT FROM 'poison')`;
  const outcomes = await Promise.all(Array.from({ length: 500 }, (_, n) => {
    const description = n === 250 ? "poison" : null;
    return journal.ask(
      merchants[n % 10] as string,
      reserveCommand({ description, amount: amount("1") }),
      20_000,
    );
  }));
  assertEquals(outcomes[250]?.kind, "failed");
  assertEquals(outcomes.filter((outcome) => outcome.kind === "done").length, 499);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a chain event that cannot be booked is quarantined and the merchant's others go on", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const good = await addTransfer(sql, merchantId, "5");
  await sql`ALTER TABLE book.deposit ADD CHECK (amount <> 666)`;
  const bad = await addTransfer(sql, merchantId, "666");
  const later = await addTransfer(sql, merchantId, "7");
  journal.wake(merchantId);
  await until(async () => {
    const [row] = await sql`
      SELECT count(*) FILTER (WHERE consumed_at IS NOT NULL) AS consumed,
             count(*) FILTER (WHERE txid = ${bad} AND quarantine LIKE 'bug:%') AS quarantined FROM book.inbox`;
    return row?.["consumed"] === "2" && row["quarantined"] === "1";
  });
  const rows = await sql`SELECT txid FROM book.deposit WHERE status = 'CONFIRMED' ORDER BY amount`;
  assertEquals(rows.map((row) => row["txid"]), [good, later]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

/** A store whose connection is lost at a chosen moment of a commit. */
function losingStore(store: JournalStore, when: "before" | "after", times: number): JournalStore {
  let left = times;
  return {
    ...store,
    async writeBatch(...args) {
      const lose = left > 0;
      left--;
      const lost = Object.assign(new Error("write CONNECTION_CLOSED"), {
        code: "CONNECTION_CLOSED",
      });
      if (lose && when === "before") throw lost;
      const misses = await store.writeBatch(...args);
      if (lose) throw lost;
      return misses;
    },
  };
}

for (const when of ["before", "after"] as const) {
  test(`a commit whose answer is lost ${when} it happened is resolved, never decided anew`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const funding = openJournal(sql);
    const merchantId = await addMerchant(sql);
    await fund(sql, funding, merchantId, "500");
    await funding.stop(1_000);
    const journal = openJournal(sql, { store: losingStore(createJournalStore(sql), when, 1) });
    const outcomes = await Promise.all(
      Array.from(
        { length: 20 },
        (_, n) => journal.ask(merchantId, reserveCommand({ referenceId: `r${n}` }), 60_000),
      ),
    );
    assertEquals(outcomes.filter((outcome) => outcome.kind === "done").length, 20);
    const [row] = await sql`SELECT count(*) FROM book.withdrawal`;
    assertEquals(row?.["count"], "20");
    // no actor is left stale: the next command is decided on current money
    const next = await journal.ask(merchantId, reserveCommand(), 60_000);
    assertEquals(next.kind, "done");
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

test("a write that is still under way while its outcome is asked for cannot land twice", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const funding = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, funding, merchantId, "500");
  await funding.stop(1_000);
  const store = createJournalStore(sql);
  const late: Promise<unknown>[] = [];
  let lose = true;
  const journal = openJournal(sql, {
    store: {
      ...store,
      writeBatch(...args) {
        if (!lose) return store.writeBatch(...args);
        lose = false;
        // the connection is lost, but the server gets to the statement a little later
        late.push(
          new Promise((resolve) => setTimeout(resolve, 100)).then(() => store.writeBatch(...args)),
        );
        const lost = Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
        return Promise.reject(lost);
      },
    },
  });
  const outcome = await journal.ask(merchantId, reserveCommand({ referenceId: "once" }), 60_000);
  assertEquals(outcome.kind, "done");
  await Promise.all(late);
  const [row] = await sql`SELECT count(*) FROM book.withdrawal`;
  assertEquals(row?.["count"], "1");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

/** A store whose server refuses, for a reason of its own, what some merchants are part of. */
function refusingStore(store: JournalStore, refuses: (merchantIds: readonly string[]) => boolean) {
  const locked = new Error("canceling statement due to lock timeout");
  const writes: string[][] = [];
  const refusing: JournalStore = {
    ...store,
    isTransient: (error) => error === locked || store.isTransient(error),
    writeBatch: (commitId, epoch, changes) => {
      const merchantIds = changes.map(({ account }) => account.merchantId);
      writes.push(merchantIds);
      if (refuses(merchantIds)) return Promise.reject(locked);
      return store.writeBatch(commitId, epoch, changes);
    },
  };
  return { store: refusing, writes };
}

test("a merchant whose row stays locked is refused alone, and nothing of it is quarantined", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const funding = openJournal(sql);
  const [held, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [held, other]) await fund(sql, funding, merchantId, "500");
  await funding.stop(1_000);
  let isLocked = true;
  const { store, writes } = refusingStore(
    createJournalStore(sql),
    (merchantIds) => isLocked && merchantIds.includes(held),
  );
  const journal = openJournal(sql, { store });
  const txid = await addTransfer(sql, held, "7");
  const both = [held, other];
  const asked = both.map((merchantId) => journal.ask(merchantId, reserveCommand(), 60_000));
  journal.wake(held);
  const outcomes = await Promise.all(asked);
  assertEquals(outcomes.map(({ kind }) => kind), ["overloaded", "done"]);
  // twice together, then each alone
  assertEquals(writes.slice(0, 4), [both, both, [held], [other]]);
  const [row] = await sql`SELECT consumed_at, quarantine FROM book.inbox WHERE txid = ${txid}`;
  assertEquals([row?.["consumed_at"], row?.["quarantine"]], [null, null]);
  isLocked = false;
  assertEquals((await journal.ask(held, reserveCommand(), 60_000)).kind, "done");
  journal.wake(held);
  await until(async () => {
    const rows =
      await sql`SELECT 1 FROM book.deposit WHERE txid = ${txid} AND status = 'CONFIRMED'`;
    return rows.length === 1;
  });
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("what the server refuses for a reason that passes is decided again and done", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const funding = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, funding, merchantId, "500");
  await funding.stop(1_000);
  let left = 3;
  const { store, writes } = refusingStore(createJournalStore(sql), () => left-- > 0);
  const journal = openJournal(sql, { store });
  assertEquals((await journal.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  assertEquals(writes.length, 4);
  // one time more is once too often
  left = 4;
  assertEquals((await journal.ask(merchantId, reserveCommand(), 60_000)).kind, "overloaded");
  const [row] = await sql`SELECT count(*)::int AS n FROM book.withdrawal`;
  assertEquals([row?.["n"], writes.length], [1, 8]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("settings that change between decision and commit are decided again, never mixed", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "500");
  assertEquals((await journal.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  await sql`UPDATE book.pair SET network_fee = 3 WHERE currency = 'USDT' AND network = 'TRX'`;
  const outcome = await journal.ask(merchantId, reserveCommand(), 60_000);
  assert(outcome.kind === "done");
  assertEquals(outcome.value.fees.networkFee, amount("3"));
  await sql`UPDATE book.pair SET withdrawals_enabled = false WHERE currency = 'USDT' AND network = 'TRX'`;
  const closed = await journal.ask(merchantId, reserveCommand(), 60_000);
  assert(closed.kind === "refused" && closed.refusal.code === "withdrawals_closed_for_pair");
  await journal.stop(1_000);
});
