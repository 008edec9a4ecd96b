import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import { proveTransfer, readAwaitedProof } from "../../ledger/watcher/deposit_proofs.ts";
import { discardAwaitedProof } from "../../ledger/watcher/contested_transfers.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { addressOf, testsOfOneApi } from "../support/api.ts";
import { amount, booksFaults, until } from "../support/books.ts";

const shared = testsOfOneApi("unproven named");

shared(
  "a transfer that waits for its proof is its merchant's: no deposit by hand of another is confirmed with it",
  async (api) => {
    const { sql } = api;
    const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
    const [owner, other] = [await api.addMerchant(), await api.addMerchant()];
    const issued = { network: "TRX", identifier: "customer" };
    await api.call("POST", "/api/deposit-address", { key: owner.key, body: issued });
    const [row] = await sql<{ id: string; address: string }[]>`
    SELECT id, address FROM book.deposit_address WHERE merchant_id = ${owner.id}`;
    const txid = "ab".repeat(32);
    const transfer = {
      merchantId: owner.id,
      addressId: row?.id ?? "",
      txid,
      logIndex: 0,
      currency: "USDT",
      amount: amount("100"),
      from: addressOf(99),
      to: row?.address ?? "",
      height: 7,
      hash: "h",
      diesAfter: 0,
      expiresAt: 0,
    } as const;
    await setDepositProofRule(sql, "TRX", amount("50"));
    await recordTransfers(sql, "TRX", "solid", [transfer]);
    api.journal.wake(owner.id);
    const balance = async ({ key }: { readonly key: string }) =>
      (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key })).body;
    await until(async () => (await balance(owner)).pending !== "0");

    // the chain that this interface asks has never heard of the transaction
    const body = {
      amount: "100",
      currency: "USDT",
      network: "TRX",
      source: "chain",
      metadata: { txHash: txid },
    };
    const { id } = (await api.call("POST", "/api/deposits", { key: other.key, body })).body;
    const refused = await api.call("POST", `/api/admin/deposits/${id}/confirm`, { key: admin });
    assertEquals([refused.status, refused.body.error], [409, "Conflict"]);
    assertStringIncludes(refused.body.message, "another merchant");
    await assertRejects(
      () =>
        sql`UPDATE book.deposit SET status = 'CONFIRMED', cleared_at = now(), approved_by = 'key_admin' WHERE id = ${id}`,
      Error,
      "paid another merchant",
    );

    const evidence = { node: "second", height: 7, hash: "h", askedAt: Date.now() };
    await proveTransfer(sql, "TRX", transfer, evidence);
    api.journal.wake(owner.id);
    await until(async () => (await balance(owner)).available !== "0");
    const again = await api.call("POST", `/api/admin/deposits/${id}/confirm`, { key: admin });
    assertEquals([again.status, (await balance(other)).available], [409, "0"]);
    assertEquals(await booksFaults(sql), []);
  },
);

shared(
  "a transfer that was discarded stays its merchant's: a proof that comes after all credits it once",
  async (api) => {
    const { sql } = api;
    const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
    const [owner, other] = [await api.addMerchant(), await api.addMerchant()];
    const issued = { network: "TRX", identifier: "customer" };
    await api.call("POST", "/api/deposit-address", { key: owner.key, body: issued });
    const [row] = await sql<{ id: string; address: string }[]>`
    SELECT id, address FROM book.deposit_address WHERE merchant_id = ${owner.id}`;
    const txid = "cd".repeat(32);
    const found = {
      merchantId: owner.id,
      addressId: row?.id ?? "",
      txid,
      logIndex: 0,
      currency: "USDT",
      amount: amount("100"),
      from: addressOf(99),
      to: row?.address ?? "",
      height: 7,
      hash: "h",
      diesAfter: 0,
      expiresAt: 0,
    } as const;
    const waiting = async () => {
      const key = { merchantId: owner.id, network: "TRX", txid, logIndex: 0 } as const;
      const transfer = await readAwaitedProof(sql, key);
      if (transfer === null) throw new Error("Cannot go on as the transfer does not wait");
      return transfer;
    };
    const balance = async ({ key }: { readonly key: string }) =>
      (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key })).body;
    await setDepositProofRule(sql, "TRX", amount("50"));
    await recordTransfers(sql, "TRX", "solid", [found]);
    api.journal.wake(owner.id);
    await until(async () => (await balance(owner)).pending !== "0");
    const body = {
      amount: "100",
      currency: "USDT",
      network: "TRX",
      source: "chain",
      metadata: { txHash: txid },
    };
    const { id } = (await api.call("POST", "/api/deposits", { key: other.key, body })).body;

    await sql`UPDATE book.deposit_proof SET is_disputed = true, contested = true`;
    const evidence = { node: "second", height: 7, hash: "h", askedAt: Date.now() };
    const isDiscarded = await discardAwaitedProof(sql, "TRX", await waiting(), evidence, "none", {
      id: "aud_discard",
      merchantId: owner.id,
      actor: "key_admin",
      action: "inbox.discard",
      subject: txid,
      requestId: null,
      createdAt: Date.now(),
    });
    assertEquals(isDiscarded, true);
    api.journal.wake(owner.id);
    await until(async () => (await balance(owner)).pending === "0");
    const refused = await api.call("POST", `/api/admin/deposits/${id}/confirm`, { key: admin });
    assertEquals([refused.status, refused.body.error], [409, "Conflict"]);
    await assertRejects(
      () =>
        sql`UPDATE book.deposit SET status = 'CONFIRMED', cleared_at = now(), approved_by = 'key_admin' WHERE id = ${id}`,
      Error,
      "paid another merchant",
    );

    // it fell out with a fork and is in a later block
    await recordTransfers(sql, "TRX", "solid", [{ ...found, height: 8, hash: "i" }]);
    await proveTransfer(sql, "TRX", await waiting(), { ...evidence, height: 8, hash: "i" });
    api.journal.wake(owner.id);
    await until(async () => (await balance(owner)).available !== "0");
    assertEquals((await balance(other)).available, "0");
    assertEquals(await booksFaults(sql), []);
  },
);
