import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Block, BlockAnswer } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { addressOf, EMPTY_CHAIN, testApi } from "../support/api.ts";
import { addTransfer, amount, booksFaults, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a disputed transfer is discarded where the nodes bear it out, with an audit, and its deposit fails", async () => {
  const block: Block = {
    height: 7,
    parentHeight: 6,
    hash: "h",
    parentHash: "g",
    time: 0,
    tick: 0,
    transactions: [],
    transfers: [],
  };
  let own: BlockAnswer = { kind: "missing", height: 7 };
  let second: BlockAnswer = { kind: "block", block };
  const chain = {
    ...EMPTY_CHAIN,
    async *blocks(): AsyncGenerator<BlockAnswer> {
      yield own;
    },
  };
  const node = {
    name: "second.example",
    chain: {
      block: () => Promise.resolve(second),
      transaction: (txid: string) => Promise.resolve({ kind: "missing" as const, txid }),
    },
  };
  await using api = await testApi({
    chains: new Map<Network, typeof chain>([["TRX", chain]]),
    treasury: () => ({
      policy: {
        second: { above: amount("50"), nodes: [node] },
        low: { native: amount("0"), USDT: amount("0"), USDC: amount("0") },
        cold: null,
      },
      status: null,
    }),
  });
  const { sql } = api;
  const key = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const { id: merchantId, key: merchantKey } = await api.addMerchant();
  const { body: issued } = await api.call("POST", "/api/deposit-address", {
    key: merchantKey,
    body: { network: "TRX", identifier: "c" },
  });
  const [address] = await sql<{ id: string }[]>`SELECT id FROM book.deposit_address`;
  const txid = "a".repeat(64);
  await setDepositProofRule(sql, "TRX", amount("50"));
  await recordTransfers(sql, "TRX", "solid", [{
    merchantId,
    addressId: address?.id ?? "",
    txid,
    logIndex: 0,
    currency: "USDT",
    amount: amount("100"),
    from: addressOf(99),
    to: issued.address,
    height: 7,
    hash: "other",
    diesAfter: Date.now(),
    expiresAt: Date.now(),
  }]);
  api.journal.wake(merchantId);
  const status = async () => (await sql`SELECT status FROM book.deposit`)[0]?.status;
  await until(async () => await status() === "PENDING");

  const row = { merchantId, network: "TRX", txid, logIndex: 0, phase: "solid" };
  const discard = (more: object = {}) =>
    api.call("POST", "/api/admin/inbox/discard", {
      key,
      body: { ...row, reason: "no node shows it", ...more },
    });
  assertEquals((await discard({ logIndex: 1 })).status, 404);
  assertEquals((await discard({ phase: "seen" })).status, 400);
  const undisputed = await discard();
  assertEquals(undisputed.status, 409);
  assertStringIncludes(undisputed.body.message, "No second node disputes it");
  await sql`UPDATE book.deposit_proof SET is_disputed = true, contested = true`;
  assertEquals((await discard()).status, 503, "our own nodes do not have the block");
  own = { kind: "block", block };
  second = { kind: "block", block: { ...block, hash: "another" } };
  assertEquals((await discard()).status, 503, "the second one has another");
  second = { kind: "block", block };
  const sent = {
    txid,
    logIndex: 0,
    currency: "USDT",
    eventFrom: "x",
    eventTo: "y",
    amount: amount("1"),
    diesAfter: 0,
    expiresAt: 0,
  } as const;
  own = { kind: "block", block: { ...block, transfers: [sent] } };
  const shown = await discard();
  assertEquals(shown.status, 409);
  assertStringIncludes(shown.body.message, "rescan");
  assertEquals(await status(), "PENDING");

  own = { kind: "block", block };
  const done = await discard();
  assertEquals([done.status, done.body], [200, { success: true }]);
  await until(async () => await status() === "FAILED");
  assertEquals((await discard()).status, 404);
  const { body: { audit } } = await api.call("GET", "/api/admin/audit?limit=1", { key });
  const [{ action, subject, after }] = audit;
  assertEquals([action, subject], ["inbox.discard", `TRX/${txid}/0/solid`]);
  assertEquals([after.discarded, after.node], ["no node shows it", "second.example"]);
  const { body: balance } = await api.call("GET", "/api/balance?currency=USDT&network=TRX", {
    key: merchantKey,
  });
  assertEquals([balance.available, balance.pending], ["0", "0"]);
  assertEquals(await booksFaults(sql), []);
});

test("what was quarantined is listed, tried again or dealt with, and money is never waved away", async () => {
  await using api = await testApi();
  const { sql } = api;
  const { id: merchantId, key: own } = await api.addMerchant();
  const key = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const { body: issued } = await api.call("POST", "/api/deposit-address", {
    key: own,
    body: { network: "TRX", identifier: "c" },
  });
  const txid = "a".repeat(64);
  const [address] = await sql`SELECT id FROM book.deposit_address`;
  await addTransfer(sql, merchantId, "10", { txid, to: issued.address, addressId: address?.id });
  const solid = { merchantId, network: "TRX", txid, logIndex: 0, phase: "solid" };
  const quarantine = (phase: string, reason: string) =>
    sql`UPDATE book.inbox SET quarantine = ${reason} WHERE txid = ${txid} AND phase = ${phase}`;
  await quarantine("solid", "bug: broken");
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, quarantine, data)
    VALUES (${merchantId}, 'TRX', ${txid}, -1, 'outcome', 'unexpected: no transfer', '{"a":1}')`;
  const outcome = { ...solid, logIndex: -1, phase: "outcome" };
  const list = async (query = "") =>
    (await api.call("GET", `/api/admin/inbox${query}`, { key })).body;
  const act = (verb: string, body: unknown) =>
    api.call("POST", `/api/admin/inbox/${verb}`, { key, body });

  const all = await list();
  assertEquals(all.pagination.total, 2);
  const { rows: [row] } = await list("?kind=unexpected");
  const { createdAt: _, ...rest } = row;
  assertEquals(rest, { ...outcome, reason: "unexpected: no transfer", data: { a: 1 } });
  assertEquals((await list("?network=TRX_SHASTA")).rows, []);
  assertEquals((await list("?merchantId=mer_nobody")).rows, []);

  assertEquals((await act("retry", outcome)).status, 409);
  assertEquals((await act("acknowledge", { ...solid, reason: "x" })).status, 409);
  assertEquals((await act("acknowledge", { ...outcome, reason: " " })).status, 400);
  assertEquals((await act("retry", { ...solid, logIndex: 7 })).status, 404);
  assertEquals((await act("acknowledge", { ...outcome, reason: "paid by hand" })).status, 200);
  assertEquals((await act("acknowledge", { ...outcome, reason: "again" })).status, 404);
  const [kept] = await sql`SELECT quarantine FROM book.inbox WHERE phase = 'outcome'`;
  assertEquals(kept?.quarantine, "acknowledged: paid by hand; unexpected: no transfer");

  assertEquals((await act("retry", solid)).status, 200);
  await until(async () =>
    (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key: own })).body
      .available ===
      "9.5"
  );
  assertEquals((await list()).rows, []);
  const audit = (await api.call("GET", "/api/admin/audit?limit=2", { key })).body.audit;
  assertEquals(audit.map((line: { action: string }) => line.action), [
    "inbox.retry",
    "inbox.acknowledge",
  ]);
  assertEquals(audit[0].subject, `TRX/${txid}/0/solid`);
  assertEquals(await booksFaults(sql), []);
});
