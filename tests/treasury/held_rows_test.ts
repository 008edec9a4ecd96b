import { assertEquals } from "@std/assert";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { type Network, NETWORKS } from "../../ledger/money/pair.ts";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import { recordExpiryDoubts } from "../../ledger/treasury/expired_attempts.ts";
import {
  postponeQueued,
  returnQueued,
  storeHeldReason,
  wakeQueued,
} from "../../ledger/treasury/queue.ts";
import { pullQueued } from "../../ledger/treasury/pull_queued.ts";
import { amount } from "../support/books.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { placeCursor } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

const EXPIRY = 1_700_000_000_000;
/** A way in which the treasury writes transfers of a network. */
interface Way {
  readonly what: string;
  readonly status: "queued" | "signed";
  readonly reason?: string;
  /** @returns the transfers that were written */
  readonly write: (sql: Sql, network: Network, ids: readonly string[]) => Promise<unknown>;
  /** Status and reason of a row that was written. */
  readonly written: string;
}

const WAYS: readonly Way[] = [
  {
    what: "signatures are committed",
    status: "queued",
    write: (sql, network, ids) =>
      commitSigned(
        sql,
        ids.map((outgoingId) => ({
          outgoingId,
          merchantId: `mer_${outgoingId}`,
          network,
          txid: `tx ${outgoingId}`,
          bytes: "{}",
          expiresAt: Date.now() + 60_000,
        })),
      ),
    written: "signed",
  },
  {
    what: "transfers that cannot be signed are postponed",
    status: "queued",
    write: (sql, _network, ids) =>
      postponeQueued(
        sql,
        ids.map((outgoingId) => ({
          outgoingId,
          reason: "for a reason",
          firstMs: 1_000,
          mostMs: 1_000,
        })),
      ),
    written: "queued for a reason",
  },
  {
    what: "transfers go back to the queue",
    status: "queued",
    write: (sql, _network, ids) => returnQueued(sql, ids, "for a reason", 1_000),
    written: "queued for a reason",
  },
  {
    what: "transfers are tried at once",
    status: "queued",
    reason: "waits",
    write: (sql, network) => wakeQueued(sql, network, ["waits"]),
    written: "queued waits at once",
  },
  {
    what: "what holds a currency is noted",
    status: "queued",
    write: (sql, network) => storeHeldReason(sql, network, "USDT", "for a reason"),
    written: "queued for a reason",
  },
  {
    what: "what an expiry proof lacks is noted",
    status: "signed",
    write: (sql, _network, ids) =>
      recordExpiryDoubts(sql, new Map(ids.map((id) => [id, "for a reason"]))),
    written: "signed for a reason",
  },
  {
    what: "expired transactions are declared dead",
    status: "signed",
    write: async (sql, network) => {
      const [time, previousTime] = [EXPIRY + 60_000, EXPIRY + 57_000];
      const cursor = await placeCursor(sql, network, {
        height: 9,
        hash: "9",
        time,
        previousTime,
        tick: time,
        previousTick: previousTime,
      });
      return await expireAttempts(sql, network, cursor, 9);
    },
    written: "queued expired",
  },
];

/** Three transfers of three merchants, left alone for a minute by what they waited for. */
async function addThree(sql: Sql, network: Network, { status, reason }: Way): Promise<string[]> {
  const ids = [1, 2, 3].map((n) => `out_${network}_${n}`);
  const attempts = status === "signed" ? 1 : 0;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, reason, lease_until, attempts, created_at, updated_at)
    SELECT id, 'mer_' || id, 'payout', 'wd_' || id, ${network}, 'USDT', 1, 'T', ${status}, ${
    reason ?? null
  }, now() + interval '1 minute', ${attempts}, now(), now()
    FROM unnest(${ids}::text[]) AS id`;
  if (status === "signed") {
    await sql`
      INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
      SELECT id, 1, 'mer_' || id, ${network}, 'tx ' || id, '{}', ${new Date(
      EXPIRY,
    )}, ${EXPIRY}, now(), 0 FROM unnest(${ids}::text[]) AS id`;
  }
  return ids;
}

test("a transfer whose row another session holds keeps none of the others from being written, and follows", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  for (const [n, way] of WAYS.entries()) {
    const network = NETWORKS[n] as Network;
    const ids = await addThree(sql, network, way);
    const written = async () => {
      const rows = await sql<{ id: string; line: string }[]>`
        SELECT id, concat_ws(' ', status, reason, CASE WHEN ${
        way.reason !== undefined
      } AND lease_until IS NULL THEN 'at once' END) AS line
        FROM book.outgoing WHERE network = ${network} ORDER BY id`;
      return rows.filter(({ line }) => line === way.written).map(({ id }) => id);
    };
    const letGo = await holdRows(
      database,
      (tx) => tx`SELECT FROM book.outgoing WHERE id = ${ids[1] ?? ""} FOR UPDATE`,
    );
    await way.write(sql, network, ids);
    assertEquals(await written(), [ids[0], ids[2]], `${way.what} while one is held`);
    await letGo();
    await way.write(sql, network, ids);
    assertEquals(await written(), ids, `${way.what} once it is not held any more`);
  }
});

test("more held payouts than a batch has places keep nothing behind them from being signed", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const way = { status: "queued" } as Way;
  const ids = await addThree(sql, "TRX", way);
  await sql`UPDATE book.outgoing SET lease_until = NULL`;
  const [first = "", second = "", third = ""] = ids;
  const letGo = await holdRows(
    database,
    (tx) => tx`SELECT FROM book.outgoing WHERE id IN (${first}, ${second}) FOR UPDATE`,
  );
  const fee = { fee: amount("1"), limit: amount("2") };
  const chain = paperChain("TRX", { estimateFee: () => Promise.resolve(fee) });
  const sign = async () => {
    const { transactions } = await signQueued(chain, nodeOf(sql, chain), 2);
    return transactions.map(({ outgoingId }) => outgoingId);
  };
  assertEquals(await sign(), [third]);
  assertEquals(await sign(), []);
  await letGo();
  assertEquals(await sign(), [first, second]);
});

test("a node locks nothing that another one is signing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addThree(sql, "TRX", { status: "queued" } as Way);
  await sql`UPDATE book.outgoing SET lease_until = NULL`;
  const pull = { network: "TRX", turnMs: 60_000, limit: 3, of: "merchants" } as const;
  assertEquals((await pullQueued(sql, { ...pull, node: "a" }))?.rows.length, 3);
  const locks = () => sql`SELECT id, xmax::text FROM book.outgoing ORDER BY id`;
  const before = await locks();
  assertEquals(await pullQueued(sql, { ...pull, node: "b" }), null);
  assertEquals(await locks(), before);
});
