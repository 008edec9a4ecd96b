import { assertEquals, assertRejects } from "@std/assert";
import type { AnySql, Sql } from "../../ledger/database/connect.ts";
import { readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A lane that begins at nonce 7, and five payouts that wait; nonces 7 to 9 are promised to the first three. */
async function addLane(sql: AnySql): Promise<void> {
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint, first_nonce)
    VALUES ('ETH', 'wal_test', '0xhot', ${"0".repeat(64)}, 7)`;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'o' || g, 'mer_1', 'payout', 'wd' || g, 'ETH', 'USDT', g, '0xA', 'queued', now(), now()
    FROM generate_series(1, 5) g`;
  await promise(sql, 7, ["o1"]);
  await promise(sql, 8, ["o2"]);
  await promise(sql, 9, ["o3"]);
}

async function promise(sql: AnySql, nonce: number, intents: readonly string[]): Promise<void> {
  const ids = [...intents];
  await sql`
    INSERT INTO book.lane_nonce (network, payer, nonce, intents) VALUES ('ETH', 'hot', ${nonce}, ${ids}::text[])`;
  await sql`UPDATE book.outgoing SET nonce = ${nonce} WHERE id = ANY (${ids}::text[])`;
}

/** Keeps what a signer has told of a nonce. */
async function tell(sql: AnySql, nonce: number, id: string): Promise<void> {
  await sql`
    INSERT INTO book.told_nonce (network, payer, nonce, intents) VALUES ('ETH', 'hot', ${nonce}, ${[
    id,
  ]}::text[])`;
}

/** One more attempt of a transfer; one that pays signs it. */
async function sign(
  sql: AnySql,
  id: string,
  txid: string,
  nonce: number,
  purpose = "pay",
  [place, intents] = [0, 1],
) {
  await sql`
    UPDATE book.outgoing SET attempts = attempts + 1,
      status = CASE WHEN ${purpose} = 'pay' THEN 'signed' ELSE status END WHERE id = ${id}`;
  await sql`
    INSERT INTO book.attempt
      (outgoing_id, number, merchant_id, network, txid, bytes, created_at, fee_limit, nonce, purpose, place, intents)
    SELECT id, attempts, merchant_id, network, ${txid}, 'bytes', now(), 1, ${nonce}, ${purpose}, ${place}, ${intents}
    FROM book.outgoing WHERE id = ${id}`;
}

const signO1 = (sql: AnySql) => sign(sql, "o1", "a1", 7);

async function use(sql: AnySql, nonce: number, txid: string): Promise<void> {
  await sql`
    UPDATE book.lane_nonce SET used_by = ${txid}, height = 100 WHERE network = 'ETH' AND nonce = ${nonce}`;
}

async function end(sql: AnySql, txid: string, outcome: string, by: string | null = null) {
  const evidence = by === null ? null : JSON.stringify({ height: 100, hash: "h", by });
  await sql`
    UPDATE book.attempt SET outcome = ${outcome}, height = 100, evidence = ${evidence}::text::jsonb
    WHERE txid = ${txid}`;
}

/** A second attempt of the first transfer that ends as said: its nonce, last tick and time of death. */
const addUnchecked = (sql: AnySql, purpose: string, ends: string) =>
  sql.unsafe(`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, created_at, fee_limit, purpose,
      nonce, dies_after, expires_at)
    VALUES ('o1', 2, 'mer_1', 'ETH', 'a2', 'bytes', now(), 1, '${purpose}', ${ends})`);

const move = (sql: AnySql, id: string, status: string) =>
  sql`UPDATE book.outgoing SET status = ${status} WHERE id = ${id}`;

/** Looks at what is looked at when a transaction commits. */
async function commit(sql: AnySql): Promise<void> {
  await sql`SET CONSTRAINTS ALL IMMEDIATE`;
  await sql`SET CONSTRAINTS ALL DEFERRED`;
}

async function pay(sql: AnySql, id: string, txid: string, nonce: number): Promise<void> {
  await use(sql, nonce, txid);
  await end(sql, txid, "paid");
  await move(sql, id, "final");
  await commit(sql);
}

/** A broken rule: the words of its refusal, and what breaks it. */
type Broken = readonly [words: string, breaks: (sql: AnySql) => Promise<unknown>];

const FOLLOWS = "does not follow the last one";
const ONCE = "promised, and used, once";
const OTHERS = "promised to others, or not used";
const UNPROMISED = "a nonce that is not promised to it";
const OTHERWISE = "otherwise than its nonce was used";
const LIVES_ON = "a transaction of it would live on";

const BROKEN: Readonly<Record<string, Broken>> = {
  "a hole in a lane": [FOLLOWS, (sql) => promise(sql, 11, ["o4"])],
  "a nonce below the first one": [FOLLOWS, (sql) => promise(sql, 6, ["o4"])],
  "a lane that begins elsewhere": [FOLLOWS, async (sql) => {
    await sql`
      INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint, first_nonce)
      VALUES ('BNB', 'wal_test', '0xhot', ${"0".repeat(64)}, 3)`;
    await sql`INSERT INTO book.lane_nonce (network, payer, nonce, intents) VALUES ('BNB', 'hot', 4, '{o4}')`;
  }],
  "a lane of a wallet whose first nonce is not known": [
    FOLLOWS,
    (sql) =>
      sql`INSERT INTO book.lane_nonce (network, payer, nonce, intents) VALUES ('BNB', 'hot', 0, '{o4}')`,
  ],
  "a nonce promised twice": ["lane_nonce_pkey", (sql) => promise(sql, 9, ["o4"])],
  "a nonce promised to nothing": ["lane_nonce_check", (sql) => promise(sql, 10, [])],
  "a nonce that a signer has given to another transfer that waits": [
    "a signer has given it to others that wait",
    async (sql) => {
      await tell(sql, 10, "o4");
      await promise(sql, 10, ["o5"]);
    },
  ],
  "what a signer has told of a nonce, changed": ["written once", async (sql) => {
    await tell(sql, 10, "o4");
    await sql`UPDATE book.told_nonce SET intents = '{o5}'`;
  }],
  "a nonce that is used when it is promised": [
    FOLLOWS,
    (sql) =>
      sql`
        INSERT INTO book.lane_nonce (network, payer, nonce, intents, used_by, height)
        VALUES ('ETH', 'hot', 10, '{o4}', 'a', 1)`,
  ],
  "a transfer that takes another's nonce": [
    OTHERS,
    (sql) => sql`UPDATE book.outgoing SET nonce = 9 WHERE id = 'o4'`,
  ],
  "a second nonce while the first is open": [OTHERS, (sql) => promise(sql, 10, ["o1"])],
  "a nonce that is taken back": [
    OTHERS,
    (sql) => sql`UPDATE book.outgoing SET nonce = NULL WHERE id = 'o1'`,
  ],
  "a nonce for a transfer that is signed": [OTHERS, async (sql) => {
    await move(sql, "o4", "signed");
    await promise(sql, 10, ["o4"]);
  }],
  "a transfer that begins with a nonce": [
    OTHERS,
    (sql) =>
      sql`
        INSERT INTO book.outgoing
          (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, nonce, created_at, updated_at)
        VALUES ('o6', 'mer_1', 'payout', 'wd6', 'ETH', 'USDT', 1, '0xA', 'queued', 7, now(), now())`,
  ],
  "a promise that names others": [
    ONCE,
    (sql) => sql`UPDATE book.lane_nonce SET intents = '{o4}' WHERE nonce = 9`,
  ],
  "a promise that is forgotten": [ONCE, (sql) => sql`DELETE FROM book.lane_nonce WHERE nonce = 9`],
  "a used nonce, changed": [ONCE, async (sql) => {
    await signO1(sql);
    await pay(sql, "o1", "a1", 7);
    await sql`UPDATE book.lane_nonce SET height = 101 WHERE nonce = 7`;
  }],
  "an administrator's wish, changed": [ONCE, async (sql) => {
    await sql`UPDATE book.lane_nonce SET cancel_by = 'ana' WHERE nonce = 7`;
    await sql`UPDATE book.lane_nonce SET cancel_by = 'ben' WHERE nonce = 7`;
  }],
  "a signature with another's nonce": [UNPROMISED, (sql) => sign(sql, "o1", "a1", 8)],
  "a signature of a transfer without a nonce": [UNPROMISED, (sql) => sign(sql, "o4", "a1", 10)],
  "a signature with a used nonce": [UNPROMISED, async (sql) => {
    await signO1(sql);
    await pay(sql, "o1", "a1", 7);
    await sign(sql, "o1", "a2", 7, "cancel");
  }],
  "one transaction twice for a transfer": ["duplicate key", async (sql) => {
    await signO1(sql);
    await signO1(sql);
  }],
  "an attempt superseded before its nonce is used": [OTHERWISE, async (sql) => {
    await signO1(sql);
    await end(sql, "a1", "superseded", "x");
  }],
  "an attempt superseded by another than used the nonce": [OTHERWISE, async (sql) => {
    await signO1(sql);
    await sign(sql, "o1", "a2", 7);
    await use(sql, 7, "a2");
    await end(sql, "a1", "superseded", "x");
  }],
  "an attempt superseded that used the nonce": [OTHERWISE, async (sql) => {
    await signO1(sql);
    await use(sql, 7, "a1");
    await end(sql, "a1", "superseded", "a1");
  }],
  "an attempt superseded without evidence": ["attempt_dead_by_proof", async (sql) => {
    await signO1(sql);
    await sign(sql, "o1", "a2", 7);
    await use(sql, 7, "a2");
    await sql`UPDATE book.attempt SET outcome = 'superseded', evidence = '{"by":"a2"}' WHERE txid = 'a1'`;
  }],
  "a nonce that is also to expire": ["attempt_ends_one_way", async (sql) => {
    await signO1(sql);
    await addUnchecked(sql, "pay", "7, 1, now()");
  }],
  "an attempt that never ends": ["attempt_ends_one_way", async (sql) => {
    await addUnchecked(sql, "pay", "NULL, NULL, NULL");
  }],
  "a signature that expires beside one with a nonce": ["another one may still pay", async (sql) => {
    await signO1(sql);
    await addUnchecked(sql, "pay", "NULL, 1, now()");
  }],
  "a cancel of no nonce": ["attempt_cancels_a_nonce", async (sql) => {
    await addUnchecked(sql, "cancel", "NULL, 1, now()");
  }],
  "a payment that ends as a cancel": ["attempt_ends_by_purpose", async (sql) => {
    await signO1(sql);
    await use(sql, 7, "a1");
    await end(sql, "a1", "cancelled");
  }],
  "a cancel that ends as a payment": ["attempt_ends_by_purpose", async (sql) => {
    await signO1(sql);
    await sign(sql, "o1", "x1", 7, "cancel");
    await use(sql, 7, "x1");
    await end(sql, "x1", "paid");
  }],
  "a cancel that ends in no block": ["attempt_ends_by_purpose", async (sql) => {
    await signO1(sql);
    await sign(sql, "o1", "x1", 7, "cancel");
    await use(sql, 7, "x1");
    await sql`UPDATE book.attempt SET outcome = 'cancelled' WHERE txid = 'x1'`;
  }],
  "an attempt paid whose nonce is not used": [OTHERWISE, async (sql) => {
    await signO1(sql);
    await end(sql, "a1", "paid");
  }],
  "an attempt paid whose nonce another used": [OTHERWISE, async (sql) => {
    await signO1(sql);
    await sign(sql, "o1", "a2", 7);
    await use(sql, 7, "a2");
    await end(sql, "a1", "paid");
  }],
  "an attempt of a lane that expires": [OTHERWISE, async (sql) => {
    await signO1(sql);
    await sql`
      UPDATE book.attempt SET outcome = 'expired',
        evidence = '{"height":1,"hash":"h","previousTick":9007199254740992}' WHERE txid = 'a1'`;
  }],
  "a transfer that is taken back although it was paid": ["may land", async (sql) => {
    await signO1(sql);
    await use(sql, 7, "a1");
    await end(sql, "a1", "paid");
    await sql`UPDATE book.outgoing SET status = 'dead', nonce = NULL WHERE id = 'o1'`;
  }],
  "a dead transfer with a nonce": ["outgoing_dead_has_no_nonce", async (sql) => {
    await signO1(sql);
    await move(sql, "o1", "dead");
  }],
  "a nonce used by what was not signed with it": [
    "another transaction than its own",
    (sql) => use(sql, 7, "x"),
  ],
  "a stranger's hand that is our own": ["another transaction than its own", async (sql) => {
    await signO1(sql);
    await sql`
      UPDATE book.lane_nonce SET used_by = 'a1', height = 100, foreign_hand = true, foreign_bytes = '0x02' WHERE nonce = 7`;
  }],
  "a stranger's hand on a nonce that is open": [
    "lane_nonce_check",
    (sql) =>
      sql`UPDATE book.lane_nonce SET foreign_hand = true, foreign_bytes = '0x02' WHERE nonce = 7`,
  ],
  "a stranger's hand without its bytes": [
    "lane_nonce_foreign_is_proven",
    (sql) =>
      sql`UPDATE book.lane_nonce SET used_by = 'x', height = 100, foreign_hand = true WHERE nonce = 7`,
  ],
  "a nonce used while another attempt of it lives on": [LIVES_ON, async (sql) => {
    await signO1(sql);
    await sign(sql, "o1", "a2", 7);
    await pay(sql, "o1", "a2", 7);
  }],
  "a nonce used while its transfer stays under way": [LIVES_ON, async (sql) => {
    await signO1(sql);
    await use(sql, 7, "a1");
    await end(sql, "a1", "paid");
    await commit(sql);
  }],
  "a wallet's first nonce, changed": [
    "",
    (sql) => sql`UPDATE hub.wallet SET first_nonce = 8 WHERE network = 'ETH'`,
  ],
  "a stranger's transaction with an amount": [
    "unknown_spend_amount_check",
    (sql) =>
      sql`
        INSERT INTO hub.unknown_spend
          (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, status)
        VALUES ('ETH', 'x', -1, 1, now(), 'hot', '0xhot', '', 'native', 1, 'open')`,
  ],
  "a transfer that left a wallet, called unproven": [
    "unknown_spend_status_check",
    (sql) => list(sql, 0, "unproven"),
  ],
  "a stranger's transaction that is not ours, without a reason": [
    "unknown_spend_check4",
    async (sql) => {
      await list(sql, -1, "unproven");
      await sql`UPDATE hub.unknown_spend SET status = 'not_ours', decided_at = now(), reason = ' '`;
    },
  ],
  "a stranger's transaction that is not ours, opened without a proof": [
    "decided once",
    async (sql) => {
      await list(sql, -1, "unproven");
      await sql`UPDATE hub.unknown_spend SET status = 'not_ours', decided_at = now(), reason = 'of another'`;
      await sql`UPDATE hub.unknown_spend SET status = 'open', decided_at = NULL`;
    },
  ],
  "a stranger's transaction that was proven, called unproven": [
    "decided once",
    async (sql) => {
      await list(sql, -1, "open");
      await sql`UPDATE hub.unknown_spend SET status = 'unproven'`;
    },
  ],
};

/** Lists a transaction of the hot wallet, or a transfer of it. */
async function list(sql: AnySql, logIndex: number, status: string): Promise<void> {
  await sql`
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, status)
    VALUES ('ETH', 'x', ${logIndex}, 1, now(), 'hot', '0xhot', '', 'native', ${
    logIndex + 1
  }, ${status})`;
}

/** Ends every transaction of these tests, so that they share a database. */
class Undone extends Error {}

const undone = (sql: Sql, work: (tx: AnySql) => Promise<void>) =>
  sql.begin(async (tx) => {
    await addLane(tx);
    await work(tx);
    throw new Undone();
  }).catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });

test("the database refuses what breaks a lane, whatever the code does", async (context) => {
  await using database = await testDatabase();
  for (const [rule, [words, breaks]] of Object.entries(BROKEN)) {
    await context.step(rule, async () => {
      await assertRejects(
        () =>
          undone(database.sql, async (tx) => {
            await breaks(tx);
            await commit(tx);
          }),
        Error,
        words,
      );
    });
  }
});

test("a replacement pays, and what it replaced is superseded with it", async () => {
  await using database = await testDatabase();
  await undone(database.sql, async (tx) => {
    await signO1(tx);
    await sign(tx, "o1", "a2", 7);
    await use(tx, 7, "a2");
    await end(tx, "a2", "paid");
    await end(tx, "a1", "superseded", "a2");
    await move(tx, "o1", "final");
    await commit(tx);
  });
});

test("of a transaction and its replacements one fee is ever paid, so one is set aside", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addLane(sql);
  await signO1(sql);
  await sign(sql, "o1", "a2", 7);
  await sign(sql, "o1", "x1", 7, "cancel");
  const { assets } = await readCommitments(sql, "ETH");
  assertEquals(assets.get("native")?.signed, amount("1"));
});

test("a reverted payout is dead without its nonce, and is queued again with another", async () => {
  await using database = await testDatabase();
  await undone(database.sql, async (tx) => {
    await signO1(tx);
    await use(tx, 7, "a1");
    await end(tx, "a1", "failed");
    await tx`UPDATE book.outgoing SET status = 'dead', nonce = NULL WHERE id = 'o1'`;
    await move(tx, "o1", "queued");
    await commit(tx);
    await promise(tx, 10, ["o1"]);
    await sign(tx, "o1", "a3", 10);
    await commit(tx);
    const rows = await tx`SELECT status, nonce::int FROM book.outgoing WHERE id = 'o1'`;
    assertEquals([...rows], [{ status: "signed", nonce: 10 }]);
  });
});

test("a payout that is given up with a promised nonce leaves it to a cancel", async () => {
  await using database = await testDatabase();
  await undone(database.sql, async (tx) => {
    await move(tx, "o3", "void");
    await sign(tx, "o3", "x1", 9, "cancel");
    await use(tx, 9, "x1");
    await end(tx, "x1", "cancelled");
    await commit(tx);
  });
});

test("one transaction carries two sweeps that share a promise", async () => {
  await using database = await testDatabase();
  await undone(database.sql, async (tx) => {
    await tx`
      INSERT INTO book.outgoing
        (id, merchant_id, kind, network, currency, amount, wallet, fee_payer, destination, status, created_at, updated_at)
      SELECT 's' || g, 'mer_platform', 'sweep', 'ETH', 'USDT', g, g::text, 'hot', '0xhot', 'queued', now(), now()
      FROM generate_series(1, 2) g`;
    await promise(tx, 10, ["s1", "s2"]);
    await sign(tx, "s1", "z", 10, "pay", [0, 2]);
    await sign(tx, "s2", "z", 10, "pay", [1, 2]);
    await commit(tx);
    await use(tx, 10, "z");
    await end(tx, "z", "paid");
    await move(tx, "s1", "final");
    await move(tx, "s2", "final");
    await commit(tx);
  });
});

test("a nonce that a signer has told of is promised to its transfers, and to others once those are over", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addLane(sql);
  await tell(sql, 10, "o4");
  await tell(sql, 11, "o5");
  await promise(sql, 10, ["o4"]);
  await sql`UPDATE book.outgoing SET status = 'void' WHERE id = 'o5'`;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES ('o6', 'mer_1', 'payout', 'wd6', 'ETH', 'USDT', 1, '0xA', 'queued', now(), now())`;
  await promise(sql, 11, ["o6"]);
  const rows =
    await sql`SELECT nonce::int, intents FROM book.lane_nonce WHERE nonce > 9 ORDER BY nonce`;
  assertEquals([...rows], [{ nonce: 10, intents: ["o4"] }, { nonce: 11, intents: ["o6"] }]);
});
