/**
 * Large deposits: one node's word is not enough for them, and what they wait for holds nothing else up.
 *
 * @module
 */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { claimTransaction } from "../../actors/watcher/claim_transaction.ts";
import { DepositProver, judgeProof } from "../../actors/watcher/deposit_prover.ts";
import { type BlockAnswer, type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { retryQuarantined } from "../../ledger/quarantine.ts";
import { readHealth } from "../../ledger/database/read_health.ts";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import { depositProofReasons } from "../../app/health/deposits.ts";
import { newWallet, withChain } from "../dev_chain/support/chain.ts";
import { amount, booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { adapterOver, addWatched, watch } from "./support/watch.ts";
import type { SecondNode } from "../../actors/watcher/second_node.ts";

const test = testNeeding({ ...DATABASE, write: true });
const NAME = "second.example";

/** A second node that does what the test tells it to, before the real one is asked. */
class Moody {
  mood: "away" | "behind" | "late" | "elsewhere" | "without" | "well" = "away";
  asked = 0;
  constructor(readonly real: Pick<Chain, "block" | "transaction">) {}

  readonly node: SecondNode = {
    name: NAME,
    chain: {
      block: async (height, finality, signal) => {
        this.asked++;
        if (this.mood === "away") throw new ChainUnavailable("timeout", "Cannot ask as it is away");
        if (this.mood === "behind") return { kind: "missing", height };
        if (this.mood === "late") return { kind: "incomplete", height, reason: "no receipts yet" };
        const answer = await this.real.block(height, finality, signal);
        if (answer.kind !== "block" || this.mood === "well") return answer;
        const changed = this.mood === "elsewhere" ? { hash: "f".repeat(64) } : { transfers: [] };
        return { ...answer, block: { ...answer.block, ...changed } };
      },
      transaction: (txid, finality, signal) => this.real.transaction(txid, finality, signal),
    },
  };
}

test("a deposit above the bound is pending until a second node has its block and the very transfer; all else goes on", () =>
  withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    const address = newWallet().base58;
    const merchantId = await addWatched(sql, address);
    const adapter = adapterOver([chain.url], chain.usdt);
    const watcher = watch(sql, () => adapter);
    const { journal } = watcher;
    const moody = new Moody(adapter);
    const open = () =>
      new DepositProver({
        sql,
        chain: adapter,
        nodes: [moody.node],
        now: Date.now,
        wake: (id) => journal.wake(id),
      });
    let prover = open();
    const look = async () => {
      await sql`UPDATE book.deposit_proof SET next_ask_at = now()`;
      await prover.poll();
    };
    const balance = async () => {
      const [row] = await sql<{ line: string }[]>`
        SELECT trim_scale(available) || ' / ' || trim_scale(pending) AS line FROM book.balance
        WHERE merchant_id = ${merchantId}`;
      return row?.line;
    };
    const pay = async (value: string) =>
      (await chain.post("/dev/transfer", { to: address, amount: value })).txid;
    const reasons = (now = Date.now()) =>
      depositProofReasons({ depositsAwaitingProof: () => prover.figures }, "TRX", now).join();

    await chain.mine(5);
    await watcher.look();
    await setDepositProofRule(sql, "TRX", amount("50"));
    const large = await pay("50.000001");
    const exact = await pay("50");
    await pay("5");
    // met by the solid scan first, as after a time away
    await chain.mine(6);
    await watcher.lookOn();
    await until(async () => await balance() === "55 / 50.000001");
    const { readSolid, chainSolid } = watcher.status();
    assertEquals(readSolid, chainSolid, "the cursor does not wait");
    assertEquals((await readHealth(sql, 30)).quarantinedRows, 0);
    const swept = () => sql`SELECT txid FROM book.sweep_item WHERE txid = ${large}`;
    assertEquals((await swept()).length, 0);

    const moods = [
      ["away", /must prove: second\.example does not answer/],
      ["behind", /must prove: second\.example is behind/],
      ["late", /must prove: .* without all of its receipts/],
      ["elsewhere", /disputes: second\.example has another block/],
      ["without", /disputes: .* without this transfer/],
    ] as const;
    for (const [mood, told] of moods) {
      moody.mood = mood;
      await look();
      assertMatch(reasons(Date.now() + 61_000), told, mood);
      assertEquals(reasons() === "", mood !== "elsewhere" && mood !== "without", mood);
      assertEquals(await balance(), "55 / 50.000001", mood);
    }
    const asked = moody.asked;
    await prover.poll();
    assertEquals(moody.asked, asked, "it is asked again only after a while");
    // the next block is read and credited meanwhile, and a claim changes nothing
    await pay("1");
    await chain.mine(6);
    await watcher.lookOn();
    await until(async () => await balance() === "56 / 50.000001");
    const claim = { sql, chain: adapter, network: "TRX", stopped: null, wake: () => {} } as const;
    assertEquals((await claimTransaction(claim, merchantId, large, 5_000)).status, "recorded");
    const key = { merchantId, network: "TRX", txid: large, logIndex: 0, phase: "solid" } as const;
    const audit = { actor: "op", action: "inbox.retry", subject: large, merchantId } as never;
    assertEquals(await retryQuarantined(sql, key, audit), "not_so");
    for (const change of [sql`quarantine = NULL`, sql`consumed_at = now()`]) {
      await assertRejects(
        () => sql`UPDATE book.inbox SET ${change} WHERE txid = ${large} AND phase = 'solid'`,
        Error,
        "no second node has proven it",
      );
    }

    // another process goes on where this one died
    watcher.restart();
    prover = open();
    moody.mood = "well";
    await look();
    await until(async () => await balance() === "106.000001 / 0");
    assertEquals([reasons(Date.now() + 61_000), prover.figures.waiting], ["", 0]);
    const [proof] = await sql`SELECT evidence, hash FROM book.deposit_proof WHERE txid = ${large}`;
    assertEquals([proof?.evidence.node, proof?.evidence.hash], [NAME, proof?.hash]);
    assertEquals((await swept()).length, 1);
    const [others] = await sql`
      SELECT count(*)::int AS n FROM book.deposit_proof WHERE txid = ${exact}`;
    assertEquals(others?.n, 0, "the bound itself is not above it");

    // a bound that was taken away holds nothing any more
    moody.mood = "away";
    await pay("70");
    await chain.mine(6);
    await watcher.lookOn();
    await look();
    await until(async () => await balance() === "106.000001 / 70");
    await setDepositProofRule(sql, "TRX", null);
    await look();
    assertEquals(await balance(), "106.000001 / 70", "another node still has the bound");
    await sql`UPDATE hub.deposit_proof_rule SET kept_at = now() - interval '61 s'`;
    await setDepositProofRule(sql, "TRX", null);
    await look();
    await until(async () => await balance() === "176.000001 / 0");
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  }));

Deno.test("a second node proves a transfer only by the same block with the very transfer in its receipts", () => {
  const sent = {
    txid: "a",
    logIndex: 1,
    currency: "USDT",
    eventFrom: "from",
    eventTo: "to",
    amount: amount("9"),
    diesAfter: 0,
    expiresAt: 0,
  } as const;
  const place = {
    height: 7,
    parentHeight: 6,
    hash: "h",
    parentHash: "g",
    time: 0,
    tick: 0,
    transactions: [],
  };
  const block = (changed: Partial<typeof place>, ...transfers: (typeof sent)[]): BlockAnswer => ({
    kind: "block",
    block: { ...place, ...changed, transfers },
  });
  const has = (changed: Readonly<Record<string, unknown>>) =>
    block({}, { ...sent, ...changed } as typeof sent);
  const cases: readonly [BlockAnswer | null, string][] = [
    [has({}), "proven"],
    [null, "waits"],
    [{ kind: "missing", height: 7 }, "waits"],
    [{ kind: "incomplete", height: 7, reason: "late" }, "waits"],
    [block({ hash: "other" }, sent), "disputed"],
    [block({ height: 8 }, sent), "disputed"],
    [block({}), "disputed"],
    [has({ txid: "b" }), "disputed"],
    [has({ logIndex: 0 }), "disputed"],
    [has({ currency: "USDC" }), "disputed"],
    [has({ amount: amount("8.999999") }), "disputed"],
    [has({ eventFrom: "else" }), "disputed"],
    [has({ eventTo: "else" }), "disputed"],
  ];
  const { txid, logIndex, currency, amount: value } = sent;
  const transfer = { txid, logIndex, currency, amount: value, from: "FROM", to: "TO", height: 7 };
  for (const [answer, kind] of cases) {
    const verdict = judgeProof(NAME, answer, transfer, "h", (text) => text.toUpperCase());
    assertEquals(
      verdict.kind,
      kind,
      JSON.stringify(answer, (_, v) => typeof v === "bigint" ? `${v}` : v),
    );
  }
});
