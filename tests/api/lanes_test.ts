import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ApiDeps } from "../../api/http/context.ts";
import type { Block } from "../../chains/chain.ts";
import { addressOfEvent, eventAddress, evmAddress } from "../../chains/evm/address.ts";
import type { SentBy } from "../../chains/lane.ts";
import { commitAttempts } from "../../ledger/lanes/commit_attempts.ts";
import { recordForeignHands } from "../../ledger/lanes/foreign_hands.ts";
import { promiseNonces } from "../../ledger/lanes/promise_nonces.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { EMPTY_CHAIN, type TestApi, testApi } from "../support/api.ts";
import { addTransfer, amount, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { placeCursor } from "../support/scan_cursor.ts";
import { addWallet } from "../support/wallet_row.ts";

const test = testNeeding(DATABASE);
const HOT = addressOfEvent("aa".repeat(20));
const DESTINATION = addressOfEvent("bb".repeat(20));
const OTHER = "cc".repeat(20);
/** A transaction of the hot key that the service did not sign, its block and its sender. */
const STRANGE = `0x${"5a".repeat(32)}`;
const HEIGHT = 50;

type ApiChain = ApiDeps["chains"] extends ReadonlyMap<Network, infer Chain> ? Chain : never;

/** A chain that counts nonces, whose nodes show what the test says of one transaction. */
function laneChain(shows: { sent: SentBy | null }) {
  const block: Block = {
    height: HEIGHT,
    parentHeight: HEIGHT - 1,
    hash: "h50",
    parentHash: "h49",
    time: 1_800_000_000_000,
    tick: 1_800_000_000_000,
    transactions: [
      { txid: STRANGE, success: true, failure: null, fee: amount("0.001"), byHotWallet: true },
    ],
    transfers: [],
  };
  return {
    ...EMPTY_CHAIN,
    hotWallet: HOT,
    address: evmAddress,
    addressOf: addressOfEvent,
    eventAddress,
    transactionId: (text: string) => /^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null,
    async *blocks() {
      yield { kind: "block" as const, block };
    },
    capabilities: {
      ...EMPTY_CHAIN.capabilities,
      life: {
        kind: "nonce" as const,
        lane: {
          next: () => Promise.resolve(8),
          sent: () => Promise.resolve(shows.sent),
          asks: () => Promise.reject(new Error("Cannot ask as nothing is signed here")),
          mostUnseen: 12,
          bumpAfterMs: 1_000,
        },
      },
    },
  };
}

/** An interface with a merchant that has money on ETH, and a wallet whose lane begins at 7. */
async function openEth(t: { sent: SentBy | null } = { sent: null }) {
  const chains = new Map<Network, ApiChain>([["ETH", laneChain(t)], ["TRX", EMPTY_CHAIN]]);
  const api = await testApi({ chains });
  const { sql } = api;
  const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const opened = await api.call("PUT", "/api/admin/pairs", {
    key: admin,
    body: { currency: "USDT", network: "ETH", depositsEnabled: true, withdrawalsEnabled: true },
  });
  assertEquals(opened.status, 200);
  const { id, key } = await api.addMerchant();
  const txid = await addTransfer(sql, id, "100", { network: "ETH" });
  api.journal.wake(id);
  await until(async () =>
    (await sql`SELECT FROM book.inbox WHERE txid = ${txid} AND consumed_at IS NOT NULL`).length > 0
  );
  await addWallet(sql, "ETH", HOT);
  await sql`UPDATE hub.wallet SET first_nonce = 7 WHERE network = 'ETH'`;
  await sql`INSERT INTO book.signing_turn (network, node, until) VALUES ('ETH', 'test', now())`;
  const place = { height: HEIGHT, hash: "h50", time: 1_800_000_000_000, previousTime: 0 };
  await placeCursor(sql, "ETH", { ...place, tick: 1_800_000_000_000, previousTick: 0 });
  return {
    api,
    admin,
    key,
    merchantId: id,
    command: (verb: string, body: unknown, by = admin) =>
      api.call("POST", `/api/admin/treasury/${verb}`, { key: by, body }),
    failover: (verb: string, body: unknown) =>
      api.call("POST", `/api/admin/failover/${verb}`, { key: admin, body }),
    inFlight: async () => {
      const { body } = await api.call("GET", "/api/admin/treasury", { key: admin });
      const eth = body.networks.find((one: { network: string }) => one.network === "ETH");
      return [eth.queued, eth.inFlight];
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

/** A withdrawal of 10, as the merchant asks for it. */
async function withdraw(api: TestApi, key: string, referenceId: string) {
  const { status, body } = await api.call("POST", "/api/withdrawals", {
    key,
    body: {
      amount: "10",
      currency: "USDT",
      network: "ETH",
      destination: DESTINATION.toLowerCase(),
      referenceId,
    },
  });
  assertEquals(status, 201);
  const id: string = body.withdrawalId;
  const [row] = await api.sql<{ outgoing_id: string }[]>`
    SELECT outgoing_id FROM book.withdrawal WHERE id = ${id}`;
  return { id, outgoingId: row?.outgoing_id ?? "" };
}

/** Signs a transfer once more, with the next nonce at its first time. */
async function sign(
  { api: { sql }, merchantId }: Awaited<ReturnType<typeof openEth>>,
  outgoingId: string,
  nonce: number,
  txid: string,
) {
  const turn = async () => {
    const [row] = await sql<{ batches: string }[]>`
      SELECT batches FROM book.signing_turn WHERE network = 'ETH'`;
    return { network: "ETH" as const, batches: BigInt(row?.batches ?? 0) };
  };
  const wanted = [{ place: 0, outgoingId, merchantId, first: null }];
  await promiseNonces(sql, "ETH", wanted, await turn());
  const row = { outgoingId, merchantId, txid, bytes: "0x02", nonce, feeLimit: amount("0.01") };
  const done = await commitAttempts(sql, [{ ...row, purpose: "pay" }], await turn());
  assertEquals(done, new Set([txid]));
}

test("a transfer under way is shown with its nonce, all its transactions, and the block that has it", async () => {
  await using eth = await openEth();
  const { api, key } = eth;
  const first = await withdraw(api, key, "r1");
  const second = await withdraw(api, key, "r2");
  await sign(eth, first.outgoingId, 7, "0xa1");
  await sign(eth, first.outgoingId, 7, "0xa2");
  const [queued, inFlight] = await eth.inFlight();
  const shape = (row: Record<string, unknown>) => [
    row.paymentId,
    row.nonce,
    row.attempts,
    row.txid,
    row.txids,
    row.seenHeight,
    row.destination,
    row.expiresAt,
  ];
  assertEquals(inFlight.map(shape), [
    [first.id, 7, 2, "0xa2", ["0xa1", "0xa2"], null, DESTINATION, null],
  ]);
  assertEquals(queued.map(shape), [[second.id, null, 0, null, [], null, DESTINATION, null]]);
  await api.sql`UPDATE book.attempt SET seen_height = 51 WHERE txid = '0xa1'`;
  assertEquals((await eth.inFlight())[1][0].seenHeight, 51);
});

test("a signed transfer is taken out of use once, by an administrator, with a line in the audit", async () => {
  await using eth = await openEth();
  const { api, key } = eth;
  const { sql } = api;
  const first = await withdraw(api, key, "r1");
  const second = await withdraw(api, key, "r2");
  await sign(eth, first.outgoingId, 7, "0xa1");
  const cancel = (id: string, by?: string) => eth.command("cancel", { id, reason: "asked" }, by);

  assertEquals((await cancel(first.id, key)).status, 403);
  assertEquals((await cancel("wd_none")).status, 404);
  const queued = await cancel(second.id);
  assertEquals(queued.status, 409);
  assertStringIncludes(queued.body.message, "not signed");
  await sql`UPDATE book.attempt SET seen_height = 51 WHERE txid = '0xa1'`;
  const seen = await cancel(first.outgoingId);
  assertEquals(seen.status, 409);
  assertStringIncludes(seen.body.message, "shows it already");
  await sql`UPDATE book.attempt SET seen_height = NULL WHERE txid = '0xa1'`;
  const asked = await cancel(first.id);
  assertEquals([asked.status, asked.body], [200, { success: true }]);
  const again = await cancel(first.id);
  assertEquals(again.status, 409);
  assertStringIncludes(again.body.message, "asked for before");

  const [nonce] = await sql`SELECT cancel_by IS NOT NULL AS asked FROM book.lane_nonce`;
  assertEquals(nonce, { asked: true });
  const audit = await sql<{ subject: string; refused: string | null }[]>`
    SELECT subject, refused FROM hub.audit WHERE action = 'treasury.cancel' ORDER BY id`;
  assertEquals(audit.map(({ subject, refused }) => [subject, refused !== null]), [
    ["wd_none", true],
    [second.id, true],
    [first.outgoingId, true],
    [first.id, false],
    [first.id, true],
  ]);
});

test("a signed withdrawal whose bytes never expire is taken out of use before an unknown transfer is booked for its merchant", async () => {
  await using eth = await openEth();
  const { api, key, merchantId } = eth;
  const { sql } = api;
  const { id, outgoingId } = await withdraw(api, key, "r1");
  await sign(eth, outgoingId, 7, "0xa1");
  await sql`
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, fee, status)
    VALUES ('ETH', '0xother', 0, 52, now(), 'hot', ${HOT}, ${DESTINATION}, 'USDT', 10, 0, 'open')`;
  const signed = `${id} of ${merchantId} has the same terms and is signed, and its bytes never ` +
    "expire: take it out of use (admin treasury cancel), and book the transfer when it has FAILED";
  const match = await eth.failover("match", { txid: "0xother", withdrawalId: id });
  assertEquals([match.status, match.body.message], [409, signed]);
  const writeOff = await eth.failover("write-off", { txid: "0xother", reason: "why" });
  assertEquals(
    [writeOff.status, writeOff.body.message],
    [409, `${signed}; or repeat with anyway, and it is paid as well`],
  );
  assertEquals((await eth.command("cancel", { id, reason: "paid by hand" })).status, 200);
});

test("a transaction of another hand is adopted once nodes show it, and what had its nonce is queued again", async () => {
  const shows: { sent: SentBy | null } = { sent: null };
  await using eth = await openEth(shows);
  const { api, key } = eth;
  const { sql } = api;
  const first = await withdraw(api, key, "r1");
  await sign(eth, first.outgoingId, 7, "0xa1");
  const adopt = (txid: string, network = "ETH", by?: string, nonce = 7) =>
    eth.command("adopt", { network, txid, nonce, reason: "paid by hand" }, by);
  const look = () => eth.command("sender", { network: "ETH", txid: strange });

  const strange = STRANGE.toUpperCase().replace("0X", "0x");
  assertEquals((await adopt(strange)).status, 404, "it is on no list");
  const hand = { txid: STRANGE, height: HEIGHT, blockTime: Date.now(), fee: amount("0.001") };
  assertEquals(await recordForeignHands(sql, "ETH", HOT, [hand]), [STRANGE]);
  assertEquals((await adopt(strange, "ETH", key)).status, 403);
  assertEquals((await adopt(strange, "TRX")).status, 409, "its wallets number nothing");
  assertEquals((await adopt(strange, "BNB")).status, 503, "it is not configured");
  assertEquals((await adopt(strange)).status, 503, "no node shows it");
  assertEquals((await look()).status, 503);
  shows.sent = { eventFrom: OTHER, nonce: 7, bytes: "0x02" };
  assertEquals((await adopt(strange)).status, 503, "it is of another sender");
  assertEquals((await look()).body, {
    sender: addressOfEvent(OTHER),
    isHotWallet: false,
    nonce: 7,
    promisedTo: [],
  });
  shows.sent = { eventFrom: eventAddress(HOT), nonce: 9, bytes: "0x02" };
  const other = await adopt(strange);
  assertEquals(other.status, 409);
  assertStringIncludes(other.body.message, "Its number is 9");
  const later = await adopt(strange, "ETH", undefined, 9);
  assertEquals(later.status, 409);
  assertStringIncludes(later.body.message, "earlier transactions");
  assertEquals((await eth.inFlight())[1].length, 1);

  shows.sent = { eventFrom: eventAddress(HOT), nonce: 7, bytes: "0x02" };
  assertEquals((await look()).body, {
    sender: HOT,
    isHotWallet: true,
    nonce: 7,
    promisedTo: [first.outgoingId],
  });
  assertEquals((await eth.inFlight())[1].length, 1, "a look changes nothing");
  const adopted = await adopt(strange);
  assertEquals([adopted.status, adopted.body], [200, { success: true, nonce: 7 }]);
  assertEquals((await adopt(strange)).status, 404, "it is decided");
  const [queued, inFlight] = await eth.inFlight();
  assertEquals(inFlight, []);
  const [again] = queued;
  assertEquals([again.paymentId, again.nonce, again.txids], [first.id, null, []]);
  const audit = await sql<{ subject: string }[]>`
    SELECT subject FROM hub.audit WHERE action = 'treasury.adopt' AND refused IS NULL`;
  assertEquals(audit.map(({ subject }) => subject), [STRANGE]);
  assert(again.attempts >= 1);
});

test("a listed transaction that another has signed is taken off the list, with a line in the audit", async () => {
  const shows: { sent: SentBy | null } = { sent: null };
  await using eth = await openEth(shows);
  const { sql } = eth.api;
  const hand = { txid: STRANGE, height: HEIGHT, blockTime: Date.now(), fee: amount("0.001") };
  await recordForeignHands(sql, "ETH", HOT, [hand]);
  const notOurs = (by?: string, network = "ETH") =>
    eth.command("not-ours", { network, txid: STRANGE, reason: "a node lies" }, by);
  const { body } = await eth.api.call("GET", "/api/admin/failover", { key: eth.admin });
  assertEquals(
    body.unknownSpends.map((one: { txid: string; status: string }) => [one.txid, one.status]),
    [[STRANGE, "unproven"]],
  );
  assertEquals((await notOurs(eth.key)).status, 403);
  assertEquals((await notOurs(undefined, "BNB")).status, 503, "it is not configured");
  assertEquals((await notOurs()).status, 503, "no node shows its bytes, and its block has it");
  shows.sent = { eventFrom: eventAddress(HOT), nonce: 7, bytes: "0x02" };
  const ours = await notOurs();
  assertEquals(ours.status, 409);
  assertStringIncludes(ours.body.message, "adopt it");
  shows.sent = { eventFrom: OTHER, nonce: 7, bytes: "0x02" };
  const done = await notOurs();
  assertEquals([done.status, done.body], [200, { success: true, sender: addressOfEvent(OTHER) }]);
  const audit = await sql<{ subject: string; refused: string | null }[]>`
    SELECT subject, refused FROM hub.audit WHERE action = 'treasury.not_ours' ORDER BY id`;
  assertEquals(audit.map(({ refused }) => refused !== null), [true, true, false]);
  const [row] = await sql`SELECT status, reason FROM hub.unknown_spend`;
  assertEquals(row, { status: "not_ours", reason: "a node lies" });
});
