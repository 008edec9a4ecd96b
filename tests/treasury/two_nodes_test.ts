import { assertEquals, assertRejects } from "@std/assert";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { pullQueued } from "../../ledger/treasury/pull_queued.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addQueued } from "./support/add_queued.ts";
import { nodeOf } from "../support/node_of.ts";

const test = testNeeding(DATABASE);

/** A wallet with 5 USDT and coin enough. */
const scarce = () =>
  paperChain("TRX", {
    balanceOf: (_, asset) => Promise.resolve(amount(asset === "USDT" ? "5" : "1000")),
  });

/** Counts of transfers by state and reason. */
async function states(sql: Sql): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<{ state: string; count: number }[]>`
    SELECT concat_ws(': ', status, reason) AS state, count(*)::int AS count
    FROM book.outgoing GROUP BY 1 ORDER BY 1`;
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

/** Makes transfers that wait for money due again at once. */
async function lookAgain(sql: Sql): Promise<void> {
  await sql`UPDATE book.outgoing SET lease_until = NULL WHERE status = 'queued'`;
}

/** A signer that answers when it is let. */
function heldSigner() {
  const [asked, let_] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const real = paperSigner();
  const signer: Signer = {
    async sign(requests) {
      if (requests.length === 0) return [];
      asked.resolve();
      await let_.promise;
      return await real.sign(requests);
    },
  };
  return { signer, asked: asked.promise, answer: let_.resolve };
}

test("two nodes that sign at once reserve what the wallet holds once, and the rest waits in sight", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueued(sql, 10);
  const chain = scarce();
  // turns that have run out when they begin: both nodes work all the time, each in the other's way
  const nodes = ["one", "two"].map((node) => nodeOf(sql, chain, { node, leaseMs: 0 }));
  for (let round = 0; round < 6; round++) {
    await Promise.all(nodes.map((deps) => signQueued(chain, deps, 3)));
    await lookAgain(sql);
  }
  await signQueued(chain, nodeOf(sql, chain));
  assertEquals(await states(sql), { "queued: waiting for USDT": 5, "signed": 5 });
});

test("what was read before another node signed is never committed, however late it comes", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueued(sql, 10);
  const chain = scarce();
  const held = heldSigner();
  const slow = signQueued(chain, nodeOf(sql, chain, { node: "slow", signer: held.signer }), 3);
  await held.asked;
  // its turn runs out while it works
  const next = nodeOf(sql, chain, { node: "next" });
  assertEquals((await signQueued(chain, next)).transactions, []);
  await sql`UPDATE book.signing_turn SET until = now()`;
  assertEquals((await signQueued(chain, next)).transactions.length, 5);
  held.answer();
  assertEquals((await slow).transactions, []);
  assertEquals(await states(sql), { "queued: waiting for USDT": 5, "signed": 5 });
  // the wallet's turn is still the other node's
  const [turn] = await sql<{ node: string; held: boolean; batches: string }[]>`
    SELECT node, until > now() AS held, batches FROM book.signing_turn`;
  assertEquals({ ...turn }, { node: "next", held: true, batches: "1" });
});

test("a node that dies while it signs stops others for its turn, and itself not at all", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueued(sql, 3);
  const chain = scarce();
  const dying = {
    network: "TRX",
    node: "dying",
    turnMs: 60_000,
    limit: 10,
    of: "merchants",
  } as const;
  const die = () => pullQueued(sql, dying);
  assertEquals((await die())?.rows.length, 3);
  const other = nodeOf(sql, chain, { node: "other" });
  assertEquals((await signQueued(chain, other, 1)).transactions, []);
  // started again under its name it goes on at once
  const again = nodeOf(sql, chain, { node: "dying" });
  assertEquals((await signQueued(chain, again, 1)).transactions.length, 1);
  // it dies for good: the turn runs out, and its transfers are free
  await die();
  assertEquals((await signQueued(chain, other, 1)).transactions, []);
  await sql`UPDATE book.signing_turn SET until = now()`;
  assertEquals((await signQueued(chain, other)).transactions.length, 2);
});

test("a node that cannot sign gives its turn up at once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueued(sql, 3);
  const chain = scarce();
  const broken = nodeOf(sql, chain, {
    node: "broken",
    signer: { sign: () => Promise.reject(new Error("no hands")) },
  });
  await assertRejects(() => signQueued(chain, broken), Error, "no hands");
  const other = nodeOf(sql, chain, { node: "other" });
  assertEquals((await signQueued(chain, other)).transactions.length, 3);
});

test("a turn only moves on, and is never forgotten", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`INSERT INTO book.signing_turn (network, node, until, batches) VALUES ('TRX', 'a', now(), 7)`;
  for (
    const change of [
      () => sql`UPDATE book.signing_turn SET batches = 6`,
      () => sql`UPDATE book.signing_turn SET batches = 9`,
      () => sql`DELETE FROM book.signing_turn`,
    ]
  ) await assertRejects(change, Error, "written once");
});
