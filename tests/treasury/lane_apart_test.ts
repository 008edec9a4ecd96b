import { assert, assertEquals } from "@std/assert";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { type LeftAlone, signQueued } from "../../actors/treasury/sign_queued.ts";
import { CurrencyHolds } from "../../actors/treasury/waits.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import {
  findOwnTransactions,
  type OutcomeFinding,
  recordOutcomes,
} from "../../ledger/watcher/record_outcomes.ts";
import { OVER_CAP } from "../../ledger/treasury/queue.ts";
import { countingSigner } from "../properties/support/counting_signer.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import {
  addNonce,
  addWallet,
  calmLane,
  lanesOn,
  numberedChain,
  numberedSigner,
} from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);
const NONE: LeftAlone = { holds: new CurrencyHolds(), held: [], silent: new Set() };
const PRICE = { fee: amount("1"), limit: amount("1"), terms: { price: 1 } };

/** A queued internal transfer: gas from the hot wallet, or a sweep that its address pays for. */
async function addInternal(sql: Sql, id: string, payer: string, currency = "USDT") {
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, destination, wallet, status, created_at, updated_at)
    VALUES (${id}, 'mer_platform', ${payer === "hot" ? "gas" : "sweep"}, 'ETH', ${
    payer === "hot" ? "native" : currency
  }, 1, ${`to-${id}`}, ${payer}, 'queued', now(), now())`;
}

async function addPayout(sql: Sql, id: string, merchantId: string, units = 1) {
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES (${id}, ${merchantId}, 'payout', ${`wd_${id}`}, 'ETH', 'USDT', ${units}, 'somewhere', 'queued', now(), now())`;
}

/** States of all transfers, by id. */
async function states(sql: Sql) {
  const rows = await sql<{ id: string; status: string; reason: string | null; waits: boolean }[]>`
    SELECT id, status, reason, lease_until > now() AS waits FROM book.outgoing ORDER BY id`;
  return Object.fromEntries(
    rows.map(({ id, status, reason, waits }) => [id, [status, reason, waits === true]]),
  );
}

/** Has the schema refuse one row, as a trigger does that meets it in a race. */
async function refuse(sql: Sql, table: string, on: string, condition: string): Promise<void> {
  await sql.unsafe(`
    CREATE FUNCTION book.refuse_in_test() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF ${condition} THEN RAISE EXCEPTION 'refused by a rule' USING ERRCODE = 'check_violation'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse_in_test BEFORE ${on} ON ${table} FOR EACH ROW EXECUTE FUNCTION book.refuse_in_test()`);
}

/** A node whose lanes were polled once. */
async function node(sql: Sql, lane = calmLane()) {
  const chain = numberedChain(lane, { estimateFee: () => Promise.resolve(PRICE) });
  const signer = numberedSigner();
  const { lanes, poll } = lanesOn(sql, chain, { signer });
  await poll();
  const deps = nodeOf(sql, chain, { signer });
  return {
    lanes,
    poll,
    sign: (of: "merchants" | "internal", limit = 25) =>
      signQueued(chain, deps, limit, of, NONE, lanes),
  };
}

test("internal transfers whose lane is full keep nothing else from being signed", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  for (let nonce = 0; nonce < 12; nonce++) await addNonce(sql, { payer: "hot", nonce, ageS: 1 });
  for (let n = 100; n < 160; n++) await addInternal(sql, `out_a${n}`, "hot");
  await addInternal(sql, "out_b", "7");
  const { lanes, sign } = await node(sql);
  assertEquals(lanes.room("hot"), 0);
  const { transactions, mayBeMore } = await sign("internal");
  assertEquals([transactions.map(({ outgoingId }) => outgoingId), mayBeMore], [["out_b"], false]);
});

test("what finds no room in its lane waits for a while with its reason, and a round of nothing is the last one", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  await addInternal(sql, "out_a", "7");
  await addInternal(sql, "out_b", "7", "USDC");
  const { sign } = await node(sql);
  const first = await sign("internal", 2);
  assertEquals(first.transactions.map(({ outgoingId }) => outgoingId), ["out_a"]);
  const waiting = "waiting for earlier transactions of its wallet";
  assertEquals(await states(sql), {
    out_a: ["signed", null, false],
    out_b: ["queued", waiting, true],
  });
  assertEquals(await sign("internal", 2), { transactions: [], mayBeMore: false });
});

test("a deposit address whose first nonce no node tells waits alone", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  await addInternal(sql, "out_a", "7");
  await addInternal(sql, "out_b", "8");
  const silent = new ChainUnavailable("timeout", "Cannot read a nonce as no node answers: eth");
  const lane = calmLane({
    next: (address) => address === "address-7" ? Promise.reject(silent) : Promise.resolve(3),
  });
  const { sign } = await node(sql, lane);
  const { transactions } = await sign("internal");
  assertEquals(transactions.map(({ outgoingId }) => outgoingId), ["out_b"]);
  assertEquals((await states(sql)).out_a, ["queued", "waiting for another try", true]);
});

test("a promise that the schema refuses takes no other along", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  for (const id of ["out_a", "out_b", "out_c"]) await addPayout(sql, id, merchantId);
  await refuse(sql, "book.lane_nonce", "INSERT", "'out_b' = ANY (NEW.intents)");
  const { sign } = await node(sql);
  const { transactions } = await sign("merchants");
  assertEquals(transactions.map(({ outgoingId }) => outgoingId), ["out_a", "out_c"]);
  const [status, reason, waits] = (await states(sql)).out_b ?? [];
  assertEquals([status, waits], ["queued", true]);
  assert(String(reason).startsWith("it cannot be committed: refused by a rule"));
});

test("a signature that the schema refuses takes no other along, nor the rest of the lane's turn", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const ids = [];
  for (let nonce = 0; nonce < 3; nonce++) {
    ids.push(await addNonce(sql, { payer: "hot", nonce, merchantId, isSigned: false }));
  }
  await refuse(sql, "book.attempt", "INSERT", `NEW.outgoing_id = '${ids[1]}'`);
  await node(sql);
  const found = Object.entries(await states(sql)).map(([id, [status]]) => [id, status]);
  assertEquals(found, [[ids[0], "signed"], [ids[1], "queued"], [ids[2], "signed"]]);
});

test("a nonce that cannot be priced at all is told once as a fault, filled by a cancel, and stops no other and no other lane", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const ids: string[] = [];
  for (let nonce = 0; nonce < 3; nonce++) {
    ids.push(await addNonce(sql, { payer: "hot", nonce, merchantId, isSigned: false }));
  }
  ids.push(await addNonce(sql, { payer: "7", nonce: 0, isSigned: false }));
  const fault = new RangeError("Cannot put 2 such movements into one transaction");
  const chain = numberedChain(calmLane(), {
    estimateFee: ([movement]) =>
      movement?.to === `to-${ids[0]}` ? Promise.reject(fault) : Promise.resolve(PRICE),
  });
  const { poll } = lanesOn(sql, chain, { signer: numberedSigner() });
  const purposes = async () => {
    const rows = await sql<{ id: string; purpose: string }[]>`
      SELECT outgoing_id AS id, purpose FROM book.attempt WHERE number = 1 ORDER BY outgoing_id`;
    return Object.fromEntries(rows.map(({ id, purpose }) => [id, purpose]));
  };
  const records: LogRecord[] = [];
  await configure({
    sinks: { kept: (record) => void records.push(record) },
    loggers: [
      { category: ["engine"], lowestLevel: "debug", sinks: ["kept"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["kept"] },
    ],
  });
  try {
    await poll();
    const [first, ...others] = ids;
    const paid = Object.fromEntries(others.map((id) => [id, "pay"]));
    assertEquals(await purposes(), paid);
    await poll();
    assertEquals(await purposes(), { ...paid, [String(first)]: "cancel" });
  } finally {
    await reset();
  }
  const told = records.filter(({ level }) => level === "error").map(({ properties }) => properties);
  assertEquals(told.map(({ event, payer, nonce, reason }) => [event, payer, nonce, reason]), [
    ["treasury.nonce_unpriced", "hot", 0, `RangeError: ${fault.message}`],
  ]);
  assertEquals(told[0]?.stack, fault.stack);
});

test("a nonce that cannot be priced and has nothing behind it is tried again, told once, and signed when it can be", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const id = await addNonce(sql, { payer: "7", nonce: 0, isSigned: false });
  let isMended = false;
  const fault = new RangeError("Cannot move a token as no contract is configured");
  const chain = numberedChain(calmLane(), {
    estimateFee: () => isMended ? Promise.resolve(PRICE) : Promise.reject(fault),
  });
  const { poll } = lanesOn(sql, chain, { signer: numberedSigner() });
  const errors: unknown[] = [];
  await configure({
    sinks: {
      kept: ({ level, properties }) => {
        if (level === "error") errors.push(properties.event);
      },
    },
    loggers: [
      { category: ["engine"], lowestLevel: "debug", sinks: ["kept"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["kept"] },
    ],
  });
  try {
    await poll();
    await poll();
    assertEquals((await states(sql))[id]?.[0], "queued");
    isMended = true;
    await poll();
  } finally {
    await reset();
  }
  assertEquals(errors, ["treasury.nonce_unpriced"]);
  assertEquals((await states(sql))[id]?.[0], "signed");
});

test("a nonce of sweeps that are above the cap together is taken out of use for what stands behind it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const swept = ["out_s1", "out_s2"];
  await sql.begin(async (tx) => {
    for (const [wallet, id] of swept.entries()) {
      await tx`
        INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, destination, wallet, fee_payer, status, created_at, updated_at)
        VALUES (${id}, 'mer_platform', 'sweep', 'ETH', 'USDT', 1, 'hot-wallet', ${
        String(wallet)
      }, 'hot', 'queued', now(), now())`;
    }
    await tx`INSERT INTO book.lane_nonce (network, payer, nonce, intents) VALUES ('ETH', 'hot', 0, ${swept})`;
    await tx`UPDATE book.outgoing SET nonce = 0 WHERE id = ANY (${swept}::text[])`;
  });
  await addNonce(sql, { payer: "hot", nonce: 1, merchantId, isSigned: false });
  const dear = new ChainUnavailable("above-cap", "it would cost more than the cap");
  const chain = numberedChain(calmLane(), {
    estimateFee: ({ length }) => length > 1 ? Promise.reject(dear) : Promise.resolve(PRICE),
  });
  const { poll } = lanesOn(sql, chain, { signer: numberedSigner() });
  await poll();
  await poll();
  const rows = await sql<{ nonce: number; purpose: string }[]>`
    SELECT DISTINCT nonce::int, purpose FROM book.attempt ORDER BY nonce`;
  assertEquals([...rows], [{ nonce: 0, purpose: "cancel" }, { nonce: 1, purpose: "pay" }]);
});

test("a used nonce whose end the schema refuses is read again, and all others end", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const ids = [];
  for (let nonce = 0; nonce < 3; nonce++) {
    ids.push(await addNonce(sql, { payer: "hot", nonce, merchantId }));
  }
  await refuse(sql, "book.lane_nonce", "UPDATE OF used_by", "NEW.nonce = 1");
  const own = await findOwnTransactions(sql, "ETH", ids.map((id) => `a${id}`));
  const findings = own.map((one): OutcomeFinding => ({
    own: one,
    result: "paid",
    reason: null,
    height: 9,
    hash: "h9",
    fee: amountOf("1"),
  }));
  await recordOutcomes(sql, "ETH", findings);
  const found = Object.entries(await states(sql)).map(([id, [status]]) => [id, status]);
  assertEquals(found, [[ids[0], "final"], [ids[1], "signed"], [ids[2], "final"]]);
  const late = await sql`SELECT outgoing_id FROM book.late_outcome`;
  assertEquals([...late], [{ outgoing_id: ids[1] }]);
});

test("a cancel leaves a payout's pause, tries and reason as they are, so that it stays with those that wait for a person", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const refused = await addNonce(sql, { payer: "hot", nonce: 0, merchantId, isSigned: false });
  await addNonce(sql, { payer: "hot", nonce: 1, merchantId, ageS: 1 });
  const reason = `signer: over-limit: Cannot sign ${refused} as it is above 1 per transaction`;
  await sql`
    UPDATE book.outgoing SET tries = 4, lease_until = now() + interval '10 minutes', reason = ${reason}
    WHERE id = ${refused}`;
  const { lanes, poll } = lanesOn(sql, numberedChain(calmLane()), { signer: numberedSigner() });
  lanes.refuse("hot", 0, reason);
  await poll();
  const [row] = await sql`
    SELECT o.tries, o.reason, o.lease_until > now() + interval '5 minutes' AS waits, o.attempts, a.purpose
    FROM book.outgoing o JOIN book.attempt a ON a.outgoing_id = o.id WHERE o.id = ${refused}`;
  assertEquals(row, { tries: 4, reason, waits: true, attempts: 1, purpose: "cancel" });
});

test("a payout above the signer's cap has no nonce promised to it, and stays with those that wait for a person", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  await addPayout(sql, "out_a", merchantId);
  await addPayout(sql, "out_b", merchantId, 11);
  await addPayout(sql, "out_c", merchantId);
  const signer = countingSigner(sql, "ETH", { "USDT/ETH": { perTransaction: amount("10") } });
  const chain = numberedChain(calmLane(), { estimateFee: () => Promise.resolve(PRICE) });
  const { lanes, poll } = lanesOn(sql, chain, { signer });
  await poll();
  const { transactions } = await signQueued(
    chain,
    nodeOf(sql, chain, { signer }),
    25,
    "merchants",
    NONE,
    lanes,
  );
  assertEquals(transactions.map(({ outgoingId }) => outgoingId), ["out_a", "out_c"]);
  const found =
    await sql`SELECT nonce, tries, reason LIKE ${OVER_CAP} AS is_over FROM book.outgoing WHERE id = 'out_b'`;
  assertEquals([...found], [{ nonce: null, tries: 1, is_over: true }]);
  const nonces = await sql<
    { nonce: number }[]
  >`SELECT nonce::int FROM book.lane_nonce ORDER BY nonce`;
  assertEquals(nonces.map(({ nonce }) => nonce), [0, 1]);
});
