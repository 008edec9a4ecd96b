import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { SignAnswer, Signer } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { amount } from "../support/books.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Queues payouts to these destinations, oldest first; answers their ids. */
async function queue(
  sql: Sql,
  destinations: readonly string[],
  currency = "USDT",
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const destination of destinations) {
    const id = newId("out");
    ids.push(id);
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      VALUES (${id}, 'mer_1', 'payout', ${`wd_${id}`}, 'TRX', ${currency}, 10, ${destination}, 'queued', now(), now())`;
  }
  return ids;
}

interface Row {
  readonly id: string;
  readonly destination: string;
  readonly status: string;
  readonly reason: string | null;
  readonly tries: number;
  /** Time for which it is left alone, in whole seconds. */
  readonly pause: number | null;
}

async function rowsOf(sql: Sql): Promise<readonly Row[]> {
  return await sql<Row[]>`
    SELECT id, destination, status, reason, tries,
      round(extract(epoch FROM lease_until - updated_at))::int AS pause
    FROM book.outgoing ORDER BY id`;
}

/** Destinations of the signed transfers. */
async function signedOf(sql: Sql): Promise<readonly string[]> {
  return (await rowsOf(sql)).filter(({ status }) => status === "signed")
    .map(({ destination }) => destination);
}

/** Lets every pause be over. */
async function pass(sql: Sql): Promise<void> {
  await sql`UPDATE book.outgoing SET lease_until = NULL WHERE status = 'queued'`;
}

/** A chain that cannot tell the price of some destinations. */
function chainWithout(bad: ReadonlySet<string>, error: () => unknown): Chain {
  return paperChain("TRX", {
    estimateFee: ([movement]) =>
      bad.has(movement?.to ?? "")
        ? Promise.reject(error())
        : Promise.resolve({ fee: amount("1"), limit: amount("2") }),
  });
}

const exception = () =>
  new ChainUnavailable("server-error", "Cannot simulate as it fails: OTHER_ERROR");

test("a payout that a node never answers for waits alone, ever longer, and the others go on", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await queue(sql, ["a", "b", "bad", "c", "d"]);
  const deps = nodeOf(sql, chainWithout(new Set(["bad"]), exception));
  const chain = chainWithout(new Set(["bad"]), exception);
  assertEquals((await signQueued(chain, deps)).transactions.length, 4);
  assertEquals(await signedOf(sql), ["a", "b", "c", "d"]);
  const pauses: (number | null | undefined)[] = [];
  for (let turn = 0; turn < 10; turn++) {
    // others that come meanwhile are signed in the same turn
    await queue(sql, [`later-${turn}`]);
    await pass(sql);
    await signQueued(chain, deps);
    pauses.push((await rowsOf(sql)).find(({ destination }) => destination === "bad")?.pause);
  }
  assertEquals(pauses, [6, 12, 24, 48, 96, 192, 384, 600, 600, 600]);
  assertEquals((await signedOf(sql)).length, 14);
});

test("several payouts that a node never answers for cost the others of their currency no turn", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const bad = Array.from({ length: 7 }, (_, n) => `bad-${n}`);
  await queue(sql, [...bad, "good"]);
  const chain = chainWithout(new Set(bad), exception);
  await signQueued(chain, nodeOf(sql, chain));
  assertEquals(await signedOf(sql), ["good"]);
});

test("fifty payouts that no node answers for keep none of their currency behind them waiting", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const bad = Array.from({ length: 50 }, (_, n) => `bad-${n}`);
  const good = Array.from({ length: 10 }, (_, n) => `good-${n}`);
  await queue(sql, [...bad, ...good, ...bad]);
  const chain = chainWithout(new Set(bad), exception);
  const deps = nodeOf(sql, chain);
  let turns = 0;
  for (; turns < 60 && (await signedOf(sql)).length < good.length; turns++) {
    await pass(sql);
    await signQueued(chain, deps).catch((error) => assert(error instanceof ChainUnavailable));
  }
  assertEquals(await signedOf(sql), good);
  assert(turns < 40, `${turns} turns`);
});

test("what was not tried as its currency was silent is left alone for a moment, and counts no try", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const bad = Array.from({ length: 6 }, (_, n) => `bad-${n}`);
  await queue(sql, bad);
  const chain = chainWithout(new Set(bad), exception);
  await assertRejects(() => signQueued(chain, nodeOf(sql, chain)), ChainUnavailable);
  const rows = await rowsOf(sql);
  assertEquals(rows.map(({ tries }) => tries), [1, 1, 1, 0, 0, 1]);
  assertEquals(rows.map(({ pause }) => pause), [3, 3, 3, 6, 6, 3]);
});

test("nodes that answer for none end the turn, and nobody waits long for it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await queue(sql, Array.from({ length: 20 }, (_, n) => `payee-${n}`));
  let asked = 0;
  const chain = paperChain("TRX", {
    estimateFee: () => {
      asked++;
      return Promise.reject(new ChainUnavailable("timeout", "Cannot read as it took too long"));
    },
  });
  const deps = nodeOf(sql, chain);
  await assertRejects(() => signQueued(chain, deps), ChainUnavailable);
  assert(asked <= 12, `${asked} of 20 were asked for`);
  for (let turn = 0; turn < 8; turn++) {
    await pass(sql);
    await assertRejects(() => signQueued(chain, deps), ChainUnavailable);
  }
  const longest = Math.max(...(await rowsOf(sql)).map(({ pause }) => pause ?? 0));
  assertEquals(longest, 30);
});

for (
  const [what, error] of [
    ["whose currency has no contract", new TypeError("Cannot use USDC as it has no contract")],
    ["whose address no longer parses", new RangeError("Cannot read an address: bad")],
    ["that has too many decimals", new RangeError("Cannot use an amount: 0.0000001")],
  ] as const
) {
  test(`a payout ${what} is quarantined with its reason, and the others go on`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await queue(sql, ["bad", "bad", "bad", "bad", "good"]);
    const chain = chainWithout(new Set(["bad"]), () => error);
    assertEquals((await signQueued(chain, nodeOf(sql, chain))).transactions.length, 1);
    const [first] = await rowsOf(sql);
    assertEquals(first?.reason, `it cannot be prepared: ${error.message}`);
    assertEquals(await signedOf(sql), ["good"]);
  });
}

test("a balance that cannot be told of one currency holds no other", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await queue(sql, ["bad"], "USDC");
  await queue(sql, ["good"]);
  const chain = paperChain("TRX", {
    balanceOf: (_address, asset) => {
      // as the adapter does where a currency has no contract
      if (asset === "USDC") throw new TypeError("Cannot use USDC as it has no contract");
      return Promise.resolve(amount("1000"));
    },
  });
  await signQueued(chain, nodeOf(sql, chain));
  assertEquals(await signedOf(sql), ["good"]);
});

/** A signer whose answers are changed on their way. */
function signerWith(change: (answers: readonly SignAnswer[]) => readonly SignAnswer[]): Signer {
  const inner = paperSigner();
  return { sign: async (requests) => change(await inner.sign(requests)) };
}

/** Replaces what was signed for the second transfer. */
function second(
  replaced: (first: SignAnswer | undefined) => Readonly<Record<string, unknown>>,
) {
  return (answers: readonly SignAnswer[]) =>
    answers.map((answer, index) =>
      index === 1 && "signed" in answer
        ? { ...answer, signed: { ...answer.signed, ...replaced(answers[0]) } }
        : answer
    );
}

for (
  const [what, change, reason] of [
    [
      "with the transaction of another payout",
      second((first) => first !== undefined && "signed" in first ? { ...first.signed } : {}),
      /another transfer of the batch has its transaction/,
    ],
    ["without bytes", second(() => ({ bytes: "" })), /no bytes/],
    ["without a time of expiry", second(() => ({ expiresAt: NaN })), /no time of expiry/],
    ["that no column can keep", second(() => ({ expiresAt: 1e15 })), /cannot be committed/],
    [
      "that is missing",
      (answers: readonly SignAnswer[]) => answers.filter((_, index) => index !== 1),
      /did not answer/,
    ],
    [
      "for something else",
      (answers: readonly SignAnswer[]) =>
        answers.map((answer, index) =>
          index === 1 ? { ...answer, outgoingIds: ["out_x"] } : answer
        ),
      /did not answer/,
    ],
  ] as const
) {
  test(`a signer's answer ${what} costs that payout alone its signature`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await queue(sql, ["a", "bad", "c"]);
    const chain = paperChain("TRX");
    const deps = nodeOf(sql, chain, { signer: signerWith(change) });
    assertEquals((await signQueued(chain, deps)).transactions.length, 2);
    assertEquals(await signedOf(sql), ["a", "c"]);
    const bad = (await rowsOf(sql)).find(({ destination }) => destination === "bad");
    assertMatch(bad?.reason ?? "", reason);
    const [attempts] = await sql`SELECT count(*)::int AS n FROM book.attempt`;
    assertEquals(attempts?.n, 2);
  });
}

test("what begins to wait and what goes on waiting is kept over a restart", async () => {
  await using database: TestDatabase = await testDatabase();
  const { sql } = database;
  await queue(sql, ["bad"]);
  const chain = chainWithout(new Set(["bad"]), () => new ChainUnavailable("reverted", "REVERT"));
  for (let start = 0; start < 4; start++) {
    // another process of another name each time
    await signQueued(chain, nodeOf(sql, chain, { node: `node-${start}`, leaseMs: 0 }));
    await pass(sql);
  }
  const [row] = await rowsOf(sql);
  assertEquals([row?.reason, row?.tries], ["the transfer would fail", 4]);
});
