/** Sweeps of a chain whose hot wallet sends several in one transaction, from the queue to their ends. */

import { assertEquals, assertRejects } from "@std/assert";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import { type Block, type Chain, ChainUnavailable, type Transfer } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { readWalletMoves } from "../../ledger/reconcile/holdings.ts";
import { countCosts, readFeesToday } from "../../ledger/treasury/costs.ts";
import { watchAddresses } from "../../ledger/addresses/watched_addresses.ts";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import { readExpiredAttempts } from "../../ledger/treasury/expired_attempts.ts";
import { readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { readInFlight } from "../../ledger/treasury/in_flight.ts";
import { amount } from "../support/books.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { sparseBlock, sparseChain } from "../support/paper_family.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { placeCursor } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

/** A chain whose transactions carry three sweeps; each costs 1 and takes at most 10. */
function sharing(replaced: Partial<Chain> = {}): Chain {
  const plain = sparseChain("TRX", [sparseBlock(9, 7)]);
  return {
    ...plain,
    capabilities: { ...plain.capabilities, sweepsAtOnce: 3 },
    balanceOf: (address, asset) =>
      Promise.resolve(asset === "native" && address !== "hot-wallet" ? ZERO : amount("100")),
    estimateFee: () => Promise.resolve({ fee: amount("1"), limit: amount("10") }),
    ...replaced,
  };
}

/** Queues sweeps of 5 USDT, each from an address of its own. */
async function addSweeps(sql: Sql, count: number): Promise<void> {
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, fee_payer, destination, status, created_at, updated_at)
    SELECT 'out_' || n, 'mer_platform', 'sweep', 'TRX', 'USDT', 5, n, 'hot', 'hot-wallet', 'queued', now(), now()
    FROM generate_series(1, ${count}::int) n`;
}

interface Attempt {
  readonly id: string;
  readonly txid: string;
  readonly place: number;
  readonly intents: number;
  readonly limit: string;
  readonly outcome: string | null;
  readonly fee: string | null;
  readonly status: string;
}

async function attempts(sql: Sql): Promise<readonly Attempt[]> {
  const rows = await sql<Attempt[]>`
    SELECT o.id, a.txid, a.place, a.intents, trim_scale(a.fee_limit)::text AS limit, a.outcome,
      trim_scale(a.fee)::text AS fee, o.status
    FROM book.outgoing o JOIN book.attempt a ON a.outgoing_id = o.id ORDER BY o.id`;
  return [...rows];
}

/** A block with a transaction of these sweeps. */
function blockOf(height: number, txid: string, wallets: readonly number[], fee = "1"): Block {
  const transfers = wallets.map((wallet, logIndex): Transfer => ({
    txid,
    logIndex,
    currency: "USDT",
    eventFrom: `address-${wallet}`,
    eventTo: "hot-wallet",
    amount: amount("5"),
    diesAfter: 1,
    expiresAt: 1,
  }));
  const transactions = [{ txid, success: true, failure: null, fee: amount(fee) }];
  return sparseBlock(height, height - 1, { transactions, transfers });
}

test("sweeps that share a transaction are signed, sent, ended and counted with their shares of one fee", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 4);
  const chain = sharing();
  const { transactions } = await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  assertEquals(transactions.map(({ outgoingId }) => outgoingId), ["out_4", "out_1"]);
  const signed = await attempts(sql);
  assertEquals(signed.map(({ place, intents }) => `${place} of ${intents}`), [
    "0 of 3",
    "1 of 3",
    "2 of 3",
    "0 of 1",
  ]);
  assertEquals(new Set(signed.map(({ txid }) => txid)).size, 2);
  assertEquals((await readInFlight(sql, "TRX", 9)).length, 2, "each is sent once");
  const { assets } = await readCommitments(sql, "TRX");
  assertEquals(assets.get("native")?.signed, amount("20"), "the shares are the limits of both");
  const [shared] = signed;
  const block = blockOf(10, shared?.txid ?? "", [1, 2, 3]);
  await recordBlocks(sql, chain, [block], "solid");
  await recordBlocks(sql, chain, [block], "solid");
  const ended = (await attempts(sql)).slice(0, 3);
  assertEquals(ended.map(({ status, outcome }) => `${status} ${outcome}`), [
    "final paid",
    "final paid",
    "final paid",
  ]);
  assertEquals(ended.map(({ fee }) => fee), [
    "0.333333333333333334",
    "0.333333333333333333",
    "0.333333333333333333",
  ]);
  assertEquals(await countCosts(sql, "TRX", new Map([["USDT", "0.3"]])), 3);
  assertEquals(await readFeesToday(sql, "TRX"), amount("1"));
  assertEquals(await readFeesToday(sql, "ETH"), amount("0"));
  const range = { after: 1, low: 2, high: 20 };
  const coin = await readWalletMoves(sql, "TRX", "native", "hot-wallet", range);
  assertEquals(coin.reduce((sum, move) => sum + move.fees, 0n), amount("1"), "nothing is missing");
});

test("a transfer that is missing ends its own sweep otherwise, and no other", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const chain = sharing();
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  const [shared] = await attempts(sql);
  await recordBlocks(sql, chain, [blockOf(10, shared?.txid ?? "", [1, 3])], "solid");
  assertEquals((await attempts(sql)).map(({ outcome }) => outcome), ["paid", "unexpected", "paid"]);
});

test("an end whose row is held is written later, with the share and the transfer that are its own", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const chain = sharing();
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  const [shared] = await attempts(sql);
  const block = blockOf(10, shared?.txid ?? "", [1, 2, 3]);
  await sql.begin(async (tx) => {
    await tx`SELECT FROM book.outgoing WHERE id = 'out_1' FOR UPDATE`;
    await recordBlocks(sql, chain, [block], "solid");
  });
  assertEquals((await attempts(sql)).map(({ outcome }) => outcome), [null, "paid", "paid"]);
  await recordBlocks(sql, chain, [block], "solid");
  const [first] = await attempts(sql);
  assertEquals([first?.outcome, first?.fee], ["paid", "0.333333333333333334"]);
});

test("a sweep that was given up takes its whole transaction back: none of it is sent", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const node = nodeOf(sql, sharing());
  const { signer } = node;
  const { transactions } = await signQueued(
    sharing(),
    {
      ...node,
      signer: {
        sign: async (requests) => {
          const answers = await signer.sign(requests);
          if (requests.length > 0) {
            await sql`UPDATE book.outgoing SET status = 'void' WHERE id = 'out_2'`;
          }
          return answers;
        },
      },
    },
    9,
    "internal",
  );
  assertEquals(transactions, []);
  assertEquals(await attempts(sql), []);
  const rows = await sql<{ status: string }[]>`SELECT status FROM book.outgoing ORDER BY id`;
  assertEquals(rows.map(({ status }) => status), ["queued", "void", "queued"]);
});

test("where one of them would fail, each goes by itself, and that one waits", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const chain = sharing({
    estimateFee: (movements) =>
      movements.some(({ from }) => from === "address-2")
        ? Promise.reject(new ChainUnavailable("reverted", "REVERT"))
        : Promise.resolve({ fee: amount("1"), limit: amount("10") }),
  });
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  assertEquals((await attempts(sql)).map(({ id, intents }) => `${id} ${intents}`), [
    "out_1 1",
    "out_3 1",
  ]);
  const [row] = await sql<
    { reason: string }[]
  >`SELECT reason FROM book.outgoing WHERE id = 'out_2'`;
  assertEquals(row?.reason, "the transfer would fail");
});

for (
  const [what, reason, intents] of [
    ["did not succeed shares no transaction", "failed: REVERT", [2, 1, 2]],
    [
      "made way for what stood behind it shares one",
      "failed: its nonce was taken out of use",
      [3, 3, 3],
    ],
    ["would have failed shares no transaction", "withdrawn: the transfer would fail", [2, 1, 2]],
    ["waited for lower fees shares one", "withdrawn: waiting: fees are above the cap", [3, 3, 3]],
    ["waited for the signer shares one", "withdrawn: waiting for the signer", [3, 3, 3]],
    [
      "waited for a full lane shares one",
      "withdrawn: waiting for earlier transactions of its wallet",
      [3, 3, 3],
    ],
    ["was never looked at shares one", "withdrawn: never signed", [3, 3, 3]],
  ] as const
) {
  test(`a sweep after one that ${what}`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await sql`
      INSERT INTO book.outgoing
        (id, merchant_id, kind, network, currency, amount, wallet, fee_payer, destination, status, reason, created_at, updated_at)
      VALUES ('out_0', 'mer_platform', 'sweep', 'TRX', 'USDT', 5, '2', 'hot', 'hot-wallet', 'void', ${reason}, now(), now())`;
    await addSweeps(sql, 3);
    const chain = sharing();
    await signQueued(chain, nodeOf(sql, chain), 9, "internal");
    assertEquals((await attempts(sql)).map((one) => one.intents), [...intents]);
  });
}

test("sweeps whose transaction has expired are queued again, each to go alone", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 2);
  const chain = sharing();
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  const past = 4_000_000_000_000;
  const solid = await placeCursor(sql, "TRX", {
    height: 9,
    hash: "b9",
    time: past,
    previousTime: past - 1,
    tick: past,
    previousTick: past - 1,
  });
  const { requeued } = await expireAttempts(sql, "TRX", solid, 3);
  assertEquals([...requeued].sort(), ["out_1", "out_2"]);
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  assertEquals((await attempts(sql)).filter(({ outcome }) => outcome === null).length, 2);
  const living = (await attempts(sql)).filter(({ outcome }) => outcome === null);
  assertEquals(living.map(({ intents }) => intents), [1, 1]);
});

test("the schema stores a shared transaction whole, and only of sweeps that the hot wallet sends", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const row = (n: number, change: Readonly<Record<string, unknown>> = {}) => ({
    outgoingId: `out_${n}`,
    merchantId: "mer_platform",
    network: "TRX" as const,
    txid: "aa",
    bytes: "{}",
    expiresAt: 1_800_000_000_000,
    place: n - 1,
    intents: 2,
    ...change,
  });
  const refused = async (rows: Parameters<typeof commitSigned>[1], why: string) => {
    await assertRejects(() => commitSigned(sql, rows), Error, why);
    assertEquals(await attempts(sql), []);
  };
  await refused(
    [row(1, { intents: 1 }), row(2, { place: 0, intents: 1 })],
    "attempt_of_transaction",
  );
  await refused([row(1), row(2, { bytes: "[]" })], "Cannot store a part");
  await refused([row(1), row(2, { place: 2 })], "attempt_place");
  await sql`UPDATE book.outgoing SET status = 'void' WHERE id = 'out_3'`;
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, fee_payer, destination, status, created_at, updated_at)
    VALUES ('out_4', 'mer_platform', 'sweep', 'TRX', 'USDT', 5, '4', 'wallet', 'hot-wallet', 'queued', now(), now())`;
  await refused([row(1), row(4, { place: 1 })], "Cannot store a part");
  assertEquals([...await commitSigned(sql, [row(1), row(2)])].sort(), ["out_1", "out_2"]);
  const change = (text: string) => sql.unsafe(`UPDATE book.attempt SET ${text}`);
  for (const text of ["place = 1 - place", "intents = 3", "purpose = 'cancel'", "nonce = 7"]) {
    await assertRejects(() => change(text), Error, "Cannot change an attempt");
  }
});

/** The scan is past every tick of what was signed. */
async function passExpiry(sql: Sql) {
  const past = 4_000_000_000_000;
  return await placeCursor(sql, "TRX", {
    height: 9,
    hash: "b9",
    time: past,
    previousTime: past - 1,
    tick: past,
    previousTick: past - 1,
  });
}

test("a shared transaction expires for all of its sweeps or for none", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const chain = sharing();
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  const solid = await passExpiry(sql);
  await sql.begin(async (tx) => {
    await tx`SELECT FROM book.outgoing WHERE id = 'out_2' FOR UPDATE`;
    assertEquals((await expireAttempts(sql, "TRX", solid, 3)).requeued, []);
  });
  assertEquals((await attempts(sql)).map(({ outcome }) => outcome), [null, null, null]);
  const evidence = { height: 9, hash: "b9", previousTick: 4_000_000_000_000 };
  const partly = sql`
    UPDATE book.attempt SET outcome = 'expired', evidence = ${JSON.stringify(evidence)}::text::jsonb
    WHERE outgoing_id = 'out_2'`;
  await assertRejects(() => partly, Error, "Cannot expire a part of a transaction");
  assertEquals((await expireAttempts(sql, "TRX", solid, 3)).requeued.length, 3);
});

test("what sweeps move together decides whether a second node has to prove their transaction's death", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const chain = sharing();
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  const solid = await passExpiry(sql);
  const above = amount("14");
  const asked = await readExpiredAttempts(sql, "TRX", solid.previousTick, above, 9);
  assertEquals(asked.map(({ outgoingId }) => outgoingId), ["out_1"], "each transaction once");
  const second = { above, testimonies: new Map() };
  const unproven = await expireAttempts(sql, "TRX", solid, 3, { second, scannedFrom: null });
  assertEquals(unproven.requeued, []);
  const [txid] = asked.map((one) => one.txid);
  const testimony = {
    node: "n",
    height: 9,
    hash: "b9",
    previousTick: solid.previousTick,
    askedAt: 1,
  };
  const agreed = { above, testimonies: new Map([[txid ?? "", testimony]]) };
  const proven = await expireAttempts(sql, "TRX", solid, 3, { second: agreed, scannedFrom: null });
  assertEquals(proven.requeued.length, 3);
});

test("a shared transaction that was declared dead for one of its sweeps alone is listed when a block has it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  await watchAddresses(sql, [
    {
      address: "address-2",
      network: "TRX",
      merchantId: "mer_1",
      addressId: "adr_1",
      walletIndex: 2,
    },
  ]);
  const chain = sharing();
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  const [shared] = await attempts(sql);
  await sql.begin(async (tx) => {
    // as a version before this rule has left it
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`
      UPDATE book.attempt SET outcome = 'expired', evidence = '{"height":9,"hash":"b9","previousTick":4000000000000}'
      WHERE outgoing_id = 'out_2'`;
    await tx`UPDATE book.outgoing SET status = 'queued' WHERE id = 'out_2'`;
  });
  await placeCursor(sql, "TRX", {
    height: 9,
    hash: "b9",
    time: 1,
    previousTime: 0,
    tick: 1,
    previousTick: 0,
  });
  await recordBlocks(sql, chain, [blockOf(10, shared?.txid ?? "", [1, 2, 3])], "solid");
  const listed = await sql`SELECT wallet, status FROM hub.unknown_spend`;
  assertEquals([...listed], [{ wallet: "2", status: "listed" }]);
});

test("an address that no node answers for waits alone, and the others share their transaction", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const chain = sharing({
    balanceOf: (address) =>
      address === "address-2"
        ? Promise.reject(new ChainUnavailable("timeout", "Cannot read"))
        : Promise.resolve(amount("1000")),
  });
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  assertEquals((await attempts(sql)).map(({ id, intents }) => `${id} ${intents}`), [
    "out_1 2",
    "out_3 2",
  ]);
  assertEquals(await reasonOf(sql, "out_2"), "waiting for another try");
});

test("where one address keeps a shared transaction from having a price, each goes by itself", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const chain = sharing({
    estimateFee: (movements) =>
      movements.some(({ from }) => from === "address-2")
        ? Promise.reject(new ChainUnavailable("malformed", "Cannot read a price"))
        : Promise.resolve({ fee: amount("1"), limit: amount("10") }),
  });
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  assertEquals((await attempts(sql)).map(({ id, intents }) => `${id} ${intents}`), [
    "out_1 1",
    "out_3 1",
  ]);
  assertEquals(await reasonOf(sql, "out_2"), "waiting for its price");
});

test("sweeps whose transaction would cost more than the cap wait for lower fees, all of them", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 3);
  const chain = sharing({
    estimateFee: () => Promise.reject(new ChainUnavailable("above-cap", "Cannot pay so much")),
  });
  assertEquals((await signQueued(chain, nodeOf(sql, chain), 9, "internal")).transactions, []);
  for (const id of ["out_1", "out_2", "out_3"]) {
    assertEquals(await reasonOf(sql, id), "waiting: fees are above the cap");
  }
});

async function reasonOf(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<
    { reason: string | null }[]
  >`SELECT reason FROM book.outgoing WHERE id = ${id}`;
  return row?.reason ?? null;
}

/** A chain whose transactions carry eight sweeps and may carry so many by their cost; its questions are counted. */
function dearChain() {
  const dear = { most: 8, asked: [] as number[] };
  const plain = sharing();
  const chain = sharing({
    capabilities: { ...plain.capabilities, sweepsAtOnce: 8 },
    estimateFee: (movements) => {
      dear.asked.push(movements.length);
      if (movements.length <= dear.most) {
        return Promise.resolve({ fee: amount("1"), limit: amount("10") });
      }
      return Promise.reject(new ChainUnavailable("above-cap", "it would cost more than the cap"));
    },
  });
  return { dear, chain };
}

test("sweeps that are above the cap together share transactions that are below it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 8);
  const { dear: state, chain } = dearChain();
  state.most = 2;
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  const signed = await attempts(sql);
  assertEquals(signed.map(({ place, intents }) => `${place} of ${intents}`), [
    ...["0 of 2", "1 of 2", "0 of 2", "1 of 2"],
    ...["0 of 2", "1 of 2", "0 of 2", "1 of 2"],
  ]);
});

test("sweeps that are above the cap one by one wait after a few questions, and share a transaction again later", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSweeps(sql, 8);
  const { dear: state, chain } = dearChain();
  state.most = 0;
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  assertEquals(state.asked, [8, 4, 2, 1]);
  const rows = await sql`SELECT DISTINCT status, reason FROM book.outgoing`;
  assertEquals([...rows], [{ status: "queued", reason: "waiting: fees are above the cap" }]);
  state.most = 8;
  await sql`UPDATE book.outgoing SET lease_until = NULL`;
  await signQueued(chain, nodeOf(sql, chain), 9, "internal");
  assertEquals((await attempts(sql)).map(({ intents }) => intents), Array(8).fill(8));
});
