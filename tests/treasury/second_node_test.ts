import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { Registry } from "prom-client";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import { registerDepositProofMetrics } from "../../app/health/deposits.ts";
import { treasuryReasons } from "../../app/health/treasury.ts";
import { addressOf } from "../support/api.ts";
import { amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWatched } from "../watcher/support/watch.ts";
import { CALM, openTreasuryRig, type PayoutState } from "./support/treasury_rig.ts";
import type { SecondNode } from "../../actors/watcher/second_node.ts";

const BROADCAST = "/wallet/broadcasttransaction";

/** A second node that does what the test tells it to, before the real one is asked. */
class Moody {
  mood: "away" | "behind" | "elsewhere" | "knowing" | "well" = "away";
  constructor(readonly real: Chain) {}

  readonly node: SecondNode = {
    name: "second.example",
    chain: {
      block: async (height, finality, signal) => {
        if (this.mood === "away") throw new ChainUnavailable("timeout", "Cannot ask as it is away");
        if (this.mood === "behind") return { kind: "missing", height };
        const answer = await this.real.block(height, finality, signal);
        if (this.mood !== "elsewhere" || answer.kind !== "block") return answer;
        return { ...answer, block: { ...answer.block, hash: "f".repeat(64) } };
      },
      transaction: async (txid, finality, signal) =>
        this.mood === "knowing"
          ? { kind: "incomplete", txid, reason: "it has no receipt yet" }
          : await this.real.transaction(txid, finality, signal),
    },
  };
}

const test = testNeeding(DATABASE);

test("a large payout that expired is built again only when a second node knows nothing of it either", async () => {
  const moody: Moody[] = [];
  await using rig = await openTreasuryRig({
    policy: ({ chainAt, chainUrl }) => {
      moody.push(new Moody(chainAt(chainUrl)));
      return { ...CALM, second: { above: amount("50"), nodes: moody.map(({ node }) => node) } };
    },
  });
  const [second] = moody;
  assert(second !== undefined);
  const { key } = await rig.merchant("1000");
  const is = (withdrawalId: string, test: (payout: PayoutState) => boolean) =>
    until(async () => test(await rig.payout(withdrawalId)));

  await rig.setFaults([{ path: BROADCAST, kind: "lost-broadcast" }]);
  const [large, small] = [
    await rig.withdraw(key, "100", addressOf(0xabc1)),
    await rig.withdraw(key, "50", addressOf(0xabc2)),
  ];
  for (const id of [large, small]) await is(id, ({ status }) => status === "signed");
  const first = await rig.sql<{ txid: string }[]>`SELECT txid FROM book.attempt`;
  // the block time passes the expiry, and solid blocks do as well
  await rig.mine(2, 40_000);
  await rig.mine(4);
  await is(small, ({ outcomes }) => outcomes[0] === "expired");
  await is(large, ({ reason }) => /does not answer/.test(reason ?? ""));
  assertEquals((await rig.payout(large)).outcomes, ["open"]);
  await until(() => rig.engine.treasuries.get("TRX")?.withoutExpiryProof === 1);
  assertMatch(treasuryReasons(rig.engine, "TRX", Date.now()).join(), /1 expired or failed payouts/);
  const moods = [
    ["behind", /is behind/],
    ["elsewhere", /has another block/],
    ["knowing", /knows the transaction/],
  ] as const;
  for (const [mood, reason] of moods) {
    second.mood = mood;
    await is(large, (payout) => reason.test(payout.reason ?? ""));
    assertEquals((await rig.payout(large)).status, "signed", mood);
  }
  const admin = await rig.api.addKey(null, { permissions: ["admin:read"] });
  const { body: treasury } = await rig.api.call("GET", "/api/admin/treasury", { key: admin });
  assertEquals(
    [treasury.networks[0].unproven, treasury.networks[0].secondNodes],
    [1, { above: "50", nodes: ["second.example"] }],
  );

  second.mood = "well";
  await is(large, ({ outcomes }) => outcomes[0] === "expired");
  const { evidence } = await rig.payout(large);
  const testimony = evidence?.second as Record<string, unknown>;
  assertEquals(testimony.node, "second.example");
  assert(typeof testimony.height === "number" && typeof testimony.hash === "string");
  assert(typeof testimony.previousTick === "number" && typeof evidence?.previousTime === "string");
  assertEquals((await rig.payout(small)).evidence?.second, undefined);

  await rig.setFaults([]);
  await rig.mineUntil("both are paid", async () => {
    const { body } = await rig.api.call("GET", "/api/withdrawals?status=CONFIRMED", { key });
    return body.pagination.total === 2;
  });
  assertEquals(rig.engine.treasuries.get("TRX")?.withoutExpiryProof, 0);
  const paid = await rig.sql<{ txid: string }[]>`
      SELECT txid FROM book.attempt WHERE outcome = 'paid'`;
  assertEquals(paid.length, 2);
  assertEquals(paid.filter(({ txid }) => first.some((dead) => dead.txid === txid)), []);
});

test("a node asks its second nodes about large deposits by itself, and tells what waits", async () => {
  const moody: Moody[] = [];
  await using rig = await openTreasuryRig({
    policy: ({ chainAt, chainUrl }) => {
      moody.push(new Moody(chainAt(chainUrl)));
      return { ...CALM, second: { above: amount("50"), nodes: moody.map(({ node }) => node) } };
    },
  });
  const [second] = moody;
  assert(second !== undefined);
  const address = addressOf(0xabc7);
  await addWatched(rig.sql, address, 7);
  await setDepositProofRule(rig.sql, "TRX", amount("50"));
  const registry = new Registry();
  registerDepositProofMetrics(registry, rig.engine, Date.now);
  const is = (status: string) =>
    until(async () =>
      (await rig.sql`SELECT FROM book.deposit WHERE status = ${status}`).length === 1
    );
  await rig.control("/dev/transfer", { to: address, amount: "60" });
  await rig.mine(4);
  await is("PENDING");
  await until(() => /does not answer/.test(rig.engine.depositsAwaitingProof("TRX")?.reason ?? ""));
  assertMatch(await registry.metrics(), /engine_deposits_unproven\{network="TRX"\} 1/);
  second.mood = "well";
  await is("CONFIRMED");
  await until(() => rig.engine.depositsAwaitingProof("TRX")?.waiting === 0);
  assertMatch(await registry.metrics(), /engine_deposits_unproven\{network="TRX"\} 0/);
});

test("a payout that expired is not dead while a block since its signature was not read", async () => {
  await using rig = await openTreasuryRig();
  const { key } = await rig.merchant("1000");
  await rig.mine(3);
  await rig.setFaults([{ path: BROADCAST, kind: "lost-broadcast" }]);
  const withdrawalId = await rig.withdraw(key, "10", addressOf(0xabc3));
  await until(async () => (await rig.payout(withdrawalId)).status === "signed");
  const [range] = await rig.sql<{ first: string }[]>`
    SELECT first_height AS first FROM hub.scanned_range`;
  await rig.mine(2);
  await rig.sql`
    INSERT INTO hub.scanned_range (network, first_height, last_height) VALUES ('TRX', 0, 0)`;
  await rig.sql`UPDATE hub.scanned_range SET first_height = last_height WHERE last_height > 0`;
  await rig.mine(2, 40_000);
  await rig.mine(4);
  await until(async () => /were not all read/.test((await rig.payout(withdrawalId)).reason ?? ""));
  assertEquals((await rig.payout(withdrawalId)).outcomes, ["open"]);
  // read again, as an operator's rescan does
  await rig.sql`
    UPDATE hub.scanned_range SET first_height = ${range?.first ?? ""} WHERE last_height > 0`;
  await until(async () => (await rig.payout(withdrawalId)).outcomes[0] === "expired");
  assertEquals((await rig.payout(withdrawalId)).evidence?.scannedFrom, Number(range?.first));
});

test("no attempt is dead without its proof, whoever writes it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 1, 'T', 'signed', now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
    VALUES ('out_1', 1, 'mer_1', 'TRX', 'ab', '{}', now(), extract(epoch FROM now()) * 1000, now(), 1)`;
  const [row] = await sql<{ tick: string }[]>`SELECT dies_after AS tick FROM book.attempt`;
  const notPast = `{"height":1,"hash":"x","previousTick":${row?.tick}}`;
  for (const evidence of [null, "{}", `{"height":1,"hash":"x"}`, notPast]) {
    await assertRejects(
      () => sql`UPDATE book.attempt SET outcome = 'expired', evidence = ${evidence}::text::jsonb`,
      Error,
      "attempt_dead_by_proof",
    );
  }
});
